"""Intervals for one proportion or mean."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from haltwise.stats.proportions import beta_interval, clustered_mean, clustered_proportion, wilson

counts = st.integers(1, 10**7).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(counts, st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_wilson_equals_scipy(events_n: tuple[int, int], level: float) -> None:
    """Wilson's interval is SciPy's for every count up to ten million."""
    events, n = events_n
    ours = wilson(events, n, level=level)
    theirs = scipy.stats.binomtest(events, n).proportion_ci(level, method="wilson")
    assert ours.value == events / n
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    assert 0 <= ours.low <= ours.value <= ours.high <= 1


def test_wilson_in_print() -> None:
    """Newcombe 1998 (Statistics in Medicine 17:857), table I, method 3: 81 of 263, 0 of 20."""
    many, none = wilson(81, 263), wilson(0, 20)
    assert (many.low, many.high) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert (none.low, none.high) == pytest.approx((0.0, 0.1611), abs=5e-5)


@given(counts, st.sampled_from([(0.5, 0.5), (1.0, 1.0), (2.0, 7.0)]))
def test_beta_interval_equals_scipy(events_n: tuple[int, int], prior: tuple[float, float]) -> None:
    """The posterior interval is SciPy's beta quantiles."""
    events, n = events_n
    ours = beta_interval(events, n, prior=prior, level=0.9)
    law = scipy.stats.beta(prior[0] + events, prior[1] + n - events)
    assert ours.value == pytest.approx(law.mean(), rel=1e-12)
    assert (ours.low, ours.high) == pytest.approx(law.ppf([0.05, 0.95]), rel=1e-6, abs=1e-12)


def test_beta_interval_without_observations_is_the_prior() -> None:
    """At n = 0 the value is the prior mean, and the note says so."""
    estimate = beta_interval(0, 0)
    assert (estimate.value, estimate.n) == (0.5, 0)
    # Beta(1/2, 1/2) is the arcsine law: quantile sin^2(pi p / 2).
    assert estimate.low == pytest.approx(np.sin(np.pi * 0.025 / 2) ** 2)
    assert "prior" in estimate.note


def test_clustered_mean_equals_statsmodels() -> None:
    """Value and error are those of a constant fitted with clustered errors in statsmodels."""
    import statsmodels.api as sm

    rng = np.random.default_rng(0)
    cluster = np.repeat(np.arange(40), rng.integers(1, 9, 40))
    y = rng.normal(5, 1, 40)[cluster] + rng.normal(0, 1, len(cluster))
    sums, sizes = np.bincount(cluster, y), np.bincount(cluster)
    ours = clustered_mean(sums, sizes)
    fit = sm.OLS(y, np.ones(len(y))).fit(cov_type="cluster", cov_kwds={"groups": cluster})
    # statsmodels' factor is G/(G-1) (n-1)/(n-k) with k = 1: the same.
    half = scipy.stats.t.ppf(0.975, 39) * fit.bse[0]
    assert ours.value == pytest.approx(fit.params[0], rel=1e-12)
    assert ours.high - ours.value == pytest.approx(half, rel=1e-10)
    assert ours.n == len(y)


def test_clustered_mean_of_single_observations_is_the_t_interval() -> None:
    """With one observation a cluster it is Student's interval, by SciPy."""
    y = np.random.default_rng(1).normal(2, 3, 25)
    ours = clustered_mean(y, np.ones(25), level=0.9)
    theirs = scipy.stats.ttest_1samp(y, 0).confidence_interval(0.9)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), rel=1e-9)


@given(counts.filter(lambda c: c[1] <= 500 and c[1] > 1))
def test_clustered_proportion_of_single_observations_is_wilson(events_n: tuple[int, int]) -> None:
    """With one observation a cluster it is Wilson's interval."""
    events, n = events_n
    rows = [1] * events + [0] * (n - events)
    ours, plain = clustered_proportion(rows, [1] * n), wilson(events, n)
    assert (ours.low, ours.high) == pytest.approx((plain.low, plain.high), abs=1e-9)


def test_clustered_proportion_of_copies_counts_each_cluster_once() -> None:
    """Five equal observations a cluster say as much as one: the effective n is about that of 60."""
    first = [1] * 20 + [0] * 40
    ours = clustered_proportion([5 * x for x in first], [5] * 60)
    once = wilson(20, 60)
    assert ours.n == 300
    assert (ours.low, ours.high) == pytest.approx((once.low, once.high), abs=2e-3)


def test_counts_stand_for_repeated_clusters() -> None:
    """Pooled clusters with counts give the numbers of the clusters written out."""
    for function in (clustered_mean, clustered_proportion):
        assert function([1, 0, 2], [2, 1, 2], counts=[3, 2, 1]) == function(
            [1, 1, 1, 0, 0, 2], [2, 2, 2, 1, 1, 2]
        )


def test_all_alike_keeps_an_interval() -> None:
    """Where every observation agrees the number of clusters carries the interval."""
    estimate = clustered_proportion([0] * 30, [4] * 30)
    assert (estimate.value, estimate.low) == (0, 0)
    assert estimate.high == pytest.approx(wilson(0, 30).high)
    assert clustered_proportion([4] * 30, [4] * 30).high == 1


def test_coverage_of_the_clustered_proportion() -> None:
    """On 400 simulated samples of correlated observations the 90 % interval covers as it says."""
    rng = np.random.default_rng(7)
    covered = []
    for _ in range(400):
        sizes = rng.integers(1, 8, 50)
        estimate = clustered_proportion(rng.binomial(sizes, rng.beta(1, 3, 50)), sizes, level=0.9)
        covered.append(estimate.low <= 0.25 <= estimate.high)
    assert 0.85 <= np.mean(covered) <= 0.95  # s.e. .015


def test_undefined_cases() -> None:
    """No observations and one cluster are said, not guessed."""
    assert wilson(0, 0).note == "no observations"
    for function in (clustered_mean, clustered_proportion):
        assert function([], []).note == "no observations"
        assert function([0, 0], [0, 0]).note == "no observations"
        single = function([1, 0], [4, 0])
        assert single.value == 0.25
        assert np.isnan(single.low)
        assert single.note == "no interval: one cluster"


def test_wrong_input_is_refused() -> None:
    """Impossible counts, levels and shapes are errors."""
    with pytest.raises(ValueError, match="between 0 and n"):
        wilson(3, 2)
    with pytest.raises(ValueError, match="level"):
        wilson(1, 2, level=95)
    with pytest.raises(ValueError, match="positive"):
        beta_interval(1, 2, prior=(0, 1))
    with pytest.raises(ValueError, match="size of their cluster"):
        clustered_proportion([3], [2])
    with pytest.raises(ValueError, match="a cluster"):
        clustered_mean([1, 2], [1])
