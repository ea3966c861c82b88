"""The recovery policy: the fitted table, and the two limits that trust puts on it."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from haltwise.core.errors import ExpressionError
from haltwise.core.events import Verdict
from haltwise.core.expression import parse_policy
from haltwise.core.loop import SearchLoop
from haltwise.core.observation import SearchObservation
from haltwise.core.policies import Recovery
from haltwise.core.recovery import RecoveryModel
from haltwise.testing import check_policy


def model(
    hazard: list[float], answer_now: float, useful: float, price: float, budget: int
) -> RecoveryModel:
    """Return a model whose values do not depend on m, nor on whether the loop is fresh."""
    row = tuple(hazard)
    width = budget - 2
    return RecoveryModel(budget, (row, row), (answer_now, answer_now), (useful,) * width, price)


def stopping_run(policy: Recovery) -> int:
    """Return the run at which a policy fires at a source that is dead from the start."""
    loop = SearchLoop(policy)
    run = 1
    while not loop.observe("useless").stops:
        run += 1
    return run


@given(
    st.lists(st.floats(0, 1), min_size=58, max_size=58),
    st.floats(0.02, 0.6),
    st.floats(0.02, 0.5),
    st.floats(0.1, 1),
)
def test_trust_keeps_both_bounds(
    hazard: list[float], gain: float, price: float, trust: float
) -> None:
    """For every D: (1 + 1/trust + 2c/G) x hindsight; (1 + trust + 2c/G) x if the table is right.

    The table's prediction is what it says at ceil(trust G / c): stopping there predicts
    D >= G/c, going on predicts D < G/c. Purohit, Svitkina & Kumar 2018; METHODS section 1.
    The limits must fit into the budget of 60 for the deadline not to be what stops.
    """
    fitted = model(hazard, 0.3, 0.3 + gain, price, 60)
    policy = Recovery(fitted, trust)
    soonest = max(1, math.ceil(trust * gain / price - 1e-9))
    latest = max(1, math.ceil(gain / (trust * price) - 1e-9))
    assume(latest < 59)
    stop = stopping_run(policy)
    assert soonest <= stop <= latest
    predicts_stop = soonest in fitted.stop[60 - soonest - 1]
    for useless in range(1, 60):
        paid = useless * price if useless < stop else stop * price + gain
        hindsight = min(useless * price, gain)
        assert paid <= (1 + 1 / trust + 2 * price / gain) * hindsight + 1e-9
        if predicts_stop == (useless * price >= gain):
            assert paid <= (1 + trust + 2 * price / gain) * hindsight + 1e-9


@given(
    st.lists(st.builds(SearchObservation, st.sampled_from(Verdict)), max_size=12),
    st.lists(st.floats(0, 1), min_size=6, max_size=6),
    st.sampled_from([None, 0.3, 1]),
)
def test_keeps_the_laws_of_a_policy(
    observations: list[SearchObservation], hazard: list[float], trust: float | None
) -> None:
    """Pure, sticky, resumable from JSON, printable, neutral beside never."""
    check_policy(Recovery(model(hazard, 0.2, 0.6, 0.05, 8), trust), observations)


def test_trust_1_is_break_even() -> None:
    """At trust 1 both limits are ceil(G / c), whatever the table says."""
    for hazard in ([0.0] * 18, [0.9] * 18):
        fitted = model(hazard, 0.2, 0.5, 0.05, 20)
        assert stopping_run(Recovery(fitted, 1)) == 6


def test_table_that_gives_up_at_once_is_held_back() -> None:
    """No recorded recovery: the bare table stops at run 1, trust .5 not before ceil(.5 x 6)."""
    fitted = model([0.0] * 18, 0.2, 0.5, 0.05, 20)
    assert stopping_run(Recovery(fitted)) == 1
    assert stopping_run(Recovery(fitted, 0.5)) == 3


def test_table_that_never_gives_up_is_stopped() -> None:
    """Recovery always near: the bare table waits for the deadline, trust .5 until 6 / .5."""
    fitted = model([0.5] * 18, 0.2, 0.5, 0.05, 20)
    assert stopping_run(Recovery(fitted)) == 19
    assert stopping_run(Recovery(fitted, 0.5)) == 12


def test_price_0_searches_to_the_deadline_at_any_trust() -> None:
    """At c = 0 both limits are beyond any run; the m = 1 row still fires."""
    fitted = model([0.1] * 6, 0.2, 0.5, 0, 8)
    assert stopping_run(Recovery(fitted, 0.5)) == 7


def test_last_action_is_for_the_answer_without_any_run() -> None:
    """The m = 1 row fires at run 0 too, as deadline(8) does."""
    loop = SearchLoop(Recovery(model([0.1] * 6, 0.2, 0.5, 0.05, 8)))
    stops = [loop.observe("useful").stops for _ in range(7)]
    assert stops == [False] * 6 + [True]
    assert loop.decision.evidence["left"] == 1


def test_fresh_loops_and_the_others_have_their_own_rows() -> None:
    """After a useful result the second row is read: here it stops at run 2, the first does not."""
    fitted = RecoveryModel(8, ((0.9,) * 6, (0.9, 0, 0, 0, 0, 0)), (0.1, 0.1), (0.6,) * 6, 0.05)
    fresh, seen = SearchLoop(Recovery(fitted)), SearchLoop(Recovery(fitted))
    assert not any(fresh.observe("useless").stops for _ in range(6))
    seen.observe("useful")
    assert [seen.observe("useless").stops for _ in range(2)] == [False, True]


def test_a_file_name_stands_for_the_table() -> None:
    """recovery("p.toml", trust=.5) asks the loader for the file's fitted recovery."""
    fitted = model([0.1] * 6, 0.2, 0.5, 0.05, 8)
    policy = parse_policy('recovery("p.toml", trust=.5)', load=lambda path: {"recovery": fitted})
    assert policy == Recovery(fitted, 0.5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [("", "recovery needs recovery"), ("3", "takes a fitted table"), ("FITTED, 0", "above 0")],
)
def test_bad_parameters_are_refused(arguments: str, message: str) -> None:
    """A missing table, a number in its place and a trust of 0 are each named."""
    text = arguments.replace("FITTED", str(model([0.1] * 6, 0.2, 0.5, 0.05, 8)))
    with pytest.raises(ExpressionError, match=message):
        parse_policy(f"recovery({text})")
