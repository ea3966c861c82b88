"""Adaptive voting: no vote too few, and as few as can be."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from haltwise import (
    BestOfVotes,
    Confidence,
    Decision,
    FixedRepairs,
    Lookahead,
    Majority,
    NoiseModel,
    ObservationError,
    Patience,
    Policy,
    RepairLoop,
    RepairObservation,
    VrrGuard,
    VrrStop,
    fold,
)
from haltwise.core.voting import votes_needed

NOISE = NoiseModel(0.3, 0.2, 0.25, 0.1, 0.6)
rules = st.sampled_from(
    [
        VrrStop(NOISE),
        VrrStop(NoiseModel(0.35, 0.35, 0.1, 0.8, 0.7, 0.3), 0.02),
        Lookahead(NOISE, recall=False),
        Majority(),
        Confidence(0.7),
        VrrGuard(0.4),
        Patience(2),
        BestOfVotes(),
        FixedRepairs(1),
        VrrStop(NOISE) | Patience(1),
    ]
)
ballots = st.lists(st.lists(st.booleans(), min_size=6, max_size=6), min_size=1, max_size=4)


def buy(policy: Policy, state: object, ballot: list[bool]) -> tuple[int, int]:
    """Buy votes off a ballot as long as the function asks for more."""
    accepts = votes = 0
    while more := votes_needed(policy, state, accepts, votes, len(ballot)):
        accepts += sum(ballot[votes : votes + more])
        votes += more
    return accepts, votes


@settings(max_examples=60)
@given(rules, ballots)
def test_curtailment_changes_no_decision(policy: Policy, ballots: list[list[bool]]) -> None:
    """From the same state, the votes bought decide as the whole ballot would."""
    state = policy.initial()
    for ballot in ballots:
        accepts, votes = buy(policy, state, ballot)
        short, decision = policy.step(state, RepairObservation(accepts, votes))
        whole, expected = policy.step(state, RepairObservation(sum(ballot), len(ballot)))
        assert decision.action is expected.action
        assert decision.candidate == expected.candidate
        if decision.stops:
            break
        assert policy.settled(short) == policy.settled(whole)
        state = whole


def test_a_majority_is_settled_early() -> None:
    """4 of 6 needed: 0 of 0 can be settled by 3 rejections at the earliest, 3 of 3 by one more."""
    state = Majority().initial()
    assert votes_needed(Majority(), state, 0, 0, 6) == 3
    assert votes_needed(Majority(), state, 0, 3, 6) == 0
    assert votes_needed(Majority(), state, 3, 3, 6) == 1
    assert votes_needed(Majority(), state, 4, 4, 6) == 0


def test_a_fixed_number_of_repairs_needs_no_vote() -> None:
    """Where votes decide nothing none is bought; neither at the last round of a belief rule."""
    assert votes_needed(FixedRepairs(3), FixedRepairs(3).initial(), 0, 0, 8) == 0
    last = fold(VrrStop(NOISE, rounds=1), [RepairObservation(0, 8)])[0]
    assert not isinstance(last, Decision)
    assert votes_needed(VrrStop(NOISE, rounds=1), last, 0, 0, 8) == 0


def test_the_guard_buys_every_vote_of_a_plan_that_may_win() -> None:
    """The score of a new incumbent is compared later on, so it is not cut short."""
    guard = VrrGuard(0.4)
    state, _ = guard.step(guard.initial(), RepairObservation(1, 6))
    assert votes_needed(guard, state, 5, 5, 6) == 1
    assert votes_needed(guard, state, 0, 3, 6) == 0


def test_the_indifference_zone_ends_buying_sooner() -> None:
    """b = .6 and threshold .714: each accept adds log(.8 / .3) = .98, three leave a zone of 2."""
    policy = VrrStop(NOISE)
    state = policy.initial()
    assert votes_needed(policy, state, 3, 3, 8) > 0
    assert votes_needed(policy, state, 3, 3, 8, zone=2.0) == 0
    assert votes_needed(policy, state, 2, 2, 8, zone=2.0) == 1


def test_the_loop_asks_before_it_observes() -> None:
    """`RepairLoop.votes_needed` uses the loop's state, refuses nonsense, and is 0 after a stop."""
    loop: RepairLoop[str] = RepairLoop(Majority())
    assert loop.votes_needed(0, 0, 6) == 3
    for bad in ((2, 1, 6), (0, 7, 6), (0, -1, 6)):
        with pytest.raises(ObservationError):
            loop.votes_needed(*bad)
    loop.observe("a", 4, 4)
    assert loop.votes_needed(0, 0, 6) == 0
