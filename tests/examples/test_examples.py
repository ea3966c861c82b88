"""Every script in examples/ runs, and prints what it is there to show."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"


def output(name: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Run a script as a person does, and return the lines that it prints."""
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    return capsys.readouterr().out.splitlines()


def test_every_example_is_tested_here() -> None:
    """A new script needs a test below."""
    tested = set(re.findall(r'output\("(\w+\.py)"', Path(__file__).read_text("utf-8")))
    assert tested == {path.name for path in EXAMPLES.glob("*.py")}


def test_search_loop(capsys: pytest.CaptureFixture[str]) -> None:
    """A dead source is given up after three searches; one that answers is searched to its end."""
    dead, nothing, alive, found = output("search_loop.py", capsys)
    assert dead.startswith("3 searches: 3 useless results in a row")
    assert nothing.startswith("Not found:")
    assert alive.startswith("7 searches: ")
    assert found == "The river of Strelsau has many bridges."


def test_repair_loop(capsys: pytest.CaptureFixture[str]) -> None:
    """Where repair breaks more than it mends, the calibrated rule beats both ways without one."""
    majority, none, auto = (float(line[:5]) for line in output("repair_loop.py", capsys))
    assert majority < none <= auto


def test_langchain_agent(capsys: pytest.CaptureFixture[str]) -> None:
    """Five searches, then an answer with the reason of the stop."""
    pytest.importorskip("langchain", reason="needs the extra langchain")
    *searches, answer, stopped = output("langchain_agent.py", capsys)
    assert len(searches) == 5
    assert answer == "answer: Not found."
    assert stopped == "stopped: 5 useless results in a row (threshold 5)"
