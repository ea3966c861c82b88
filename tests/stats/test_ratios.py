"""Statistics of summed columns."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from haltwise.stats.bootstrap import poisson_resample, resample
from haltwise.stats.ratios import difference, mean_of_ratios, pooled_risk_difference, ratio
from haltwise.stats.risk_difference import risk_difference

sums = arrays(np.float64, (5, 8), elements=st.integers(0, 9).map(float))


@given(sums)
def test_ratio_is_plain_division(values: np.ndarray) -> None:
    """A ratio divides column by column and is NaN over 0."""
    got = ratio(0, 1)(values)
    for row, result in zip(values, got, strict=True):
        expected = row[0] / row[1] if row[1] else np.nan
        assert result == pytest.approx(expected, nan_ok=True)


@given(sums)
def test_mean_of_ratios_weighs_each_alike(values: np.ndarray) -> None:
    """The mean of ratios is the average of single ratios, undefined as soon as one is."""
    got = mean_of_ratios([0, 2, 4], [1, 3, 5])(values)
    singles = np.array([ratio(i, i + 1)(values) for i in (0, 2, 4)])
    np.testing.assert_allclose(got, singles.mean(axis=0))


@given(sums)
def test_pooled_risk_difference_reads_its_columns(values: np.ndarray) -> None:
    """Two strata spread over columns give the pooled difference of the same strata."""
    values[:, [1, 3, 5, 7]] = np.minimum(values[:, [1, 3, 5, 7]], values[:, [0, 2, 4, 6]])
    got = pooled_risk_difference([0, 4], [1, 5], [2, 6], [3, 7])(values)
    for row, result in zip(values, got, strict=True):
        estimate = risk_difference(row[[0, 4]], row[[1, 5]], row[[2, 6]], row[[3, 7]])
        assert result == pytest.approx(estimate.value, nan_ok=True)


@given(sums)
def test_difference_subtracts(values: np.ndarray) -> None:
    """A difference of a statistic with itself is 0 where it is defined."""
    got = difference(ratio(0, 1), ratio(0, 1))(values)
    assert ((got == 0) == (values[:, 1] != 0)).all()


@pytest.mark.parametrize("draw", [resample, poisson_resample])
def test_joint_bootstrap_of_mean6(draw) -> None:  # type: ignore[no-untyped-def]
    """The s.e. of mean6 over six regimes of the same questions is that of the question means."""
    rng = np.random.default_rng(4)
    hard = rng.beta(1, 1, 150)
    success = (rng.random((150, 6)) < hard[:, None]).astype(float)
    rows = np.column_stack([success, np.ones((150, 6))])
    statistic = mean_of_ratios(range(6), range(6, 12))
    estimate = draw(rows, replicates=10_000).estimate(statistic)
    # Complete data: mean6 is the mean over questions of the question's mean, hence this s.e.;
    # resampling each regime apart would give about half of it.
    se = success.mean(axis=1).std() / np.sqrt(150)
    assert estimate.value == pytest.approx(success.mean())
    assert estimate.high - estimate.low == pytest.approx(2 * 1.96 * se, rel=0.06)


def test_wrong_input_is_refused() -> None:
    """Unequal or empty lists of columns are errors."""
    with pytest.raises(ValueError, match="at least one"):
        mean_of_ratios([0], [1, 2])
    with pytest.raises(ValueError, match="at least one"):
        mean_of_ratios([], [])
