"""`RepairLoop`: a policy, its state and the candidates in somebody's own loop."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from haltwise import (
    HaltwiseError,
    NoiseModel,
    ObservationError,
    ParameterError,
    RepairLoop,
    parse_policy,
    state_from_json,
    state_to_json,
)

NOISE = NoiseModel(0.3, 0.2, 0.25, 0.1, 0.6)


@pytest.mark.parametrize(
    ("accepts", "votes"),
    [
        (float("nan"), 8),
        (3.0, 8),
        (True, 8),
        ("3", 8),
        (None, 8),
        ({"score": 3}, 8),
        (-1, 8),
        (9, 8),
        (0, -1),
        (3, float("inf")),
        (3, np.float64(8)),
    ],
)
def test_senseless_votes_are_refused_and_the_loop_is_intact(accepts: Any, votes: Any) -> None:
    """NaN, fractions, bools, texts, negative numbers and too many accepts change nothing."""
    loop: RepairLoop[str] = RepairLoop(parse_policy("vrr_stop", defaults={"noise": NOISE}))
    loop.observe("first", 3, 8)
    before = (loop.state, loop.decision, list(loop.candidates))
    with pytest.raises(ObservationError):
        loop.observe("second", accepts, votes)
    assert (loop.state, loop.decision, loop.candidates) == before


def test_numpy_counts_are_whole_numbers() -> None:
    """Counts out of an array are taken, and stored as plain numbers."""
    loop: RepairLoop[str] = RepairLoop(parse_policy("best_of_votes"))
    loop.observe("a", np.int64(3), np.int64(8))
    assert json.dumps(state_to_json(loop.state)) == "[1, 0, 3, 8]"


def test_the_loop_of_a_user() -> None:
    """Votes 2, 7, 1, ...: the guard runs all repairs and hands back the second plan."""
    loop: RepairLoop[str] = RepairLoop(parse_policy("vrr_guard"))
    for plan, accepts in zip("abcdef", (2, 7, 1, 2, 3, 4), strict=True):
        decision = loop.observe(plan, accepts, votes=8)
        assert decision.stops is (plan == "f")
    assert decision.candidate == 1
    assert loop.best == "b"


def test_the_best_is_known_before_the_stop() -> None:
    """A loop that is cut off from outside still delivers a plan, and never nothing."""
    loop: RepairLoop[str] = RepairLoop(parse_policy("best_of_votes"))
    with pytest.raises(HaltwiseError, match="no candidate yet"):
        _ = loop.best
    loop.observe("a", 3, 8)
    loop.observe("b", 1, 8)
    assert loop.best == "a"
    unruled: RepairLoop[str] = RepairLoop(parse_policy("never"))
    unruled.observe("a", 3, 8)
    unruled.observe("b", 1, 8)
    assert unruled.best == "b"


def test_a_stop_is_sticky_and_keeps_the_committed_plan() -> None:
    """What is observed after the stop changes neither decision nor plan."""
    loop: RepairLoop[str] = RepairLoop(parse_policy("majority"))
    stop = loop.observe("a", 5, 8)
    assert loop.observe("b", 8, 8) is stop
    assert loop.best == "a"


@pytest.mark.parametrize(
    "text",
    ["vrr_stop", "vrr_stop(recall=true)", "lookahead", "auto", "vrr_guard", "patience(2)", "vrr"],
)
def test_resuming_from_json_equals_running_through(text: str) -> None:
    """A loop stored after two rounds, with its candidates, ends as the one that was not."""
    policy = parse_policy(f"{text} | never", defaults={"noise": NOISE})
    through: RepairLoop[str] = RepairLoop(policy)
    first: RepairLoop[str] = RepairLoop(policy)
    votes = (2, 0, 4, 1, 5, 8)
    for plan, accepts in zip("ab", votes, strict=False):
        through.observe(plan, accepts, 8)
        first.observe(plan, accepts, 8)
    stored = json.dumps([state_to_json(first.state), first.candidates])
    state, candidates = json.loads(stored)
    second: RepairLoop[str] = RepairLoop(policy, state_from_json(state), candidates)
    for plan, accepts in zip("cdef", votes[2:], strict=True):
        assert second.observe(plan, accepts, 8) == through.observe(plan, accepts, 8)
    assert second.best == through.best


def test_resuming_without_the_candidates_is_refused() -> None:
    """A state that refers to plan 1 needs the plans: the error says how to give them."""
    loop: RepairLoop[str] = RepairLoop(parse_policy("majority"))
    loop.observe("a", 3, 8)
    with pytest.raises(ParameterError, match="candidates="):
        RepairLoop(loop.policy, loop.state)


def test_certainty_survives_json() -> None:
    """A belief of exactly 1 has infinite log odds, which JSON cannot write as a number."""
    perfect = NoiseModel(0, 0.5, 0.3, 0, 0.5)
    loop: RepairLoop[str] = RepairLoop(
        parse_policy("vrr_stop & never", defaults={"noise": perfect})
    )
    two: RepairLoop[str] = RepairLoop(parse_policy("lookahead(tau=0)", defaults={"noise": perfect}))
    loop.observe("a", 0, 0)
    two.observe("a", 1, 8)
    for stored in (loop.state, two.state):
        text = json.dumps(state_to_json(stored), allow_nan=False)
        assert state_from_json(json.loads(text)) == stored
    assert state_from_json(json.loads(json.dumps(state_to_json((float("-inf"),))))) == (
        float("-inf"),
    )


def test_numbers_of_a_loop_that_goes_on() -> None:
    """While the loop goes on, `evidence` shows belief, threshold and gain of the newest round."""
    loop: RepairLoop[str] = RepairLoop(
        parse_policy("vrr_stop | patience(3)", defaults={"noise": NOISE})
    )
    assert loop.evidence == {}
    loop.observe("a", 4, 8)
    assert loop.evidence["belief"] == pytest.approx(0.3358, abs=1e-4)
    assert loop.evidence["threshold"] == pytest.approx(0.25 / 0.35)
    assert loop.evidence["stale"] == 0


def test_other_policies_are_refused() -> None:
    """A rule for search loops, and what is no policy at all, are named with the remedy."""
    with pytest.raises(ParameterError, match="use SearchLoop"):
        RepairLoop(parse_policy("streak(3)"))
    with pytest.raises(ParameterError, match="parse_policy"):
        RepairLoop("majority")  # type: ignore[arg-type]


def test_more_votes_than_can_be_counted_are_refused() -> None:
    """Beyond 1000 votes binomial coefficients overflow: refused, and the loop keeps its state."""
    loop = RepairLoop[str](parse_policy("lookahead(noise(.3, .2, .2, .1, .6))"))
    with pytest.raises(ObservationError, match="votes is at most 1000; got 100000"):
        loop.observe("plan", accepts=3, votes=100_000)
    assert loop.candidates == []
    loop.observe("plan", accepts=600, votes=1000)
