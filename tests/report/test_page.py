"""A page is one file that lets nothing out and nothing in."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from haltwise.report import Figure, Page, Section, Table, render
from haltwise.report.page import Finding, as_json, content_policy

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"


def page(text: str = "fine") -> Page:
    """Return a page that says ``text`` wherever text goes."""
    figure = Figure(
        name="one",
        title=text,
        text=text,
        spec={
            "data": {"values": [{"x": text}]},
            "mark": "point",
            "encoding": {"x": {"field": "x", "type": "nominal"}},
        },
        table=Table.of((text,), [(text,)]),
        note=text,
    )
    return Page(
        title=text,
        kind=text,
        headline=text,
        about=text,
        sections=[Section("part", text, text, [figure])],
        findings=[Finding(text, text)],
        notes=[text],
        colophon=[(text, text)],
    )


def test_text_from_traces_is_never_markup() -> None:
    """Markup in any text is shown, not obeyed: the page has its own scripts and no other."""
    plain, hostile = render(page()), render(page(HOSTILE))
    assert "<img" not in hostile.replace("&lt;img", "")[: hostile.index('id="charts"')]
    assert len(re.findall(r"<script\b", hostile)) == len(re.findall(r"<script\b", plain))
    assert len(re.findall(r"</script", hostile)) == len(re.findall(r"</script", plain))


def test_json_in_a_page_says_what_it_said() -> None:
    """JSON inside a script element holds no markup and reads back as it was."""
    text = as_json({"text": HOSTILE})
    assert "<" not in text
    assert json.loads(text) == {"text": HOSTILE}


def test_numbers_in_json_are_finite() -> None:
    """NaN is no JSON: an undefined number has to be said, not passed on."""
    with pytest.raises(ValueError, match="JSON"):
        as_json({"value": float("nan")})


def test_only_the_scripts_of_the_page_may_run() -> None:
    """The policy names the page's scripts by hash and forbids every request."""
    policy = content_policy(["let a;"], live=False)
    # echo -n 'let a;' | openssl dgst -sha256 -binary | base64
    assert "script-src 'sha256-81WALLbUROF1pWdYjuQYKuIcGgY/+TqVJr8UsV6Tkvo='" in policy
    assert "default-src 'none'" in policy
    assert "connect-src 'none'" in policy
    assert "unsafe-eval" not in policy
    assert "connect-src 'self'" in content_policy(["let a;"], live=True)


def test_the_page_names_no_address() -> None:
    """Outside the bundled runtime, no attribute of the page points anywhere but into itself."""
    html = render(page())
    own = html[: html.index('id="charts"')]
    assert re.findall(r"""(?:src|href)=["'](?!#)""", own) == []


def test_every_chart_has_its_table_and_is_named() -> None:
    """A chart is an image with a name, and the numbers follow as a table with headings."""
    html = render(page("A title"))
    assert 'role="img" aria-label="Chart: A title. A title A table follows."' in html
    assert '<th scope="col">A title</th>' in html
    assert '<th scope="row">A title</th>' in html


def test_the_chart_scripts_are_kept_between_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bundled once, read from the cache folder after that; none of it ends a script element."""
    import platformdirs

    from haltwise.report.page import runtime

    monkeypatch.setattr(platformdirs, "user_cache_path", lambda *_, **__: tmp_path)
    bundle = runtime.__wrapped__()
    (kept,) = tmp_path.iterdir()
    assert kept.read_text("utf-8") == bundle
    assert "</script" not in bundle.lower()
    kept.write_text("kept")
    assert runtime.__wrapped__() == "kept"
