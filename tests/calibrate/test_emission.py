"""What votes are likely: SciPy's distributions are the oracle."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import betabinom, binom

from haltwise.calibrate.emission import effective, log_choose, log_likelihood

_means = st.floats(0.01, 0.99)
_iccs = st.just(0.0) | st.floats(0.001, 0.9)


@given(st.integers(0, 12), _means, _iccs)
def test_probabilities_are_those_of_scipy(votes: int, mean: float, icc: float) -> None:
    """With the coefficient added, every count has its (beta-)binomial probability."""
    counts = np.arange(votes + 1)
    given_votes = np.full_like(counts, votes)
    ours = log_likelihood(counts, given_votes, mean, icc) + log_choose(given_votes, counts)
    if icc == 0:
        expected = binom.logpmf(counts, votes, mean)
    else:
        size = (1 - icc) / icc  # a + b; the ICC of a beta-binomial is 1 / (a + b + 1)
        expected = betabinom.logpmf(counts, votes, mean * size, (1 - mean) * size)
    np.testing.assert_allclose(ours, expected, rtol=1e-6, atol=1e-6)


@given(
    st.lists(st.integers(0, 8), min_size=1, max_size=30),
    st.floats(0.05, 0.95),
    st.floats(0.01, 0.8),
)
def test_a_step_on_effective_counts_never_lowers_the_likelihood(
    accepts: list[int], mean: float, icc: float
) -> None:
    """mean <- A / (A + B) is a minorise-maximise step of the beta-binomial likelihood."""
    counts = np.array(accepts)
    votes = np.full_like(counts, 8)
    yes, no = effective(counts, votes, mean, icc)
    after = yes.sum() / (yes.sum() + no.sum())
    gain = log_likelihood(counts, votes, after, icc) - log_likelihood(counts, votes, mean, icc)
    assert gain.sum() >= -1e-9


@given(st.integers(0, 8), st.floats(0.05, 0.95), _iccs)
def test_effective_counts_give_the_score(accepts: int, mean: float, icc: float) -> None:
    """(1 - mean) A - mean B is the derivative of the log likelihood in logit(mean)."""
    counts, votes = np.array([accepts]), np.array([8])
    yes, no = effective(counts, votes, mean, icc)
    h = 1e-5
    around = [
        log_likelihood(counts, votes, 1 / (1 + (1 - mean) / mean * np.exp(-shift)), icc)[0]
        for shift in (h, -h)
    ]
    slope = (around[0] - around[1]) / (2 * h)
    np.testing.assert_allclose(((1 - mean) * yes - mean * no)[0], slope, rtol=1e-4, atol=1e-4)


def test_independent_votes_are_counted_in_full() -> None:
    """Without correlation the effective counts are the counts themselves."""
    yes, no = effective(np.array([3]), np.array([8]), 0.4, 0)
    assert (yes[0], no[0]) == (3, 5)
