"""The README's pictures hold what the commands print, and ask nothing of other hosts."""

from __future__ import annotations

import html
import importlib.util
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from haltwise.simulated import IGNORES, simulate_search

ROOT = Path(__file__).resolve().parent.parent.parent
ASSETS = ROOT / "docs" / "assets"
PUBLISHED = "judged_useless/qwen3-8b_unaided_test300.jsonl"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """The script behind ``make pictures``."""
    spec = importlib.util.spec_from_file_location("readme", ROOT / "scripts/readme_pictures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def drawn(svg: str) -> list[str]:
    """Return the words of a drawn terminal, without its title."""
    lines = svg[svg.index('class="audit-matrix"') :]
    texts = re.findall(r"<text[^>]*>(.*?)</text>", lines, flags=re.DOTALL)
    return html.unescape(" ".join(texts)).replace("\xa0", " ").split()


def printed(script: ModuleType, path: Path) -> list[str]:
    """Return the words that the command prints, without colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(script.printed(path))).split()


def test_a_terminal_is_drawn_word_by_word(script: ModuleType, tmp_path: Path) -> None:
    """What the command prints of any file is what the picture shows, with no font from a CDN."""
    path = tmp_path / "simulated.jsonl"
    simulate_search(IGNORES, 40).write_judged_useless(path)
    svg = script.terminal(path)
    assert drawn(svg) == printed(script, path)
    assert "@font-face" not in svg
    assert "url(http" not in svg


def test_the_readme_shows_the_published_episodes(
    script: ModuleType, shared_data: Callable[[str], Path]
) -> None:
    """The files in docs/assets are those that the script draws now; else type: make pictures."""
    path = shared_data(PUBLISHED)
    shown = drawn((ASSETS / "readme-audit.svg").read_text("utf-8"))
    assert shown == printed(script, path)
    for name, dark in (("light", False), ("dark", True)):
        picture = (ASSETS / f"readme-answers-{name}.svg").read_bytes()
        assert picture == script.chart(path, dark=dark)


def test_the_words_beside_the_picture_are_in_it() -> None:
    """The text that stands for the picture where it is not seen says the same numbers."""
    readme = (ROOT / "README.md").read_text("utf-8")
    (words,) = re.findall(r"!\[(.*?)\]\(docs/assets/readme-audit\.svg\)", readme)
    shown = " ".join(drawn((ASSETS / "readme-audit.svg").read_text("utf-8")))
    for fact in ("1 of 292 episodes", "569 of 1,500 episodes", "18 %", "2 of 625"):
        assert fact in words
        assert fact in shown
