"""A study is packed into a recording, and the demo reads it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from haltwise.cli.demo_recording import show_recording
from haltwise.core.errors import InputError
from haltwise.record.episode import SearchEpisode
from haltwise.study.recording import read_recording
from haltwise.study.search.replay_rules import RULES, replay_rules

ROOT = Path(__file__).resolve().parents[3]


def load(path: Path) -> ModuleType:
    """Import a file that is not in a package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_recording_is_packed_read_and_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every rule is replayed; the deadline turns unanswered episodes into answers."""
    made = load(Path(__file__).parent / "test_analyze.py").made
    folder = made(tmp_path, arms=("unaided",), limit=4)
    target = tmp_path / "recording.jsonl.gz"
    pack = load(ROOT / "scripts" / "pack_recording.py").pack
    assert pack(target, "2026-01-01", [folder.path]) == 28
    recording = read_recording(target, SearchEpisode)
    assert len(recording.episodes) == recording.header["episodes"] == 28
    rows, missing = replay_rules(recording.episodes)
    assert missing == ""
    assert [row.policy for row in rows[:-1]] == list(RULES)
    by_rule = {row.policy: row for row in rows}
    assert by_rule["streak(3)"].calls < by_rule["streak(5)"].calls < by_rule["never"].calls
    lines = show_recording(recording)
    assert len(lines) == 8
    printed = capsys.readouterr().out
    assert "recovery, fitted" in printed
    assert "28 episodes" in printed


def test_a_broken_recording_is_an_input_error(tmp_path: Path) -> None:
    """A file that is none is named as such."""
    broken = tmp_path / "x.gz"
    broken.write_bytes(b"no")
    with pytest.raises(InputError, match="not a recording"):
        read_recording(broken, SearchEpisode)


def test_the_live_part_shows_every_step_and_stops_the_enforced_arm(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model that never stops: 8 calls and no answer alone, 5 and an answer under the rule."""
    from haltwise.cli.demo_live import run_live
    from haltwise.study import runner

    made = load(Path(__file__).parent / "test_analyze.py").made
    folder = made(tmp_path, arms=("unaided",), limit=4)
    target = tmp_path / "recording.jsonl.gz"
    load(ROOT / "scripts" / "pack_recording.py").pack(target, "", [folder.path])
    recording = read_recording(target, SearchEpisode)
    recording.header["judge_check"] = {"wording": "copy", "threshold": 0.5}
    scripted = runner.get_study_model("haltwise/scripted:never_stops", {})
    monkeypatch.setattr(runner, "get_study_model", lambda name, args: scripted)
    live = run_live(recording, questions=1, regimes=1, seconds=600)
    assert [(item.calls, item.answered) for item in live] == [(8, False), (5, True)]
    printed = capsys.readouterr().out
    assert "6  [haltwise] the tools are gone: answer" in printed
    assert printed.count("it judges the result useless") == 12
    assert run_live(recording, questions=2, regimes=3, seconds=-1) == []
    assert "The time of the demo is up" in capsys.readouterr().out


def test_the_recording_that_comes_with_haltwise_is_what_it_says() -> None:
    """24 questions in four regimes, to full length, by the weights that haltwise knows."""
    from collections import Counter

    from haltwise.judges.weights import QWEN
    from haltwise.study.recording import bundled_recording

    path = bundled_recording("haltwise.study.search")
    assert path is not None
    recording = read_recording(path, SearchEpisode)
    header, episodes = recording.header, recording.episodes
    assert (header["sha256"], header["model"]) == (QWEN.sha256, "haltwise/embedded")
    assert header["judge_check"]["wording"] in ("copy", "apart")
    assert Counter(e.regime for e in episodes) == dict.fromkeys(
        ("clean", "persistent", "recover_after_2", "recover_after_5"), 24
    )
    assert len({e.question_id for e in episodes}) == 24
    for episode in episodes:
        decisions = [step for step in episode.steps if step.action != "answer"][:7]
        assert all("side_channel" in step.verdicts and step.answer_now for step in decisions)
        assert set(episode.usage_by_role) >= {"agent"}
