"""The same conversation in every dialect is the same loop."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from haltwise.core.events import Usage
from haltwise.record import SearchEpisode, read
from haltwise.record.readers.base import detect
from record.readers.dialects import (
    ANSWER,
    CALLS,
    DIALECTS,
    QUESTION,
    RESULTS,
    THOUGHT,
    inspect_eval,
)


def arguments_of(value: Any) -> Any:
    """Return arguments as JSON, whether they were recorded as text or not."""
    return json.loads(value) if isinstance(value, str) else value


def read_one(path: Path, data: bytes) -> SearchEpisode:
    """Write a file and return its only episode."""
    path.write_bytes(data)
    (episode,) = read(path)
    assert isinstance(episode, SearchEpisode), episode
    return episode


@pytest.mark.parametrize("name", DIALECTS)
def test_the_same_loop_whatever_the_dialect(tmp_path: Path, name: str) -> None:
    """Every dialect is recognised, and read as the same loop."""
    reader, make = DIALECTS[name]
    data = make()
    assert detect(data[: 1 << 16], name).name == reader
    assert_same_loop(read_one(tmp_path / name, data))


EXPORTED = sorted((Path(__file__).parent / "exported").glob("*.jsonl"))


@pytest.mark.parametrize("path", EXPORTED, ids=lambda path: path.stem)
def test_the_same_loop_out_of_real_exporters(path: Path) -> None:
    """What OpenInference, Traceloop and OpenTelemetry's own instrumentation wrote of a client.

    Made by scripts/export_spans.py. Results stand only in the next request; each reply has its
    tokens and its time.
    """
    assert detect(path.read_bytes()[: 1 << 16], path.name).name == "otel"
    (episode,) = read(path)
    assert isinstance(episode, SearchEpisode), episode
    assert_same_loop(episode)
    assert (episode.model, episode.usage) == ("m-2025", Usage(3, 120, 21))
    times = [step.time for step in episode.steps[:2]]
    assert None not in times and times == sorted(times)  # type: ignore[type-var]
    assert episode.notes == []


def test_three_exporters_are_kept() -> None:
    """The test above has something to read."""
    assert [path.stem for path in EXPORTED] == ["genai", "openinference", "traceloop"]


def assert_same_loop(episode: SearchEpisode) -> None:
    """Calls side by side are one step, each with its own result; one call; then the answer."""
    assert episode.question == QUESTION
    assert episode.outcome.answer == ANSWER
    assert [step.action for step in episode.steps] == ["search+lookup", "fetch", "answer"]
    first, second, last = episode.steps
    assert first.thought == THOUGHT
    assert [(c.action, arguments_of(c.arguments)) for c in first.parallel] == [
        (tool, arguments) for _, tool, arguments in CALLS[:2]
    ]
    assert [c.result for c in first.parallel] == [RESULTS["c1"], RESULTS["c2"]]
    assert (second.result, arguments_of(second.arguments)) == (RESULTS["c3"], CALLS[2][2])
    assert last.result is None
    assert not episode.outcome.censored


OUTCOMES = {"chat.json": True, "chat.jsonl": True, "inspect.json": True, "inspect.eval": True}


@pytest.mark.parametrize("name", DIALECTS)
def test_what_a_dialect_does_not_carry_is_not_available(tmp_path: Path, name: str) -> None:
    """No outcome is None and not False, no clock gives None and not 0."""
    episode = read_one(tmp_path / name, DIALECTS[name][1]())
    assert episode.outcome.success is OUTCOMES.get(name)
    timed = name.startswith(("codex", "claude", "langsmith", "otel", "openinference"))
    assert (episode.steps[0].time is not None) is timed


def test_codex_token_counts_are_cumulative(tmp_path: Path) -> None:
    """The last count is the session's; adding them up would give five times as much."""
    episode = read_one(tmp_path / "x", DIALECTS["codex.jsonl"][1]())
    assert episode.usage == Usage(None, 100, 50)


def test_claude_code_usage_is_counted_once_a_reply(tmp_path: Path) -> None:
    """Three replies of 7 and 3 tokens on five lines are 21 and 9."""
    episode = read_one(tmp_path / "x", DIALECTS["claude-code.jsonl"][1]())
    assert episode.usage == Usage(None, 21, 9)
    assert "1 line(s) of the file are no messages" in episode.notes


def test_inspect_samples_carry_sample_epoch_and_score(tmp_path: Path) -> None:
    """Task, sample and epoch name the episode; the score is the outcome."""
    episode = read_one(tmp_path / "x.eval", inspect_eval())
    assert (episode.question_id, episode.seed, episode.run) == ("rivers/7", 2, "T")
    assert episode.usage == Usage(None, 11, 5)


def test_a_superseded_inspect_log_gives_duplicates(tmp_path: Path) -> None:
    """The log of a retry repeats the finished samples of the crashed one: they count once."""
    for name in ("a.eval", "b.eval"):
        (tmp_path / name).write_bytes(inspect_eval())
    first, second = read(tmp_path)
    assert isinstance(first, SearchEpisode)
    assert "duplicate" in str(second)
