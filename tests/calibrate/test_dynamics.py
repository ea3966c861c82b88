"""alpha and beta from labelled transitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta as beta_distribution
from scipy.stats import chi2_contingency

from haltwise.calibrate.dynamics import (
    Transitions,
    count_transitions,
    estimate_rate,
    is_gated,
    pooled,
    rounds_differ,
)
from haltwise.record.repair_table import RepairTable


def table(*loops: list[int]) -> RepairTable:
    """Loops given by their truths, without votes."""
    longest = max(map(len, loops))
    valid = np.full((len(loops), longest), -1, np.int8)
    for row, loop in zip(valid, loops, strict=True):
        row[: len(loop)] = loop
    zeros = np.zeros(valid.shape, np.int64)
    n = len(loops)
    length = np.array([len(loop) for loop in loops])
    return RepairTable(zeros, zeros, valid, length, np.arange(n), np.zeros(n, bool))


def test_transitions_are_counted_by_kind_and_round() -> None:
    """A transition is counted for the plan it starts from, in its round; gaps break it."""
    invalid, valid = count_transitions(table([0, 1, 0], [0, 0, 1], [1, 1], [0, -1, 1]))
    assert invalid.total.tolist() == [2, 1] and invalid.changed.tolist() == [1, 1]
    assert valid.total.tolist() == [1, 1] and valid.changed.tolist() == [0, 1]


def test_posterior_of_a_rate() -> None:
    """3 of 30 under Beta(1/2, 1/2): mean 3.5 / 31, interval the quantiles of Beta(3.5, 27.5)."""
    rate = estimate_rate("alpha", Transitions(np.array([3]), np.array([30])))
    assert rate.mean == rate.estimate.value == pytest.approx(3.5 / 31)
    assert rate.estimate.low == pytest.approx(beta_distribution.ppf(0.025, 3.5, 27.5))
    assert rate.estimate.high == pytest.approx(beta_distribution.ppf(0.975, 3.5, 27.5))
    assert rate.estimate.n == 30 and rate.by_round is None
    draws = rate.draws(20_000, 3, np.random.default_rng(0))
    assert draws.shape == (20_000, 3) and draws.mean() == pytest.approx(3.5 / 31, abs=0.002)


@pytest.mark.parametrize(
    ("gated", "words"), [(True, "loops end when right"), (False, "starts at a valid plan")]
)
def test_no_transitions_is_undefined(gated: bool, words: str) -> None:
    """Without a transition the rate is undefined, never 0; decisions use the prior mean."""
    rate = estimate_rate("beta", Transitions(np.array([0]), np.array([0])), gated=gated)
    assert not rate.estimate.defined
    assert "beta not identified" in rate.estimate.note and words in rate.estimate.note
    assert rate.mean == 0.5


def test_a_handful_is_said() -> None:
    """A rate that rests on few transitions says so."""
    rate = estimate_rate("beta", Transitions(np.array([1]), np.array([4])))
    assert "rests on 4 transitions" in rate.estimate.note


@pytest.mark.parametrize(
    ("loops", "gated"),
    [
        ([[0, 0, 1], [1], [0, 0, 0]], True),
        ([[0, 1], [1]], True),
        ([[0, 0, 1], [1, 1]], False),
        ([[0, 1, 0]], False),
        ([[0, 0, 0]], False),
        ([[1], [1], [0]], False),
    ],
)
def test_gated_loops_are_recognised(loops: list[list[int]], gated: bool) -> None:
    """Loops that all end at their first valid round are gated, whatever the record says."""
    assert is_gated(table(*loops)) is gated


def test_rounds_that_differ() -> None:
    """The p value is that of the likelihood-ratio test of the 2 x K table (SciPy)."""
    transitions = Transitions(np.array([40, 20, 5, 3]), np.array([100, 80, 60, 50]))
    cells = np.stack([transitions.changed, transitions.total - transitions.changed])
    expected = chi2_contingency(cells, correction=False, lambda_="log-likelihood").pvalue
    assert rounds_differ(transitions) == pytest.approx(expected)
    rate = estimate_rate("alpha", transitions)
    assert rate.by_round is not None and list(rate.by_round) == sorted(rate.by_round, reverse=True)
    assert "rounds differ" in rate.estimate.note


def test_rounds_are_pulled_to_the_mean() -> None:
    """Partial pooling: each round lies between its own frequency and the mean of all."""
    transitions = Transitions(np.array([40, 20, 0, 3]), np.array([100, 80, 2, 50]))
    rates = np.array(pooled(transitions))
    mean, own = 63 / 232, transitions.changed / transitions.total
    assert (np.abs(rates - mean) < np.abs(own - mean)).all()
    assert rates[2] == pytest.approx(mean, abs=0.12)  # two transitions hardly move it


def test_equal_rounds_stay_pooled() -> None:
    """Drawn from one rate, rounds are found to differ in about 5 % of 400 samples."""
    rng = np.random.default_rng(1)
    n = np.array([60, 60, 60, 60, 60])
    found = [rounds_differ(Transitions(rng.binomial(n, 0.2), n)) < 0.05 for _ in range(400)]
    assert 0.02 < np.mean(found) < 0.09


def test_by_round_draws_keep_the_shape() -> None:
    """Where rounds differ, every draw moves all rounds the same way and centres on the rates."""
    transitions = Transitions(np.array([40, 20, 5]), np.array([100, 80, 60]))
    rate = estimate_rate("alpha", transitions)
    draws = rate.draws(5_000, 5, np.random.default_rng(2))
    assert rate.by_round is not None
    np.testing.assert_allclose(draws[:, :3].mean(axis=0), rate.by_round, atol=0.01)
    np.testing.assert_array_equal(draws[:, 3], draws[:, 2])
    assert (np.diff(draws[:, :3], axis=1) < 0).all()
