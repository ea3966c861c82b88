"""Reports in a real browser: drawn, quiet, usable by everyone, and right when a slider moves."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from haltwise.cli.main import run

pytestmark = [
    pytest.mark.browser,
    # playwright's own event loop and pipes are closed when the session ends, not before
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

OTHERS = ("repair", "simulate", "calibrate-repair", "calibrate-search", "replay")


def check_accessible(page: Any) -> None:
    """Run axe-core on the page; every violation is named."""
    playwright = pytest.importorskip("axe_playwright_python.sync_playwright")
    found = playwright.Axe().run(page)
    broken = [
        f"{item['id']}: {item['help']} ({item['nodes'][0]['html'][:120]})"
        for item in found.response["violations"]
    ]
    assert broken == []


def check_drawn(page: Any) -> None:
    """Every chart holds a drawing, and has its numbers as a table or in one."""
    charts = page.locator("[data-chart]")
    assert charts.count() > 0
    for place in range(charts.count()):
        assert charts.nth(place).locator("svg").count() == 1
        assert charts.nth(place).get_attribute("aria-label")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_the_published_report(
    published: tuple[str, list[str]], open_page: Callable[..., Any], scheme: str, width: int
) -> None:
    """Says what is wrong and what to use, at every width and in both schemes; axe has no word."""
    opened = open_page(published[0], scheme=scheme, width=width)
    page = opened.page
    assert "291 of 292 episodes end without an answer" in page.inner_text("h1")
    assert page.inner_text(".setting .rule") == "streak(4) | deadline(8)"
    check_drawn(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    opened.shot(f"published-{scheme}-{width}")
    page.locator(".episode summary").first.click()
    assert "stops here" in page.inner_text(".episode[open]")
    for summary in page.locator("figure details summary").all():
        summary.click()
    check_accessible(page)


def test_the_first_screen_says_it_all(
    published: tuple[str, list[str]], open_page: Callable[..., Any]
) -> None:
    """What is wrong and which setting to use stand on the first screen of a laptop."""
    page = open_page(published[0]).page
    for selector in ("h1", ".setting .rule", ".setting > p:nth-of-type(2)"):
        box = page.locator(selector).bounding_box()
        assert box["y"] + box["height"] < 800


def test_sliders_show_what_replay_says(
    published: tuple[str, list[str]],
    open_page: Callable[..., Any],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Moved with the keyboard, the sliders change every number to what replay --json gives."""
    url, source = published
    page = open_page(url).page
    for k, deadline, price in ((5, 8, 0.05), (2, 8, 0.1), (3, 6, 0.0), (0, 8, 0.2), (7, 0, 0.01)):
        move(page, "whatif-k", k)
        move(page, "whatif-deadline", deadline)
        move(page, "whatif-price", price)
        policy = page.inner_text("#whatif-policy")
        line = ["replay", *source, "--policy", policy, "--price", str(price), "--json"]
        assert run(line) == 0
        (said,) = json.loads(capsys.readouterr().out)["policies"]
        assert page.inner_text("#whatif-success") == shown(said["success"], 4)
        assert page.inner_text("#whatif-calls") == shown(said["steps"], 2)
        assert page.inner_text("#whatif-utility") == shown(said["utility"], 4)


def move(page: Any, slider: str, value: float) -> None:
    """Move a slider with the arrow keys until its text says ``value``; 0 is "no such rule"."""
    wanted = "no such rule" if value == 0 and slider != "whatif-price" else f"{value:g}"
    if slider == "whatif-price":
        wanted = f"{value:.2f}"
    control = page.locator(f"#{slider}")
    control.focus()
    page.keyboard.press("Home")
    for _ in range(30):
        if page.inner_text(f"#{slider}-value") == wanted:
            assert control.get_attribute("aria-valuetext") == wanted
            return
        page.keyboard.press("ArrowRight")
    raise AssertionError(f"{slider} never says {wanted}")


def shown(estimate: dict[str, float], digits: int) -> str:
    """Return an estimate of a JSON document as the page writes it."""
    value, low, high = (f"{estimate[name]:.{digits}f}" for name in ("value", "low", "high"))
    return f"{value} [{low}, {high}]"


def test_a_chosen_rule_is_ringed_in_the_chart(
    published: tuple[str, list[str]], open_page: Callable[..., Any]
) -> None:
    """The ring in the chart of every rule moves with the slider."""
    page = open_page(published[0]).page
    ring = "[data-chart=every-rule] svg path[stroke-width='3']"
    before = page.locator(ring).get_attribute("transform")
    move(page, "whatif-k", 2)
    assert page.locator(ring).get_attribute("transform") != before


def test_episodes_of_one_kind(
    published: tuple[str, list[str]], open_page: Callable[..., Any]
) -> None:
    """The filter leaves the episodes of one kind, and says how many."""
    page = open_page(published[0]).page
    every = page.locator(".episode:visible").count()
    page.select_option("#episode-kind", "spent")
    left = page.locator(".episode:visible").count()
    assert 0 < left < every
    assert page.inner_text("#episode-count") == f"{left} episodes"


def test_the_scheme_may_change_while_the_page_is_open(
    published: tuple[str, list[str]], open_page: Callable[..., Any]
) -> None:
    """Charts are drawn again in the colours of the new scheme, and light for printing."""
    page = open_page(published[0]).page
    color = "document.querySelector('[data-chart=success] svg text').getAttribute('fill')"
    light = page.evaluate(color)
    page.emulate_media(color_scheme="dark")
    page.wait_for_selector("html[data-drawn=dark]")
    assert page.evaluate(color) != light


def test_the_page_prints(
    published: tuple[str, list[str]], open_page: Callable[..., Any], tmp_path: Path
) -> None:
    """On paper there is no menu and no control, and the report is a document of several pages."""
    page = open_page(published[0]).page
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible()
    assert page.pdf(path=tmp_path / "report.pdf").startswith(b"%PDF")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", OTHERS)
def test_the_other_reports(
    others: dict[str, str], open_page: Callable[..., Any], name: str, scheme: str
) -> None:
    """Every other kind of report is drawn, quiet and accessible, on a narrow screen as well."""
    opened = open_page(others[name], scheme=scheme)
    check_drawn(opened.page)
    opened.shot(f"{name}-{scheme}-1280")
    check_accessible(opened.page)
    if scheme == "light":
        narrow = open_page(others[name], width=400)
        assert narrow.page.evaluate("document.documentElement.scrollWidth") <= 400
        narrow.shot(f"{name}-{scheme}-400")


def test_markup_in_traces_does_nothing(tmp_path: Path, open_page: Callable[..., Any]) -> None:
    """A trace full of scripts gives a page that shows them; nothing runs, nothing is asked."""
    from haltwise.core.events import Verdict
    from haltwise.record.episode import Outcome, SearchEpisode, SearchStep
    from haltwise.record.jsonl import write_episodes

    evil = "</script><script>window.hit = 1</script><img src=https://example.com/x onerror=hit()>"
    steps = [
        SearchStep(
            t=t,
            action=evil,
            arguments=evil,
            result=evil,
            thought=evil,
            verdicts={"recorded": Verdict.USELESS},
        )
        for t in range(1, 8)
    ]
    episode = SearchEpisode(
        episode_id="e",
        cluster_id="q",
        question_id="q",
        question=evil,
        regime=evil,
        model=evil,
        outcome=Outcome(success=False, answer=evil),
        budget=8,
        steps=steps,
    )
    path, out = tmp_path / "traces.jsonl", tmp_path / "r.html"
    write_episodes(path, [episode])
    assert run(["report", str(path), "--replicates", "20", "-o", str(out)]) == 0
    page = open_page(out.as_uri()).page
    page.locator(".episode summary").first.click()
    assert "window.hit" in page.inner_text(".episode")
    assert page.evaluate("window.hit") is None


@pytest.fixture
def viewed(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder that is viewed: (folder, address)."""
    from haltwise.cli.pages import Request, page_of
    from haltwise.report.view import Viewer, serve

    address: list[str] = []
    started = threading.Event()
    ends: list[Callable[[], None]] = []

    def serving() -> None:
        async def main() -> None:
            stop = asyncio.Event()
            loop = asyncio.get_running_loop()
            ends.append(lambda: loop.call_soon_threadsafe(stop.set))
            viewer = Viewer(
                tmp_path, lambda path: page_of(Request((str(path),), replicates=50)).page, poll=0.1
            )

            def ready(url: str) -> None:
                address.append(url)
                started.set()

            await serve(viewer, 0, stop, ready)

        asyncio.run(main())

    thread = threading.Thread(target=serving)
    thread.start()
    assert started.wait(20)
    yield tmp_path, address[0]
    ends[0]()
    thread.join(20)


def test_a_viewed_report_follows_its_file(
    viewed: tuple[Path, str], open_page: Callable[..., Any]
) -> None:
    """From the list of runs to a report that loads anew once more episodes are there.

    What the reader has set stays set.
    """
    from haltwise.simulated.search import IGNORES, simulate_search

    folder, url = viewed
    file = folder / "run.jsonl"
    simulate_search(IGNORES, 20, seed=1).write_judged_useless(file)
    opened = open_page(f"{url}/", own=url)
    page = opened.page
    check_accessible(page)
    opened.shot("view-list")
    page.get_by_role("link", name="run.jsonl").click()
    page.wait_for_selector("html[data-drawn]", timeout=60_000)
    before = page.inner_text(".about")
    page.fill("#whatif-k", "2")
    chosen = page.inner_text("#whatif-policy")
    page.select_option("#episode-kind", index=1)
    simulate_search(IGNORES, 40, seed=1).write_judged_useless(file)
    page.wait_for_function(
        "old => document.querySelector('.about') && "
        "document.querySelector('.about').innerText !== old",
        arg=before,
        timeout=60_000,
    )
    page.wait_for_selector("html[data-drawn]", timeout=60_000)
    assert "40 questions" in page.inner_text(".about")
    assert page.input_value("#whatif-k") == "2"
    assert page.inner_text("#whatif-policy") == chosen
    assert page.input_value("#episode-kind") != ""
