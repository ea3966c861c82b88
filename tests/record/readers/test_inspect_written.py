"""Logs that the installed Inspect AI writes are read as the loop that it ran."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Literal

import pytest

from haltwise.core.events import Usage
from haltwise.record import SearchEpisode, read
from haltwise.record.readers.base import detect
from record.readers.dialects import ANSWER, CALLS, QUESTION, RESULTS, THOUGHT

pytest.importorskip("inspect_ai")

from record.readers.inspect_run import LONG, write_logs

# Inspect and its dependencies warn about themselves; none of it is ours.
pytestmark = pytest.mark.filterwarnings("default")


@pytest.mark.parametrize("form", ["eval", "json"])
def test_a_log_that_inspect_wrote(tmp_path: Path, form: Literal["eval", "json"]) -> None:
    """Two calls side by side, one that fails, the answer, the score; the broken one is named."""
    asyncio.run(write_logs(tmp_path, form))
    (log,) = tmp_path.glob(f"*.{form}")
    assert detect(log.read_bytes()[: 1 << 16], log.name).name == "inspect"
    broken, episode = read(log)
    assert "the machine is on fire" in str(broken)
    assert isinstance(episode, SearchEpisode), episode
    assert (episode.question_id, episode.question) == ("rivers/whole", QUESTION)
    assert (episode.outcome.answer, episode.outcome.success) == (ANSWER, True)
    assert episode.usage == Usage(None, 120, 21)
    assert [step.action for step in episode.steps] == ["search+lookup", "fetch", "answer"]
    first, second, _ = episode.steps
    assert first.thought == THOUGHT
    assert [(call.action, call.arguments) for call in first.parallel] == [
        (tool, arguments) for _, tool, arguments in CALLS[:2]
    ]
    assert [call.result for call in first.parallel] == [RESULTS["c1"] + LONG, RESULTS["c2"]]
    assert second.arguments == CALLS[2][2]
    assert second.result is not None and "page is gone" in second.result
