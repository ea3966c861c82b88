"""``haltwise demo``: what is shown is labelled, what is left out is said, what to type works."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from types import SimpleNamespace

import pytest

from haltwise.cli import demo
from haltwise.cli.main import run


def test_demo_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    """The tour says which agents are simulated, and names a next command that runs."""
    assert run(["demo", "--no-live"]) == 0
    printed = capsys.readouterr().out
    assert "simulated agents of known kinds" in printed
    command = next(line for line in printed.splitlines() if "enforced-at-5.jsonl" in line)
    assert command.strip().startswith("haltwise audit ")
    assert run([*command.split()[1:], "--fail-on", "mechanical-contrast"]) == 1


def test_demo_ends_with_what_to_type(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a recording nothing is said to be missing; the last lines are commands that run."""
    monkeypatch.setattr("haltwise.study.recording.bundled_recording", lambda package: None)
    assert run(["demo"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert not any("recording" in line for line in lines)
    assert lines[-1] == "What to read: docs/index.md"
    end = [line.strip() for line in lines[-14:] if line.startswith("  haltwise ")]
    assert [line.split()[1] for line in end] == ["audit", "audit", "replay", "audit", "doctor"]
    assert run(shlex.split(end[2])[1:]) == 0


def test_demo_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """One document with the audits of three simulated agents, told apart by their findings."""
    assert run(["demo", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "haltwise.demo/2"
    simulated = document["simulated"]
    found = {
        name: [finding["id"] for finding in audit["findings"]]
        for name, audit in simulated["audits"].items()
    }
    assert "ignores-own-verdicts" in found["ignores-verdicts"]
    assert found["heeds-verdicts"] == []
    assert found["enforced-at-5"] == ["mechanical-contrast"]
    assert all(Path(path).is_file() for path in simulated["files"].values())


def test_without_the_runtime_the_live_part_names_what_is_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No runtime, no download: one line says what to install."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert demo._live(SimpleNamespace(), None, quick=False) == []  # type: ignore[arg-type]
    printed = capsys.readouterr().out
    assert "xllamacpp and inspect_ai missing; type: pip install" in printed


def test_the_download_is_announced_and_needs_room(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its size, place and the room on the disk are said first; without room nothing is fetched."""
    fetched: list[bool] = []
    monkeypatch.setattr("haltwise.judges.weights.find_weights", lambda **_: None)
    monkeypatch.setattr("haltwise.judges.weights.cache_folder", lambda: tmp_path / "not" / "yet")
    monkeypatch.setattr(
        "haltwise.cli.live_models.fetch_weights_with_notes", lambda: fetched.append(True)
    )
    for free, goes_on in ((10**9, False), (10**10, True)):
        monkeypatch.setattr("shutil.disk_usage", lambda _, free=free: SimpleNamespace(free=free))
        assert demo._weights() is goes_on
        assert fetched == [True] * goes_on
        printed = capsys.readouterr().out
        assert printed.startswith("It needs 1.1 GB of weights (Apache-2.0), once, in ")
        assert ("not enough room" in printed) is not goes_on
