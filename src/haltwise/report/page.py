"""One report as one HTML file: works from disk, asks no network, and lets none be asked.

Knows how sections become markup. Ignorant of what they say. Everything that comes from traces goes
through Jinja's escaping, or as JSON in which no markup can stand; a Content-Security-Policy lets
only the page's own scripts run, told apart by their hashes, and forbids every request.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import platformdirs

from ..core.errors import InputError
from .extra import needed
from .figure import Figure, Table
from .files import write_atomically
from .theme import DARK, LIGHT, config


@dataclass(frozen=True)
class Fragment:
    """A part of a page with a template of its own."""

    template: str
    """Name of the template in ``assets``."""
    context: Mapping[str, Any]
    """What it is filled with; text is escaped."""
    data: Mapping[str, Any] | None = None
    """What its script reads, as JSON."""
    name: str = ""
    """Under which the script finds the data."""
    script: str = ""
    """Name of its script in ``assets``."""
    figure: Figure | None = None
    """The chart that the template places; None where it has none."""


@dataclass(frozen=True)
class Section:
    """A part of the page with a heading."""

    name: str
    """Anchor: small letters and hyphens."""
    title: str
    """Heading; also what the list of contents says."""
    lead: str
    """What the section is about, in a sentence or two; may be empty."""
    blocks: Sequence[Figure | Table | Fragment]
    """What it shows, in order."""


@dataclass(frozen=True)
class Setting:
    """What to do: the rule to use."""

    policy: str
    """The rule as an expression."""
    effect: str
    """What it would have changed here, in a sentence with numbers."""
    commands: Sequence[tuple[str, str]] = ()
    """How to put it in force: what for, and the line to type."""
    caution: str = ""
    """What to bear in mind."""


@dataclass(frozen=True)
class Finding:
    """Something that is wrong, in words."""

    title: str
    """The finding as a headline."""
    evidence: str
    """The numbers behind it."""


@dataclass(frozen=True)
class Page:
    """A report, ready to be laid out."""

    title: str
    """Title of the document."""
    kind: str
    """What kind of report it is, in two or three words."""
    headline: str
    """The most important thing, in one sentence with its number."""
    about: str
    """What was looked at: episodes, questions, models."""
    sections: Sequence[Section]
    """The body."""
    facts: Sequence[tuple[str, str, str]] = ()
    """Key numbers: (what, value, interval or remark)."""
    setting: Setting | None = None
    """The rule to use; None where the data do not single one out."""
    findings: Sequence[Finding] = ()
    """What is wrong."""
    notes: Sequence[str] = ()
    """What a reader must know before trusting the numbers."""
    colophon: Sequence[tuple[str, str]] = field(default=())
    """How the report came about: (what, value)."""

    @property
    def figures(self) -> list[Figure]:
        """Every figure, in order."""
        blocks = [block for section in self.sections for block in section.blocks]
        found = [block.figure if isinstance(block, Fragment) else block for block in blocks]
        return [block for block in found if isinstance(block, Figure)]


def render(page: Page, *, live: str | None = None) -> str:
    """Return the page as HTML.

    Args:
        page: what to show.
        live: where a served page hears of changes, an address of the same origin; None for a file,
            which asks nobody.

    Raises:
        InputError: the extra ``report`` is not installed.
    """
    needed("altair")
    fragments = [b for s in page.sections for b in s.blocks if isinstance(b, Fragment)]
    data = {fragment.name: fragment.data for fragment in fragments if fragment.name}
    charts = {f.name: f.drawn("container") for f in page.figures if f.spec is not None}
    themes = {"light": config(LIGHT), "dark": config(DARK)}
    drawn = bool(charts)
    scripts = [runtime()] if drawn else []
    names = ["report.js", *dict.fromkeys(f.script for f in fragments if f.script)]
    scripts += [asset(name) for name in names]
    html: str = (
        _environment()
        .get_template("report.html.j2")
        .render(
            page=page,
            css=asset("report.css"),
            scripts=scripts,
            policy=content_policy(scripts, live=live is not None),
            charts=as_json(charts),
            themes=as_json(themes),
            data=as_json(data),
            live=live,
            kind_of=lambda block: type(block).__name__.lower(),
        )
    )
    return html


def content_policy(scripts: Sequence[str], *, live: bool) -> str:
    """Return the Content-Security-Policy under which only ``scripts`` run and nothing is asked."""
    hashes = " ".join(f"'sha256-{_hash(script)}'" for script in scripts)
    connect = "'self'" if live else "'none'"
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; "
        f"connect-src {connect}; base-uri 'none'; form-action 'none'"
    )


def as_json(value: Any) -> str:
    """Return JSON that can stand inside a script element: no markup, and no NaN, in it.

    Raises:
        ValueError: a number is not finite.
    """
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def runtime() -> str:
    """Return the scripts that draw Vega-Lite charts, as vl-convert-python bundles them."""
    vlc = needed("vl_convert")
    known = _cached(str(vlc.__version__))
    if known is not None and known.is_file():
        return known.read_text("utf-8")
    bundle: str = vlc.javascript_bundle()  # takes two seconds: a compiler is started for it
    if "</script" in bundle.lower():  # would end the element that holds it
        bundle = bundle.replace("</script", "<\\/script")
    if known is not None:
        with suppress(OSError, InputError):  # no cache, no harm
            known.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(known, bundle.encode("utf-8"))
    return bundle


def _cached(version: str) -> Path | None:
    """Return where the scripts of a version are kept between runs; None without a home."""
    try:
        return platformdirs.user_cache_path("haltwise", appauthor=False) / f"charts-{version}.js"
    except RuntimeError:
        return None


@cache
def asset(name: str) -> str:
    """Return a file of this folder's ``assets``."""
    return resources.files(__package__).joinpath("assets", name).read_text("utf-8")


@cache
def _environment() -> Any:
    jinja2 = needed("jinja2")
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(asset),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["sentence"] = sentence
    return environment


def sentence(text: str) -> str:
    """Return a note as a sentence: a capital at the beginning, a full stop at the end."""
    text = text.strip()
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '?', '!')) else '.'}"


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
