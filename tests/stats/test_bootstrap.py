"""The cluster bootstrap, classical and Poisson."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from haltwise.stats.bootstrap import Resamples, poisson_resample, resample
from haltwise.stats.pool import pool
from haltwise.stats.ratios import difference, pooled_risk_difference, ratio

SCHEMES = [resample, poisson_resample]
both_schemes = pytest.mark.parametrize("draw", SCHEMES, ids=["multinomial", "poisson"])

matrices = st.integers(1, 40).flatmap(
    lambda n: arrays(np.float64, (n, 3), elements=st.integers(0, 3).map(float))
)


def sample(clusters: int, seed: int = 1) -> np.ndarray:
    """Return clusters x (sum, size) with sizes 1..4 and a mean of about 0.3."""
    rng = np.random.default_rng(seed)
    size = rng.integers(1, 5, clusters)
    return np.column_stack([rng.binomial(size, rng.beta(2, 5, clusters)), size]).astype(float)


@both_schemes
def test_interval_agrees_with_scipy(draw) -> None:  # type: ignore[no-untyped-def]
    """The percentile interval of a ratio is SciPy's, up to Monte Carlo error."""
    rows = sample(250)
    theirs = scipy.stats.bootstrap(
        (rows[:, 0], rows[:, 1]),
        lambda x, n, axis: x.sum(axis=axis) / n.sum(axis=axis),
        paired=True,
        vectorized=True,
        n_resamples=20_000,
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    ours = draw(rows, replicates=20_000, seed=3).estimate(ratio(0, 1))
    # The s.e. of a 2.5 % quantile of 20,000 normal draws is 2 % of the standard deviation.
    width = (theirs.high - theirs.low) / 3.92
    assert ours.low == pytest.approx(theirs.low, abs=0.1 * width)
    assert ours.high == pytest.approx(theirs.high, abs=0.1 * width)
    assert ours.n == 250


@both_schemes
def test_spread_is_the_plug_in_standard_error(draw) -> None:  # type: ignore[no-untyped-def]
    """The resamples of a plain sum spread as theory says: sqrt(sum x^2 - (sum x)^2 / n) and so."""
    rows = sample(300)[:, :1]
    drawn = draw(rows, replicates=20_000, seed=0).sums[:, 0]
    x = rows[:, 0]
    # Multinomial weights have covariance I - 1/n, Poisson weights I.
    expected = x @ x - (x.sum() ** 2 / 300 if draw is resample else 0)
    assert drawn.var() == pytest.approx(expected, rel=0.05)
    assert drawn.mean() == pytest.approx(x.sum(), abs=4 * np.sqrt(expected / 20_000))


@both_schemes
def test_counts_stand_for_repeated_rows(draw) -> None:  # type: ignore[no-untyped-def]
    """Pooled rows with counts have the same law as the rows written out."""
    rows, counts = pool(sample(400))
    by_count = draw(rows, counts=counts, replicates=8000, seed=0)
    written = draw(np.repeat(rows, counts, axis=0), replicates=8000, seed=9)
    assert by_count.clusters == written.clusters == 400
    np.testing.assert_allclose(by_count.total, written.total)
    for statistic in (ratio(0, 1), lambda sums: sums[:, 0]):
        test = scipy.stats.ks_2samp(by_count.replicates(statistic), written.replicates(statistic))
        assert test.pvalue > 1e-3


@both_schemes
def test_coverage(draw) -> None:  # type: ignore[no-untyped-def]
    """Over 300 simulated samples the 90 % interval covers the truth about nine times in ten."""
    truth = 2 / 7  # E(sum) / E(size): the Beta(2, 5) mean, independent of the size
    covered = [
        (e := draw(sample(120, seed), replicates=400, seed=seed).estimate(ratio(0, 1), level=0.9))
        and e.low <= truth <= e.high
        for seed in range(300)
    ]
    # Binomial s.e. at 300 samples: .017; percentile intervals run a little short.
    assert 0.84 <= np.mean(covered) <= 0.96


@given(matrices, st.randoms(use_true_random=False), st.integers(0, 2**70))
@settings(max_examples=50)
def test_sharding_changes_nothing(rows, random, seed) -> None:  # type: ignore[no-untyped-def]
    """Any partition of the clusters, in any order, merges to the resamples of the whole."""
    order = list(range(len(rows)))
    random.shuffle(order)
    shards: list[list[int]] = [[] for _ in range(random.randint(1, 5))]
    for index in order:
        random.choice(shards).append(index)
    pools = [pool(rows[shard]) for shard in shards]
    distinct = np.vstack([part for part, _ in pools])
    counts = np.concatenate([part for _, part in pools])
    merged = poisson_resample(distinct, counts=counts, replicates=50, seed=seed)
    whole = poisson_resample(rows, replicates=50, seed=seed)
    assert merged.sums.tobytes() == whole.sums.tobytes()
    assert merged.estimate(ratio(0, 1)).to_json() == whole.estimate(ratio(0, 1)).to_json()


def test_number_types_do_not_show() -> None:
    """Bytes, whole numbers and floats of the same values give the same resamples."""
    rows = sample(80)
    expected = poisson_resample(rows, replicates=30, seed=4)
    for kind in (np.uint8, np.int32, np.int64):
        got = poisson_resample(rows.astype(kind), replicates=30, seed=4)
        assert got.sums.tobytes() == expected.sums.tobytes()
        assert got.total.tobytes() == expected.total.tobytes()


@pytest.mark.parametrize("count", [1, 2, 7, 40, 300, 10**4, 10**7])
def test_poisson_weights_have_the_poisson_law(count: int) -> None:
    """The weight of a vector counted c times is Poisson(c): by SciPy's distribution."""
    # A column of ones sums to the weight itself.
    weights = np.concatenate(
        [
            poisson_resample([[1.0, i]], counts=[count], replicates=5000, seed=7).sums[:, 0]
            for i in range(4)
        ]
    )
    law = scipy.stats.poisson(count)
    cuts = np.unique(law.ppf(np.linspace(0.05, 0.95, 15)))
    observed = np.histogram(weights, [-np.inf, *(cuts + 0.5), np.inf])[0]
    expected = np.diff([0, *law.cdf(cuts), 1]) * len(weights)
    kept = expected > 5
    assert (
        scipy.stats.chisquare(
            observed[kept], expected[kept] * observed[kept].sum() / expected[kept].sum()
        ).pvalue
        > 1e-4
    )


def test_weights_are_uncorrelated() -> None:
    """Vectors, resamples and seeds each bring independent draws."""
    ones = np.column_stack([np.eye(6), np.arange(6)])
    drawn = poisson_resample(ones, replicates=20_000, seed=0).sums[:, :6]
    again = poisson_resample(ones, replicates=20_000, seed=1).sums[:, :6]
    for left, right in ((drawn[:-1], drawn[1:]), (drawn, again)):
        off = np.corrcoef(left.T, right.T)[:6, 6:]
        assert np.abs(off).max() < 0.04  # 5 s.e. of a correlation of 20,000 pairs
    assert np.abs(np.corrcoef(drawn.T) - np.eye(6)).max() < 0.04


@both_schemes
def test_a_seed_fixes_everything(draw) -> None:  # type: ignore[no-untyped-def]
    """The same seed gives the same resamples, another seed others."""
    rows = sample(50)
    same = [draw(rows, replicates=20, seed=5).sums.tobytes() for _ in range(2)]
    assert same[0] == same[1] != draw(rows, replicates=20, seed=6).sums.tobytes()


@pytest.mark.parametrize("replicates", [1, 100, 101])
def test_chunks_do_not_show(replicates: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounding the memory changes no Poisson resample of whole numbers."""
    rows = sample(60)
    expected = poisson_resample(rows, replicates=replicates, seed=5).sums
    monkeypatch.setattr("haltwise.stats.bootstrap._CHUNK", 700)
    chunked = poisson_resample(rows, replicates=replicates, seed=5).sums
    np.testing.assert_array_equal(chunked, expected)


@pytest.mark.parametrize("chunk", [50, 700, 1 << 17])
@pytest.mark.parametrize("counts", [None, [3] * 60])
def test_every_resample_has_as_many_clusters(
    chunk: int, counts: list[int] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Multinomial weights sum to the number of clusters, whatever the chunk."""
    monkeypatch.setattr("haltwise.stats.bootstrap._CHUNK", chunk)
    drawn = resample(np.ones((60, 1)), counts=counts, replicates=101)
    np.testing.assert_array_equal(drawn.sums, 180.0 if counts else 60.0)


@both_schemes
def test_undefined_cases(draw) -> None:  # type: ignore[no-untyped-def]
    """No clusters, no denominator, one cluster: each says what is missing."""
    assert draw(np.empty((0, 2))).estimate(ratio(0, 1)).note == "no clusters"
    nothing = draw([[0, 0], [0, 0]], replicates=10).estimate(ratio(0, 1), reason="no searches")
    assert (nothing.defined, nothing.n, nothing.note) == (False, 2, "no searches")
    single = draw([[1, 4]], replicates=10)
    estimate = single.estimate(ratio(0, 1))
    assert estimate.value == 0.25
    assert np.isnan(estimate.low)
    assert estimate.note == "no interval: one cluster"
    assert np.isnan(single.p_value(ratio(0, 1)))


@both_schemes
def test_undefined_resamples_are_counted(draw) -> None:  # type: ignore[no-untyped-def]
    """Resamples without a denominator are left out of the interval and named in the note."""
    rows = [[1, 1], [0, 0], [0, 0], [0, 0], [0, 1]]
    drawn = draw(rows, replicates=1000, seed=0)
    lost = int(np.isnan(drawn.replicates(ratio(0, 1))).sum())
    # Neither of the two clusters with a denominator drawn: (3/5)^5 = .08 or e^-2 = .14.
    assert 40 <= lost <= 190
    estimate = drawn.estimate(ratio(0, 1))
    assert estimate.note == f"undefined in {lost} of 1000 resamples"
    assert (estimate.low, estimate.high) == (0, 1)


@both_schemes
def test_no_spread_is_no_certainty(draw) -> None:  # type: ignore[no-untyped-def]
    """Where no event was ever seen the interval has no width, and the note warns of it."""
    estimate = draw(np.tile([0.0, 4.0], (50, 1)), replicates=100).estimate(ratio(0, 1))
    assert (estimate.value, estimate.low, estimate.high) == (0, 0, 0)
    assert estimate.note == "no resample differs: the width 0 is no certainty"


@both_schemes
def test_ten_million_clusters(draw) -> None:  # type: ignore[no-untyped-def]
    """Ten million pooled clusters give the normal interval of theory."""
    rows, counts = [[0, 1], [1, 1], [2, 3]], [6_000_000, 3_000_000, 1_000_000]
    estimate = draw(rows, counts=counts, replicates=8000).estimate(ratio(0, 1))
    # Ratio p = 5e6 / 12e6; s.e. sqrt(sum c (x - p n)^2) / sum n.
    p = 5 / 12
    se = np.sqrt(6e6 * p**2 + 3e6 * (1 - p) ** 2 + 1e6 * (2 - 3 * p) ** 2) / 12e6
    assert estimate.value == pytest.approx(p)
    assert estimate.n == 10_000_000
    assert estimate.high - estimate.low == pytest.approx(2 * 1.96 * se, rel=0.06)


@both_schemes
def test_p_value(draw) -> None:  # type: ignore[no-untyped-def]
    """The p-value of a paired difference agrees with the normal test and with its interval."""
    rng = np.random.default_rng(2)
    gap = rng.normal(0.2, 1.0, 200)
    rows = np.column_stack([gap, np.zeros(200), np.ones(200)])
    drawn = draw(rows, replicates=20_000, seed=1)
    statistic = difference(ratio(0, 2), ratio(1, 2))
    expected = scipy.stats.ttest_1samp(gap, 0).pvalue
    assert drawn.p_value(statistic) == pytest.approx(expected, abs=0.15 * expected + 0.002)
    for level in (0.5, 0.9, 0.95, 0.99, 0.999):
        estimate = drawn.estimate(statistic, level=level)
        outside = not estimate.low <= 0 <= estimate.high
        assert outside == (drawn.p_value(statistic) < 1 - level)
    assert drawn.p_value(lambda sums: 0 * sums[:, 0]) == 1.0
    assert drawn.p_value(statistic, null=-5) == pytest.approx(2 / 20_001)


@both_schemes
def test_published_interval(draw, shared_data: Callable[[str], Path]) -> None:  # type: ignore[no-untyped-def]
    """On the published episodes the contrast has the published interval within .004."""
    clusters: dict[str, np.ndarray] = defaultdict(lambda: np.zeros((4, 4)))
    for line in (
        shared_data("judged_useless/qwen3-8b_unaided_test300.jsonl").read_text().splitlines()
    ):
        episode = json.loads(line)
        cells, run = clusters[episode["question_id"]], 0
        for t in range(1, len(episode["actions"])):
            run = run + 1 if episode["judgments"][t - 1] == "USELESS" else 0
            if 3 <= t <= 6 and (run == t or 1 <= run <= t - 2):
                group = 0 if run == t else 2
                cells[group, t - 3] += 1
                cells[group + 1, t - 3] += episode["actions"][t] == "finish"
    rows = np.array([cells.ravel() for cells in clusters.values()])
    statistic = pooled_risk_difference(range(4), range(4, 8), range(8, 12), range(12, 16))
    for seed in range(3):
        estimate = draw(rows, seed=seed).estimate(statistic)
        assert estimate.value == pytest.approx(-0.06480060445458118, abs=1e-12)
        assert estimate.low == pytest.approx(-0.0952, abs=0.004)
        assert estimate.high == pytest.approx(-0.0387, abs=0.004)


def test_wrong_input_is_refused() -> None:
    """A statistic of the wrong shape, no resamples and odd rows are errors."""
    with pytest.raises(ValueError, match="one number a resample"):
        resample([[1.0]]).estimate(lambda sums: sums)
    for draw in SCHEMES:
        with pytest.raises(ValueError, match="from 1 up"):
            draw([[1.0]], replicates=0)
        with pytest.raises(ValueError, match="whole numbers"):
            draw([[1.0]], counts=[-1])
    with pytest.raises(ValueError, match="level"):
        Resamples(np.ones(1), np.ones((2, 1)), 2, "").estimate(ratio(0, 0), level=1)
