"""``--outcomes`` on ``audit``, ``replay`` and ``convert``: one table, one meaning."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from haltwise.cli.main import run
from haltwise.record import Outcome, SearchEpisode, SearchStep, read, write_episodes


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """Four episodes, one graded wrong, and a table that calls three right and names a fifth."""
    episodes = [
        SearchEpisode(
            episode_id=f"e{i}",
            cluster_id=f"q{i}",
            question_id=f"q{i}",
            steps=[SearchStep(t=1, action="search"), SearchStep(t=2, action="answer")],
            outcome=Outcome(success=False if i == 0 else None),
        )
        for i in range(4)
    ]
    write_episodes(tmp_path / "e.jsonl", episodes)
    rows = [{"question_id": f"q{i}", "success": i != 3} for i in range(4)]
    rows.append({"question_id": "elsewhere", "success": True})
    table = tmp_path / "table.jsonl"
    table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(tmp_path / "e.jsonl"), str(table)


def document(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[dict[str, Any], str]:
    """Run a command with --json; return its document and what it noted."""
    assert run([*arguments, "--json"]) == 0
    printed = capsys.readouterr()
    found: dict[str, Any] = json.loads(printed.out)
    return found, printed.err


@pytest.mark.parametrize("workers", ["1", "2"])
def test_audit(files: tuple[str, str], capsys: pytest.CaptureFixture[str], workers: str) -> None:
    """Three of four are right by the table, whoever reads; an unused row is noted."""
    path, table = files
    options = ["audit", path, "--replicates", "20", "--workers", workers]
    found, told = document(capsys, *options, "--outcomes", table)
    assert [rate["value"] for rate in found["success"].values()] == [0.75]
    assert "1 of 5 outcomes name no episode" in told
    signalled, _ = document(capsys, *options, "--outcomes", table, "--signal", "stated")
    assert signalled["success"] == found["success"]


def test_replay(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """The recorded end of a loop that no rule stops is the table's."""
    path, table = files
    found, told = document(capsys, "replay", path, "--policy", "never", "--outcomes", table)
    assert found["policies"][0]["success"]["value"] == 0.75
    assert "1 of 5 outcomes name no episode" in told


def test_convert(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file that is written carries the outcomes of the table."""
    path, table = files
    output = tmp_path / "out.jsonl"
    _, told = document(capsys, "convert", path, "-o", str(output), "--outcomes", table)
    written = [item for item in read([str(output)]) if isinstance(item, SearchEpisode)]
    assert [episode.outcome.success for episode in written] == [True, True, True, False]
    assert "1 of 5 outcomes name no episode" in told


@pytest.mark.parametrize(
    "command", [["audit"], ["replay", "--policy", "never"], ["convert", "-o", "unwritten.jsonl"]]
)
def test_a_bad_table(
    files: tuple[str, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    command: list[str],
) -> None:
    """A table that says nothing is exit 2 and a sentence with its line."""
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"success": true}\n')
    assert run([*command, files[0], "--outcomes", str(bad)]) == 2
    assert f"{bad}:1" in capsys.readouterr().err
