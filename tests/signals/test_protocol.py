"""Verdicts on parallel calls, and what every signal has in common."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haltwise.core.events import Verdict
from haltwise.signals import Lexical, RateMatched, Recorded, Signal, SignalStep, Stated, combined

U, G, K, N, E = (
    Verdict.USELESS,
    Verdict.USEFUL,
    Verdict.UNKNOWN,
    Verdict.UNJUDGED,
    Verdict.SOURCE_ERROR,
)
PURE = [Lexical(), Stated(), RateMatched(0.5), Recorded()]


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ([], N),
        ([U, U], U),
        ([U, G], G),
        ([U, E], U),
        ([E, E], E),
        ([U, N], N),
        ([U, K], K),
        ([N, E], N),
        ([G, K, N, U, E], G),
    ],
)
def test_a_step_is_useless_only_when_no_part_of_it_is_open(verdicts, expected):
    """Useful beats unknown beats unjudged beats useless beats a failed source."""
    assert combined(verdicts) is expected


@given(st.lists(st.sampled_from(list(Verdict))))
def test_the_order_of_parallel_calls_does_not_matter(verdicts):
    """Which of the parallel calls returned first says nothing."""
    assert combined(verdicts) is combined(reversed(verdicts))


@pytest.mark.parametrize("signal", PURE, ids=lambda signal: signal.name)
@given(
    question=st.text(max_size=60),
    results=st.lists(st.text(max_size=80), max_size=3),
    thought=st.none() | st.text(max_size=80),
    index=st.integers(1, 500),
)
def test_a_signal_is_pure_and_never_raises(signal, question, results, thought, index):
    """The same step has the same verdict, whatever text stands in it."""
    step = SignalStep(question, tuple(results), thought=thought, t=index)
    assert isinstance(signal, Signal)
    assert signal.judge(step) is signal.judge(step)
    assert isinstance(signal.judge(step), Verdict)


def test_recorded_repeats_its_source_and_is_unjudged_without_it():
    """A verdict of another source is not borrowed."""
    step = SignalStep("q", ("r",), recorded={"side_channel": U})
    assert Recorded("side_channel").judge(step) is U
    assert Recorded().judge(step) is N
    assert Recorded("side_channel").name == "side_channel"
