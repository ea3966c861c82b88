"""``haltwise report`` writes a page or images, and says where."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from haltwise.cli.main import run
from haltwise.simulated.search import IGNORES, simulate_search


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of simulated episodes."""
    path = tmp_path_factory.mktemp("traces") / "traces.jsonl"
    simulate_search(IGNORES, 60, seed=1).write_judged_useless(path)
    return path


def test_a_page_of_traces(traces: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The page stands where it was asked for, and --json names it."""
    out = tmp_path / "page.html"
    assert run(["report", str(traces), "-o", str(out), "--replicates", "50", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["written"] == [str(out)]
    text = out.read_text("utf-8")
    assert text.startswith("<!doctype html>")
    assert "What is wrong" in text


def test_charts_as_images(traces: Path, tmp_path: Path) -> None:
    """Every chart is a file of its own in the folder that was named."""
    out = tmp_path / "charts"
    line = ["report", str(traces), "-o", str(out), "--format", "svg", "--replicates", "50"]
    assert run(line) == 0
    assert {path.suffix for path in out.iterdir()} == {".svg"}


def test_nothing_usable(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file without episodes is an error with exit code 2, and no page is written."""
    empty = tmp_path / "empty.jsonl"
    empty.write_text("{}\n")
    assert run(["report", str(empty), "-o", str(tmp_path / "r.html")]) == 2
    assert "no loop in" in capsys.readouterr().err
    assert not (tmp_path / "r.html").exists()
