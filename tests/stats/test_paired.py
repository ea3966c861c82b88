"""Paired proportions of two arms."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize_scalar

from haltwise.stats.bootstrap import resample
from haltwise.stats.paired import PairedTable, mcnemar, newcombe, side_by_side, tango
from haltwise.stats.ratios import difference, ratio

# Fagerland, Lydersen and Laake 2014 (Statistics in Medicine 33:2850): airway hyper-responsiveness
# (Bentur 2009) and complete response (Cavo 2012).
BENTUR = PairedTable(1, 1, 7, 12)
CAVO = PairedTable(59, 6, 16, 80)

cells = st.integers(0, 40)
tables = st.builds(PairedTable, cells, cells, cells, cells).filter(lambda table: table.n > 0)


@pytest.mark.parametrize(
    ("table", "value", "low", "high"),
    [(BENTUR, -0.286, -0.517, -0.026), (CAVO, -0.0621, -0.1240, -0.0054)],
)
def test_tango_in_print(table: PairedTable, value: float, low: float, high: float) -> None:
    """R's ratesci::rdpairci and contingencytables print these score intervals."""
    estimate = tango(table)
    digits = 5e-4 if table is BENTUR else 5e-5
    assert (estimate.value, estimate.low, estimate.high) == pytest.approx(
        (value, low, high), abs=digits
    )
    assert estimate.n == table.n


@pytest.mark.parametrize(
    ("table", "low", "high"),
    # ratesci's MOVER-NW; R's biostatUZH::confIntPairedProportion has the same corrected phi, and
    # for CAVO, with cross 4624 far above n/2, contingencytables' uncorrected phi differs in the
    # fourth digit only: -.1186 to -.0046.
    [(BENTUR, -0.507, -0.026), (CAVO, -0.1186, -0.0046)],
)
def test_newcombe_in_print(table: PairedTable, low: float, high: float) -> None:
    """The square-and-add interval is the one that R packages print for published tables."""
    estimate = newcombe(table)
    digits = 5e-4 if table is BENTUR else 5e-5
    assert (estimate.low, estimate.high) == pytest.approx((low, high), abs=digits)


@given(tables, st.sampled_from([0.8, 0.95, 0.99]))
def test_tango_by_brute_force(table: PairedTable, level: float) -> None:
    """At each end the score test, its nuisance rate maximised numerically, is at its limit."""
    _, first, second, _ = table
    n, estimate = table.n, tango(table, level=level)
    z = scipy.stats.norm.ppf((1 + level) / 2)
    for end in (estimate.low, estimate.high):
        if abs(end) > 1 - 1e-9:
            assert first - second == math.copysign(n, end)
            continue

        def loss(rate: float, gap: float = end) -> float:
            same = 1 - 2 * rate - gap
            return -sum(
                count * math.log(max(p, 1e-300))
                for count, p in ((second, rate), (first, rate + gap), (n - first - second, same))
                if count
            )

        span = (max(0.0, -end), (1 - end) / 2)
        rate = minimize_scalar(loss, bounds=span, method="bounded", options={"xatol": 1e-11}).x
        rate = min([rate, *span], key=loss)
        score = (first - second - n * end) / math.sqrt(n * (2 * rate + end * (1 - end)))
        assert abs(score) == pytest.approx(z, rel=2e-3)


@given(tables, st.sampled_from([0.8, 0.95]))
def test_tango_agrees_with_the_score_test_at_zero(table: PairedTable, level: float) -> None:
    """Zero is outside iff McNemar's chi-square (b - c)^2 / (b + c) exceeds its quantile."""
    _, first, second, _ = table
    estimate = tango(table, level=level)
    chi2 = (first - second) ** 2 / (first + second) if first + second else 0.0
    limit = scipy.stats.chi2.ppf(level, 1)
    if abs(chi2 - limit) > 1e-6:
        assert (not estimate.low <= 0 <= estimate.high) == (chi2 > limit)


@given(tables)
def test_newcombe_from_its_definition(table: PairedTable) -> None:
    """Square-and-add of SciPy's Wilson intervals, phi solved from the correlation."""
    both, first, second, neither = table
    n, estimate = table.n, newcombe(table)
    one = scipy.stats.binomtest(both + first, n).proportion_ci(method="wilson")
    two = scipy.stats.binomtest(both + second, n).proportion_ci(method="wilson")
    p1, p2 = (both + first) / n, (both + second) / n
    corrected = both * neither - first * second
    if corrected > 0:
        corrected = max(corrected - n / 2, 0)
    spread = n**2 * math.sqrt(p1 * (1 - p1) * p2 * (1 - p2))
    phi = corrected / spread if spread > 1e-9 else 0
    down, up = (p1 - one.low, two.high - p2), (one.high - p1, p2 - two.low)
    for end, (a, b) in ((estimate.low, down), (estimate.high, up)):
        reach = math.sqrt(max(a * a - 2 * phi * a * b + b * b, 0))
        assert abs(end - estimate.value) == pytest.approx(reach, abs=1e-9)


@given(tables)
def test_swapping_the_arms_flips_the_interval(table: PairedTable) -> None:
    """First minus second is the mirror image of second minus first."""
    both, first, second, neither = table
    for interval in (tango, newcombe):
        there, back = interval(table), interval(PairedTable(both, second, first, neither))
        assert (there.value, there.low, there.high) == pytest.approx(
            (-back.value, -back.high, -back.low), abs=1e-9
        )
        assert -1 <= there.low <= there.value <= there.high <= 1


@pytest.mark.parametrize("interval", [tango, newcombe])
def test_coverage(interval) -> None:  # type: ignore[no-untyped-def]
    """With 60 correlated pairs the 95 % interval covers at about its level."""
    rng = np.random.default_rng(3)
    drawn = rng.multinomial(60, [0.45, 0.2, 0.1, 0.25], size=600)
    ends = [interval(PairedTable(*map(int, row))) for row in drawn]
    covered = np.mean([e.low <= 0.1 <= e.high for e in ends])
    assert 0.925 <= covered <= 0.98  # s.e. .009


@given(tables)
def test_mcnemar_is_the_binomial_test(table: PairedTable) -> None:
    """The exact p-value is SciPy's binomial test of the discordant pairs against one half."""
    _, first, second, _ = table
    expected = scipy.stats.binomtest(first, first + second).pvalue if first + second else 1.0
    assert mcnemar(table) == pytest.approx(expected, rel=1e-9)


def test_mcnemar_in_print() -> None:
    """R's contingencytables prints P = 0.052479 for the published table."""
    assert mcnemar(CAVO) == pytest.approx(0.052479, abs=5e-7)


def test_without_discordant_pairs_the_score_interval_is_known() -> None:
    """With no discordant pair the ends solve d^2 n = z^2 |d| (1 - |d|): |d| = z^2 / (n + z^2)."""
    z2 = scipy.stats.norm.ppf(0.975) ** 2
    estimate = tango(PairedTable(5, 0, 0, 5))
    assert (estimate.low, estimate.high) == pytest.approx((-z2 / (10 + z2), z2 / (10 + z2)))


def test_ten_million_pairs() -> None:
    """Large counts lose no digits: both intervals meet the normal one."""
    table = PairedTable(4 * 10**6, 10**6, 9 * 10**5, 41 * 10**5)
    n, gap = table.n, 10**5
    half = 1.959964 * math.sqrt(19 * 10**5 - gap**2 / n) / n
    for interval in (tango, newcombe):
        estimate = interval(table)
        assert estimate.value == pytest.approx(gap / n)
        assert estimate.high - estimate.value == pytest.approx(half, rel=1e-3)


def test_table_of_outcomes() -> None:
    """Aligned outcomes are counted cell by cell."""
    assert PairedTable.of([1, 1, 0, 0, 1], [1, 0, 1, 0, 0]) == (1, 2, 1, 1)
    with pytest.raises(ValueError, match="one length"):
        PairedTable.of([1], [1, 0])
    with pytest.raises(ValueError, match="true or false"):
        PairedTable.of([1, 2], [1, 0])


def test_no_pairs_and_impossible_counts() -> None:
    """Nothing to compare is undefined; a negative count is an error."""
    empty = PairedTable(0, 0, 0, 0)
    assert tango(empty).note == newcombe(empty).note == "no pairs"
    assert mcnemar(empty) == 1
    for function in (tango, newcombe, mcnemar):
        with pytest.raises(ValueError, match="from 0 up"):
            function(PairedTable(1, -1, 1, 1))


def test_side_by_side_keeps_the_pairing() -> None:
    """Joined rows bootstrap a difference as tightly as the pairs allow; strangers are counted."""
    rng = np.random.default_rng(0)
    skill = rng.beta(1, 1, 200)
    first = {i: [float(rng.random() < s), 1.0] for i, s in enumerate(skill)}
    second = {i: [row[0] if rng.random() < 0.9 else 0.0, 1.0] for i, row in first.items()}
    del second[7]
    second[999] = [1.0, 1.0]
    rows, left_out = side_by_side(first, second)
    assert rows.shape == (199, 4)
    assert left_out == 2
    estimate = resample(rows, replicates=8000).estimate(difference(ratio(0, 1), ratio(2, 3)))
    gaps = rows[:, 0] - rows[:, 2]
    width = 2 * 1.96 * gaps.std() / math.sqrt(199)
    assert estimate.value == pytest.approx(gaps.mean())
    assert estimate.high - estimate.low == pytest.approx(width, rel=0.1)


def test_side_by_side_of_strangers_is_undefined() -> None:
    """Arms without a common cluster leave nothing to resample, and all clusters left out."""
    rows, left_out = side_by_side({1: [1, 1]}, {2: [0, 1], 3: [1, 1]})
    assert left_out == 3
    drawn = resample(rows)
    assert drawn.estimate(difference(ratio(0, 1), ratio(2, 3))).note == "no clusters"
    assert math.isnan(drawn.p_value(difference(ratio(0, 1), ratio(2, 3))))


def test_brentq_agrees_on_the_ends() -> None:
    """The ends of the published table solve the score equation with SciPy's root finder."""
    n, b, c = CAVO.n, CAVO.first, CAVO.second

    def statistic(gap: float) -> float:
        # Likelihood equation of the nuisance rate q: c/q + b/(q + gap) = 2 (n-b-c)/(1 - 2q - gap).
        q = brentq(
            lambda q: c / q + b / (q + gap) - 2 * (n - b - c) / (1 - 2 * q - gap),
            max(0, -gap) + 1e-12, (1 - gap) / 2 - 1e-12, xtol=1e-14,
        )  # fmt: skip
        return float((b - c - n * gap) / math.sqrt(n * (2 * q + gap * (1 - gap))))

    z = scipy.stats.norm.ppf(0.975)
    low = brentq(lambda gap: statistic(gap) - z, -0.5, -0.0622)
    high = brentq(lambda gap: statistic(gap) + z, -0.062, 0.5)
    estimate = tango(CAVO)
    assert (estimate.low, estimate.high) == pytest.approx((low, high), abs=1e-10)
