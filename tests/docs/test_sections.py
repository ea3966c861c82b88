"""Every rule, signal and reader has its section under the same headings, and pictures are real."""

from __future__ import annotations

import dataclasses
import importlib.util
import inspect
import re
from pathlib import Path

import pytest

from haltwise import signals
from haltwise.core.noise import NoiseModel
from haltwise.core.policies import RULES
from haltwise.record.policy_file import load_policy
from haltwise.record.readers.base import readers
from haltwise.replay.exact import evaluate

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"
JUDGES = {
    name: thing
    for name, thing in vars(signals).items()
    if inspect.isclass(thing) and hasattr(thing, "judge") and name != "Signal"
}
"""The signals, by class name."""


def section(page: str, word: str) -> str:
    """Return the one section of a page whose heading begins with `word`."""
    parts = re.split(r"^## ", (DOCS / page).read_text("utf-8"), flags=re.MULTILINE)
    found = [text for text in parts if re.match(rf"`{word}[`(]", text)]
    assert len(found) == 1, f"docs/{page} has {len(found)} sections on {word}"
    return found[0]


def headings(text: str) -> list[str]:
    """Return the bold words that paragraphs begin with."""
    return re.findall(r"^\*\*(.+?)\.\*\*", text, flags=re.MULTILINE)


@pytest.mark.parametrize("word", RULES)
def test_every_rule_has_its_section(word: str) -> None:
    """What, when, parameters, use, failure, source; and every parameter named."""
    page = "repair-policies.md" if RULES[word].kind == "repair" else "policies.md"
    text = section(page, word)
    assert headings(text) == [
        "What it does",
        "When it stops",
        "Parameters",
        "When to use",
        "Known failure",
        "Source",
    ]
    for field in dataclasses.fields(RULES[word]):
        assert f"`{field.name}`" in text, field.name


@pytest.mark.parametrize("name", JUDGES)
def test_every_signal_has_its_section(name: str) -> None:
    """The same headings, and every argument named."""
    text = section("signals.md", name)
    assert headings(text) == [
        "What it does",
        "When it says useless",
        "Parameters",
        "When to use",
        "Known failure",
        "Source",
    ]
    for argument in inspect.signature(JUDGES[name]).parameters:
        assert f"`{argument}`" in text, argument


def test_every_reader_has_its_section() -> None:
    """What it reads, what becomes of it, what is not in it, where it comes from; no other name."""
    names = list(readers())
    for name in names:
        assert headings(section("readers.md", name)) == [
            "What it reads",
            "What becomes of it",
            "What is not in it",
            "Where it comes from",
        ]
    found = re.findall(r"^## `([\w-]+)`", (DOCS / "readers.md").read_text("utf-8"), re.MULTILINE)
    assert sorted(found) == sorted(names)
    assert set(names) <= set(re.findall(r"`([\w-]+)`", (DOCS / "formats.md").read_text("utf-8")))


def test_every_adapter_has_its_page() -> None:
    """An adapter is a file of `haltwise.adapters`; `rule` is what they share."""
    modules = {path.stem for path in (ROOT / "src/haltwise/adapters").glob("[!_]*.py")} - {"rule"}
    pages = {path.stem.replace("-", "_") for path in (DOCS / "adapters").glob("*.md")}
    assert pages == modules


def test_the_pictures_are_what_the_script_draws() -> None:
    """docs/assets holds what ``make pictures`` writes, and no other drawing of a concept."""
    spec = importlib.util.spec_from_file_location("pictures", ROOT / "scripts/concept_pictures.py")
    assert spec is not None
    assert spec.loader is not None
    drawing = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(drawing)
    drawn = {f"concept-{name}.svg": draw().svg() for name, draw in drawing.PICTURES.items()}
    files = {p.name: p.read_text("utf-8") for p in (DOCS / "assets").glob("concept-*.svg")}
    assert files == drawn


def test_acceptance_rises_while_validity_falls() -> None:
    """What the picture of the concept says is what the exact evaluation gives."""
    noise = NoiseModel(rho0=0.3, rho1=0.45, alpha=0.1, beta=0.8, valid=0.7)
    found = evaluate(load_policy("majority"), noise, votes=3, rounds=5)
    assert list(found.acceptance_by_round) == sorted(found.acceptance_by_round)
    assert max(found.validity_by_round[1:]) < found.validity_by_round[0]
