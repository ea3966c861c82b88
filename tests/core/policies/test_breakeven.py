"""The ski-rental rule: its threshold and its bound against hindsight."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haltwise.core.errors import ExpressionError
from haltwise.core.events import Verdict
from haltwise.core.expression import parse_policy
from haltwise.core.loop import SearchLoop
from haltwise.core.observation import SearchObservation
from haltwise.core.policies import BreakEven
from haltwise.core.policy import Policy
from haltwise.testing import check_monotone, check_policy


def cost(policy: Policy, useless: int, gain: float, price: float) -> float:
    """Return what a policy pays at a source that recovers after ``useless`` results.

    METHODS section 1, "Robust stopping": D c if the source recovers first, else k c + G.
    """
    loop = SearchLoop(policy)
    for taken in range(1, useless + 1):
        if loop.observe("useless").stops:
            return taken * price + gain
    return useless * price


@given(st.floats(0.01, 1), st.floats(0.005, 1), st.integers(0, 400))
def test_never_worse_than_its_bound(gain: float, price: float, useless: int) -> None:
    """Cost <= (2 + c/G) x hindsight for every fault duration D (Karlin et al. 1988)."""
    paid = cost(BreakEven(gain, price), useless, gain, price)
    hindsight = min(useless * price, gain)
    assert paid <= (2 + price / gain) * hindsight + 1e-9 or useless == 0 == paid


@given(st.lists(st.builds(SearchObservation, st.sampled_from(Verdict)), max_size=20))
def test_keeps_the_laws_of_a_policy(observations: list[SearchObservation]) -> None:
    """Pure, sticky, resumable, printable; a larger gain or a lower price never stops earlier."""
    check_policy(BreakEven(0.35, 0.1), observations)
    check_monotone(lambda gain: BreakEven(gain, 0.1), [0, 0.1, 0.35, 0.8], observations)
    check_monotone(lambda price: BreakEven(0.35, price), [0.4, 0.1, 0.05, 0], observations)


@pytest.mark.parametrize(
    ("gain", "price", "run"), [(0.35, 0.05, 7), (0.36, 0.05, 8), (0.3, 0.1, 3), (0.07, 0.01, 7)]
)
def test_fires_at_exactly_the_run(gain: float, price: float, run: int) -> None:
    """ceil(G / c) without the rounding error of the quotient; METHODS: 7 at .35 and .05."""
    loop = SearchLoop(BreakEven(gain, price))
    decisions = [loop.observe("useless") for _ in range(run)]
    assert [decision.stops for decision in decisions] == [False] * (run - 1) + [True]
    assert decisions[-1].evidence == {"run": run, "threshold": run, "gain": gain, "price": price}


def test_price_0_never_fires() -> None:
    """Free calls are never too many: searching ends at the deadline only."""
    loop = SearchLoop(parse_policy("breakeven(.35, 0)"))
    assert not any(loop.observe("useless").stops for _ in range(1000))
    assert math.isinf(BreakEven(0.35, 0).threshold)


def test_a_recovery_worth_nothing_stops_at_the_first_useless_result() -> None:
    """Gain 0: a threshold below 1 would fire without any useless result."""
    loop = SearchLoop(BreakEven(0, 0.05))
    assert not loop.observe("useful").stops
    assert loop.observe("useless").stops


@pytest.mark.parametrize("text", ["breakeven(-1, .05)", "breakeven(.3, -1)", 'breakeven("a", 1)'])
def test_parameters_out_of_range_are_refused(text: str) -> None:
    """Negative or textual parameters are an error that names the parameter."""
    with pytest.raises(ExpressionError, match=r"breakeven: (gain|price) is at least 0"):
        parse_policy(text)
