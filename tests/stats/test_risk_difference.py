"""The Mantel-Haenszel pooled risk difference."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from haltwise.stats.risk_difference import EMPTY, _greenland_robins, _sato, pooled, risk_difference

# METHODS section 1: strata of the published unaided episodes, t = 3..6.
PUBLISHED = ([707, 432, 404, 396], [4, 3, 1, 3], [64, 112, 139, 140], [4, 10, 10, 8])

strata = st.lists(
    st.tuples(st.integers(0, 50), st.integers(0, 50), st.floats(0, 1), st.floats(0, 1)),
    min_size=1,
    max_size=6,
).map(
    lambda rows: tuple(
        np.array(part)
        for part in zip(*((a, round(p * a), b, round(q * b)) for a, b, p, q in rows), strict=True)
    )
)


def test_published_contrast() -> None:
    """The published strata give the published contrast to the last digit."""
    estimate = risk_difference(*PUBLISHED)
    assert estimate.value == pytest.approx(-0.06480060445458118, abs=1e-15)
    assert estimate.n == 2394
    assert estimate.low < estimate.value < estimate.high


@pytest.mark.parametrize(
    ("variance", "low", "high"), [("sato", 0.0313, 0.2284), ("greenland-robins", 0.0348, 0.2249)]
)
def test_eight_centres(variance, low: float, high: float) -> None:  # type: ignore[no-untyped-def]
    """Agresti (2013, table 6.9, p. 231): difference .130; intervals as R's cicalc prints them."""
    # cicalc::ci_prop_diff_mh_strata(sato_var = TRUE and FALSE) prints (0.0313, 0.2284) and
    # (0.0348, 0.2249) for these eight centres.
    x1, rest1 = np.array([11, 16, 14, 2, 6, 1, 1, 4]), np.array([25, 4, 5, 14, 11, 10, 4, 2])
    x0, rest0 = np.array([10, 22, 7, 1, 0, 0, 1, 6]), np.array([27, 10, 12, 16, 12, 10, 8, 1])
    estimate = risk_difference(x1 + rest1, x1, x0 + rest0, x0, variance=variance)
    assert estimate.value == pytest.approx(0.130, abs=5e-4)
    assert (estimate.low, estimate.high) == pytest.approx((low, high), abs=5e-5)
    assert estimate.n == 273


def test_definition_by_hand() -> None:
    """Two strata by hand: weights 10*30/40 = 7.5 and 20*20/40 = 10."""
    # (7.5 (5/10 - 3/30) + 10 (4/20 - 8/20)) / 17.5 = (3 - 2) / 17.5
    assert pooled([10, 20], [5, 4], [30, 20], [3, 8]) == pytest.approx(1 / 17.5, abs=1e-15)


def test_one_stratum_is_the_plain_difference() -> None:
    """With one stratum Greenland-Robins is the textbook variance p q / n of each group."""
    estimate = risk_difference([50], [10], [40], [20], variance="greenland-robins", level=0.9)
    half = 1.6448536269514722 * math.sqrt(0.2 * 0.8 / 50 + 0.5 * 0.5 / 40)
    assert estimate.value == pytest.approx(-0.3)
    assert (estimate.low, estimate.high) == pytest.approx((-0.3 - half, -0.3 + half))


@pytest.mark.parametrize(
    ("n1", "n0", "p1", "p0"), [(3, 5, 0.3, 0.6), (1, 4, 0.5, 0.2), (2, 2, 0.9, 0.4)]
)
def test_sato_is_unbiased_at_the_true_difference(n1: int, n0: int, p1: float, p0: float) -> None:
    """Over all outcomes of a stratum the Sato variance averages to the exact variance."""
    # Outside oracle: the exact binomial variance of x1/n1 - x0/n0, by enumeration of the outcomes.
    # Sato's numerator at the true difference is unbiased for w^2 times it (Sato 1989, eq. 2).
    mean = sum(
        binom.pmf(x1, n1, p1)
        * binom.pmf(x0, n0, p0)
        * _sato_raw(p1 - p0, float(n1), float(x1), float(n0), float(x0))
        for x1, x0 in product(range(n1 + 1), range(n0 + 1))
    )
    assert mean == pytest.approx(p1 * (1 - p1) / n1 + p0 * (1 - p0) / n0, rel=1e-12)


def _sato_raw(value: float, *cells: float) -> float:
    # Two copies of a stratum halve the variance and, unlike one, leave the floor at 0 untouched.
    n1, x1, n0, x0 = (np.array([cell]) for cell in cells)
    n = n1 + n0
    p = (n1**2 * x0 - n0**2 * x1 + n1 * n0 * (n0 - n1) / 2) / n**2
    q = (x1 * (n0 - x0) + x0 * (n1 - x1)) / (2 * n)
    raw = float((value * p + q)[0] / (n1 * n0 / n)[0] ** 2)
    assert _sato(value, n1, x1, n0, x0) == pytest.approx(max(raw, 0.0))
    return raw


def test_variances_agree_on_many_observations() -> None:
    """On large strata both variances estimate the same thing."""
    n1, n0 = np.array([4000, 9000]), np.array([5000, 3000])
    x1, x0 = np.array([1200, 1800]), np.array([2000, 900])
    sato = risk_difference(n1, x1, n0, x0)
    other = risk_difference(n1, x1, n0, x0, variance="greenland-robins")
    assert sato.high - sato.low == pytest.approx(other.high - other.low, rel=5e-3)


@pytest.mark.parametrize("variance", [_sato, _greenland_robins])
def test_variance_matches_simulation(variance) -> None:  # type: ignore[no-untyped-def]
    """The mean variance estimate equals the spread of the estimate over simulated data sets."""
    rng = np.random.default_rng(5)
    n1, n0 = np.array([40.0, 60.0, 80.0]), np.array([60.0, 50.0, 30.0])
    x1 = rng.binomial(n1.astype(int), [0.3, 0.2, 0.4], size=(4000, 3)).astype(float)
    x0 = rng.binomial(n0.astype(int), [0.4, 0.3, 0.5], size=(4000, 3)).astype(float)
    values = pooled(n1, x1, n0, x0)
    estimates = [variance(v, n1, a, n0, b) for v, a, b in zip(values[:500], x1, x0, strict=False)]
    # The s.e. of a variance from 4,000 draws is 2.2 %.
    assert np.mean(estimates) == pytest.approx(values.var(), rel=0.09)


@given(strata)
def test_swapping_the_groups_flips_the_sign(data) -> None:  # type: ignore[no-untyped-def]
    """Group 0 minus group 1 is the negative of group 1 minus group 0, interval and all."""
    n1, x1, n0, x0 = data
    there, back = risk_difference(n1, x1, n0, x0), risk_difference(n0, x0, n1, x1)
    assert there.defined == back.defined
    if there.defined:
        assert there.value == pytest.approx(-back.value, abs=1e-12)
        assert there.low == pytest.approx(-back.high, abs=1e-9)


@given(strata)
def test_empty_groups_carry_no_weight(data) -> None:  # type: ignore[no-untyped-def]
    """Strata in which one group is empty change nothing; without others it is undefined."""
    n1, x1, n0, x0 = data
    both = (n1 > 0) & (n0 > 0)
    estimate = risk_difference(n1, x1, n0, x0)
    if not both.any():
        assert not estimate.defined
        assert estimate.note == EMPTY
        return
    assert estimate == risk_difference(n1[both], x1[both], n0[both], x0[both])
    assert -1 <= estimate.value <= 1


def test_pooled_works_on_many_tables_at_once() -> None:
    """The last axis is the strata; leading axes are separate tables, undefined ones NaN."""
    n1 = np.array([[10, 20], [0, 20]])
    n0 = np.array([[30, 20], [30, 0]])
    result = pooled(n1, np.array([[5, 4], [0, 4]]), n0, np.array([[3, 8], [3, 0]]))
    assert result[0] == pytest.approx(1 / 17.5)
    assert np.isnan(result[1])


def test_ten_million_observations_do_not_overflow() -> None:
    """Counts of 1e7 a cell are exact in the value and leave a positive width."""
    estimate = risk_difference([10**7], [5 * 10**6], [10**7], [4 * 10**6])
    assert estimate.value == pytest.approx(0.1, abs=1e-12)
    assert 0 < estimate.high - estimate.low < 1e-3


def test_wrong_input_is_refused() -> None:
    """Unequal shapes and impossible counts are errors, not results."""
    with pytest.raises(ValueError, match="one value a stratum"):
        risk_difference([1, 2], [1], [1], [1])
    with pytest.raises(ValueError, match="between 0 and"):
        risk_difference([1], [2], [1], [1])
    with pytest.raises(ValueError, match="level"):
        risk_difference([1], [1], [1], [1], level=95)
