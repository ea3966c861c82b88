"""The published unaided episodes with their answer-now table, as a fixture of several folders."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from haltwise.record import SearchEpisode, read
from haltwise.replay.answer_now import read_answer_now
from haltwise.replay.search import SearchTable, search_table


@pytest.fixture(scope="session")
def published(shared_data: Callable[[str], Path]) -> tuple[SearchTable, np.ndarray]:
    """The published unaided episodes with their answer-now table, and their question numbers."""
    path = shared_data("judged_useless/qwen3-8b_unaided_test300.jsonl")
    episodes = [item for item in read(path) if isinstance(item, SearchEpisode)]
    grades = read_answer_now(shared_data("judged_useless/answer_now_qwen3-8b_test300.jsonl"))
    _, questions = np.unique([e.question_id for e in episodes], return_inverse=True)
    return search_table(episodes, grades), questions
