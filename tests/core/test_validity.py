"""The belief that a plan is valid: against enumeration of every history, and its laws."""

from __future__ import annotations

import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from haltwise import NoiseModel
from haltwise.core.validity import (
    best_plan,
    log_likelihood_ratio,
    log_odds,
    probability,
    repaired,
    smoothed,
    updated,
    vote_probability,
)

rates = st.floats(0, 1) | st.sampled_from([0.0, 1.0])
noises = st.builds(
    NoiseModel,
    *([rates] * 5),
    st.sampled_from([0.0, 1e-9, 0.1, 0.6]),
    st.none() | st.lists(rates, min_size=1, max_size=3),
    st.none() | st.lists(rates, min_size=1, max_size=3),
)
votes_of_a_plan = st.integers(0, 6).flatmap(
    lambda votes: st.tuples(st.integers(0, votes), st.just(votes))
)


@pytest.mark.parametrize("icc", [0.0, 1e-12, 0.05, 0.3, 0.9])
@pytest.mark.parametrize("rate", [0.02, 0.35, 0.8])
def test_vote_probability_is_scipys(rate: float, icc: float) -> None:
    """The pmf is SciPy's binomial or beta-binomial with a + b = (1 - icc) / icc."""
    accepts = range(9)
    if icc < 1e-6:
        expected = stats.binom.pmf(accepts, 8, rate)
    else:
        size = (1 - icc) / icc
        expected = stats.betabinom.pmf(accepts, 8, rate * size, (1 - rate) * size)
    found = [vote_probability(rate, icc, s, 8) for s in accepts]
    assert found == pytest.approx(list(expected), abs=1e-10)


@given(rates, st.sampled_from([0.0, 0.2]), st.integers(0, 12))
def test_vote_probabilities_sum_to_one(rate: float, icc: float, votes: int) -> None:
    """Every count is covered, at the extreme rates too."""
    assert sum(vote_probability(rate, icc, s, votes) for s in range(votes + 1)) == pytest.approx(1)


def test_update_of_the_paper_by_hand() -> None:
    """b = .6 and 5 of 8 accepts at rho0 = .3, rho1 = .2: .6 x .1468 / (.6 x .1468 + .4 x .0467)."""
    noise = NoiseModel(0.3, 0.2, 0.25, 0.1, 0.6)
    odds = updated(log_odds(0.6), log_likelihood_ratio(noise, 5, 8))
    valid, invalid = 0.6 * stats.binom.pmf(5, 8, 0.8), 0.4 * stats.binom.pmf(5, 8, 0.3)
    assert probability(odds) == pytest.approx(valid / (valid + invalid), abs=1e-12)


@given(st.floats(0, 1), rates, rates)
def test_repair_moves_the_belief_as_the_formula_says(b: float, alpha: float, beta: float) -> None:
    """The next plan is valid with (1 - beta) b + alpha (1 - b), at certainty too."""
    expected = (1 - beta) * b + alpha * (1 - b)
    assert probability(repaired(log_odds(b), alpha, beta)) == pytest.approx(expected, abs=1e-12)


@given(noises)
def test_a_round_without_votes_says_nothing(noise: NoiseModel) -> None:
    """No votes, no change: the log likelihood ratio is exactly 0."""
    assert log_likelihood_ratio(noise, 0, 0) == 0.0


def test_rates_of_zero_and_one_make_certain() -> None:
    """One accept of a verifier that never accepts an invalid plan proves validity, for good."""
    noise = NoiseModel(0, 0.3, 0.2, 0, 0.5)
    odds = updated(log_odds(0.5), log_likelihood_ratio(noise, 1, 8))
    assert odds == math.inf
    assert probability(odds) == 1.0
    assert updated(odds, -50.0) == math.inf
    assert repaired(odds, 0.2, 0) == math.inf
    assert updated(log_odds(0.5), log_likelihood_ratio(noise, 0, 8)) < 0


@pytest.mark.parametrize(("accepts", "sign"), [(5, math.inf), (4, 0.0), (3, -math.inf)])
def test_votes_that_a_perfect_verifier_cannot_give(accepts: int, sign: float) -> None:
    """With both rates 0 mixed votes are impossible: the side with more votes wins, a tie is 0."""
    assert log_likelihood_ratio(NoiseModel(0, 0, 0.2, 0.1, 0.5), accepts, 8) == sign


def test_log_odds_keep_what_probabilities_round_away() -> None:
    """After 40 unanimous rounds the belief rounds to 1; 40 rounds of rejection bring it back."""
    noise = NoiseModel(0.1, 0.1, 0, 0, 0.5)
    odds = 0.0
    for accepts in [8] * 40 + [0] * 40:
        odds = updated(odds, log_likelihood_ratio(noise, accepts, 8))
    assert probability(odds) == pytest.approx(0.5, abs=1e-9)


@given(noises, st.lists(votes_of_a_plan, min_size=1, max_size=4))
def test_smoothed_posteriors_equal_enumeration(
    noise: NoiseModel, history: list[tuple[int, int]]
) -> None:
    """Forward-backward gives what summing over all 2^K truths gives, where the votes can occur."""
    weights = {}
    for truth in product((0, 1), repeat=len(history)):
        weight = noise.valid if truth[0] else 1 - noise.valid
        for k in range(1, len(truth)):
            up = 1 - noise.beta_at(k) if truth[k - 1] else noise.alpha_at(k)
            weight *= up if truth[k] else 1 - up
        for x, (accepts, votes) in zip(truth, history, strict=True):
            rate = 1 - noise.rho1 if x else noise.rho0
            weight *= vote_probability(rate, noise.icc, accepts, votes)
        weights[truth] = weight
    total = sum(weights.values())
    if total < 1e-200:
        return
    expected = [
        sum(w for truth, w in weights.items() if truth[j]) / total for j in range(len(history))
    ]
    found = [probability(odds) for odds in smoothed(noise, history)]
    assert found == pytest.approx(expected, abs=1e-9)


def test_the_earliest_plan_wins_a_tie() -> None:
    """Where votes and repair say nothing all plans are alike, and the initial one is delivered."""
    assert best_plan(NoiseModel(0.5, 0.5, 0, 0, 0.6), [(3, 8), (8, 8), (5, 8)])[0] == 0


def test_later_votes_speak_for_an_earlier_plan() -> None:
    """A doubtful plan whose repairs are clearly bad is the best: repair breaks what was valid."""
    noise = NoiseModel(0.2, 0.2, 0.02, 0.8, 0.6)
    assert best_plan(noise, [(5, 8), (0, 8), (1, 8)])[0] == 0
