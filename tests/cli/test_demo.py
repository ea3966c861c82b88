"""``haltwise demo``: what it shows is labelled as simulated, and its next command works."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from haltwise.cli.main import run


def test_demo_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    """The tour says that the agents are simulated, explains, and names a next command that runs."""
    assert run(["demo"]) == 0
    printed = capsys.readouterr().out
    assert "simulated" in printed
    assert "What to see" in printed
    command = next(line for line in printed.splitlines() if "enforced-at-5.jsonl" in line)
    assert command.strip().startswith("haltwise audit ")
    assert run([*command.split()[1:], "--fail-on", "mechanical-contrast"]) == 1


def test_demo_ends_with_what_to_type(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a recording nothing is said to be missing; the last lines are commands that run."""
    monkeypatch.setattr("haltwise.study.search.recording.bundled_recording", lambda: None)
    assert run(["demo"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert not any("recording" in line for line in lines)
    assert lines[-1] == "What to read: docs/index.md"
    end = [line.strip() for line in lines[-12:] if line.startswith("  haltwise ")]
    assert [line.split()[1] for line in end] == ["audit", "replay", "audit", "doctor"]
    assert run(shlex.split(end[1])[1:]) == 0


def test_demo_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """One document with the audits of three simulated agents, told apart by their findings."""
    assert run(["demo", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "haltwise.demo/1"
    assert document["simulated"] is True
    found = {
        name: [finding["id"] for finding in audit["findings"]]
        for name, audit in document["audits"].items()
    }
    assert "ignores-own-verdicts" in found["ignores-verdicts"]
    assert found["heeds-verdicts"] == []
    assert found["enforced-at-5"] == ["mechanical-contrast"]
    assert all(Path(path).is_file() for path in document["files"].values())
