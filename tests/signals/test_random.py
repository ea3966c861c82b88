"""The random control: the right rate, the same draw every time."""

from __future__ import annotations

import math

import pytest

from haltwise.core.errors import ParameterError
from haltwise.core.events import Verdict
from haltwise.signals import RateMatched, SignalStep


def _draws(rate: float, seed: int, n: int) -> list[bool]:
    signal = RateMatched(rate, seed)
    return [signal.judge(SignalStep("q", ("r",), t=t)) is Verdict.USELESS for t in range(1, n + 1)]


def test_the_share_of_useless_verdicts_is_the_rate():
    """4,000 draws at .8 lie within 4 standard errors (.0063 each)."""
    assert sum(_draws(0.8, 1, 4000)) / 4000 == pytest.approx(
        0.8, abs=4 * math.sqrt(0.8 * 0.2 / 4000)
    )


def test_the_draw_does_not_look_at_the_result():
    """The control is independent of content."""
    signal = RateMatched(0.5, 3)
    for t in range(1, 50):
        one = signal.judge(SignalStep("q", ("found it",), t=t))
        other = signal.judge(SignalStep("q", ("No results",), thought="useless", t=t))
        assert one is other


def test_seeds_and_questions_have_draws_of_their_own():
    """Two episodes do not stop at the same step by construction."""
    assert _draws(0.5, 1, 100) != _draws(0.5, 2, 100)
    signal = RateMatched(0.5)
    by_question = [[signal.judge(SignalStep(q, (), t=t)) for t in range(100)] for q in ("a", "b")]
    assert by_question[0] != by_question[1]


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_the_ends_of_the_range_are_exact(rate):
    """Rate 0 never says useless, rate 1 always."""
    assert set(_draws(rate, 0, 200)) == {bool(rate)}


@pytest.mark.parametrize(("rate", "seed"), [(-1, 0), (2, 0), (math.nan, 0), (0.5, -1), (0.5, 0.5)])
def test_parameters_out_of_range_are_refused(rate, seed):
    """One sentence names the parameter and what came."""
    with pytest.raises(ParameterError, match="random signal: "):
        RateMatched(rate, seed)
