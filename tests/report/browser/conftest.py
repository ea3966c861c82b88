"""A browser for the tests of this folder, and pages to open in it. Run with ``make test-browser``.

Every page is watched: a message on the console, an error, or a request to anywhere but the page's
own address fails the test. Screenshots are kept under ``build/screenshots`` for people to look at.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from haltwise.cli.main import run

ROOT = Path(__file__).resolve().parent.parent.parent.parent
SCREENSHOTS = ROOT / "build" / "screenshots"
CHROMIUM = os.environ.get("HALTWISE_CHROMIUM", "/usr/bin/chromium")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Debian's chromium."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="type: make test-browser")
    if shutil.which(CHROMIUM) is None:
        pytest.skip(f"{CHROMIUM} is absent; type: make test-browser")
    with sync_api.sync_playwright() as playwright:
        # In a container, and as root, there is no sandbox that chromium could set up.
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@dataclass
class Watched:
    """An open page with everything that it should not have done."""

    page: Any
    trouble: list[str]

    def shot(self, name: str) -> None:
        """Keep a picture of the whole page."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)


Open = Callable[..., Watched]


@pytest.fixture
def open_page(browser: Any) -> Iterator[Open]:
    """Return a function that opens a page at a width and in a colour scheme, and watches it."""
    contexts = []
    watched: list[Watched] = []

    def opened(url: str, *, width: int = 1280, scheme: str = "light", own: str = "") -> Watched:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        )
        contexts.append(context)
        page = context.new_page()
        found = Watched(page, [])
        watched.append(found)
        page.on("console", lambda message: found.trouble.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: found.trouble.append(f"error: {error}"))

        def asked(request: Any) -> None:
            if request.url != url and not (own and request.url.startswith(own)):
                found.trouble.append(f"request: {request.url}")

        page.on("request", asked)
        page.goto(url)
        page.wait_for_selector("html[data-drawn]", timeout=60_000)
        return found

    yield opened
    for context in contexts:
        context.close()
    assert [line for one in watched for line in one.trouble] == []


@pytest.fixture(scope="session")
def published(
    shared_data: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, list[str]]:
    """Return the address of the report on the published episodes, and what it was made from."""
    traces = shared_data("judged_useless/qwen3-8b_unaided_test300.jsonl")
    table = shared_data("judged_useless/answer_now_qwen3-8b_test300.jsonl")
    out = tmp_path_factory.mktemp("report") / "report.html"
    source = [str(traces), "--answer-now", str(table), "--replicates", "500"]
    assert run(["report", *source, "-o", str(out)]) == 0
    return out.as_uri(), source


@pytest.fixture(scope="session")
def others(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the addresses of the other kinds of reports, by kind; all on simulated loops."""
    from haltwise.core.noise import NoiseModel
    from haltwise.record.jsonl import write_episodes
    from haltwise.simulated.repair import simulate_repair
    from haltwise.simulated.search import IGNORES, simulate_search

    folder = tmp_path_factory.mktemp("others")
    noise = NoiseModel(rho0=0.35, rho1=0.15, alpha=0.12, beta=0.55, valid=0.7, icc=0.2)
    loops, traces = folder / "loops.jsonl", folder / "traces.jsonl"
    write_episodes(loops, simulate_repair(noise, 120, seed=1).episodes())
    write_episodes(traces, simulate_search(IGNORES, 60, seed=1).episodes())
    few = ["--replicates", "100"]
    rates = ["--rho0", ".35", "--rho1", ".15", "--alpha", ".12", "--beta", ".55", "--valid", ".7"]
    rules = ["--policy", "never", "--policy", "streak(5) | deadline(8)"]
    lines = {
        "repair": ["report", str(loops), *few, "-o"],
        "simulate": ["simulate", *rates, "--rounds", "3", "--map", "--html"],
        "calibrate-repair": ["calibrate", "repair", str(loops), "--html"],
        "calibrate-search": [
            *["calibrate", "search", str(traces), "-o", str(folder / "p.toml"), *few, "--html"]
        ],
        "replay": ["replay", str(traces), *rules, *few, "--html"],
    }
    pages = {}
    for name, line in lines.items():
        out = folder / f"{name}.html"
        assert run([*line, str(out)]) == 0
        pages[name] = out.as_uri()
    return pages
