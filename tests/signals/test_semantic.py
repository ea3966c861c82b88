"""The semantic signal compares meanings; here an encoder of three words stands for the real one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from haltwise.core.errors import ParameterError
from haltwise.core.events import Verdict
from haltwise.signals import Semantic, SignalStep


class Words:
    """Counts three words, to length 1."""

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return the vectors."""
        counts = [
            [text.count(word) + 1e-3 for word in ("river", "city", "stock")] for text in texts
        ]
        made = np.array(counts, np.float32)
        return made / np.linalg.norm(made, axis=1, keepdims=True)


QUESTION = "which river?"


def judged(*results: str, question: str = QUESTION, threshold: float = 0.5) -> Verdict:
    """Return the verdict on a step."""
    return Semantic(threshold, Words()).judge(SignalStep(question, results))


def test_near_is_useful_and_far_is_useless() -> None:
    """The cosine decides, and the threshold itself is near enough."""
    assert judged("a river and a city") is Verdict.USEFUL
    assert judged("a stock and a city") is Verdict.USELESS
    assert Semantic(0.5, Words()).nearness(QUESTION, "river river city") == pytest.approx(
        2 / 5**0.5, abs=2e-3
    )
    assert judged("river", threshold=-1.0) is Verdict.USEFUL


def test_nothing_found_needs_no_encoder() -> None:
    """An empty result or "no results" is useless; without a question there is no verdict."""
    assert judged("") is judged("No results found.") is Verdict.USELESS
    assert judged("river", question=" ?") is Verdict.UNJUDGED


def test_parallel_results_are_one_step() -> None:
    """One near result makes the step useful."""
    assert judged("stock", "river") is Verdict.USEFUL


def test_a_threshold_is_a_cosine() -> None:
    """Anything else is refused."""
    with pytest.raises(ParameterError, match="cosine from -1 to 1; got 2"):
        Semantic(2)
