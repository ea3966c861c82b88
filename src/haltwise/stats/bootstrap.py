"""Cluster bootstrap of statistics that are functions of sums over clusters.

A resample of clusters changes such a statistic only through the sums of the clusters' columns, and
the sums of all resamples are one matrix product: weights (resamples x clusters) times statistics
(clusters x columns). So one draw serves every statistic of the same clusters (jointly: regimes,
arms, differences), and there is no loop over resamples. Two ways to draw the weights:

- `resample`: multinomial weights, the classical bootstrap of clusters;
- `poisson_resample`: independent Poisson weights (Hanley and MacGibbon 2006; Chamandy et al. 2012,
  "Estimating uncertainty for massive data streams"). The weight of a vector is a function of
  (seed, vector, resample, count) alone, so that the result does not depend on how the clusters were
  sharded or ordered.

Knows nothing of what the columns mean; a statistic is any function from (resamples x columns) to
one number a resample (`haltwise.stats.ratios` has the common ones).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import FloatArray, IntArray, check_level, cluster_counts, cluster_matrix
from .estimate import Estimate, undefined
from .hashing import STEP, mixed, row_hashes
from .pool import pool

Statistic = Callable[[FloatArray], FloatArray]
"""From column sums (resamples x columns) to one number a resample, NaN where it is undefined."""

_CHUNK = 1 << 17
"""Weights held at a time: they bound the memory, and the 1 MB they take stays in the cache."""


@dataclass(frozen=True, eq=False)
class Resamples:
    """Column sums of the clusters and of resamples of them."""

    total: FloatArray
    """Sums over the clusters as observed, shape (columns,)."""
    sums: FloatArray
    """Sums over each resample, shape (resamples, columns)."""
    clusters: int
    """Number of clusters that were resampled."""
    method: str
    """How the resamples were drawn."""

    def estimate(
        self,
        statistic: Statistic,
        *,
        level: float = 0.95,
        reason: str = "a denominator is 0",
    ) -> Estimate:
        """Return the statistic with the percentile interval of its resamples; n = clusters.

        Resamples in which the statistic is undefined are left out and counted in the note. One
        cluster gives a value and no interval: it says nothing of how clusters differ. Where every
        resample gives the same value (nobody ever answered) the interval has no width, and the note
        says that this is no certainty.

        Args:
            statistic: what to estimate.
            level: coverage of the interval.
            reason: the note where the statistic itself is undefined.
        """
        check_level(level)
        if not self.clusters:
            return undefined("no clusters", method=self.method, level=level)
        value = self.value(statistic)
        if np.isnan(value):
            return undefined(reason, n=self.clusters, method=self.method, level=level)
        if self.clusters == 1:
            return Estimate(
                value, level=level, n=1, method=self.method, note="no interval: one cluster"
            )
        replicates = self.replicates(statistic)
        kept = replicates[~np.isnan(replicates)]
        estimate = Estimate(value, level=level, n=self.clusters, method=self.method)
        if not len(kept):
            return estimate.noted("no interval: undefined in every resample")
        low, high = np.quantile(kept, [(1 - level) / 2, (1 + level) / 2])
        estimate = Estimate(value, float(low), float(high), level, self.clusters, self.method)
        if np.ptp(kept) <= 1e-12 * max(1.0, abs(value)):
            estimate = estimate.noted("no resample differs: the width 0 is no certainty")
        lost = len(replicates) - len(kept)
        if lost:
            return estimate.noted(f"undefined in {lost} of {len(replicates)} resamples")
        return estimate

    def p_value(self, statistic: Statistic, *, null: float = 0.0) -> float:
        """Return the two-sided p-value of "the statistic is ``null``"; NaN when undefined.

        The smallest 1 - level whose percentile interval leaves ``null`` out, counting the observed
        sample as one more resample (Davison and Hinkley 1997, section 4.4), hence never below
        2 / (resamples + 1).
        """
        if self.clusters < 2 or np.isnan(self.value(statistic)):
            return float("nan")
        replicates = self.replicates(statistic)
        kept = replicates[~np.isnan(replicates)]
        if not len(kept):
            return float("nan")
        below = 1 + np.count_nonzero(kept <= null)
        above = 1 + np.count_nonzero(kept >= null)
        return float(min(1.0, 2 * min(below, above) / (len(kept) + 1)))

    def value(self, statistic: Statistic) -> float:
        """Return the statistic of the clusters as observed."""
        return float(_applied(statistic, self.total[None, :])[0])

    def replicates(self, statistic: Statistic) -> FloatArray:
        """Return the statistic of every resample."""
        return _applied(statistic, self.sums)


def resample(
    rows: ArrayLike,
    *,
    counts: ArrayLike | None = None,
    replicates: int = 2000,
    seed: int = 0,
) -> Resamples:
    """Draw clusters with replacement, as many as there are, ``replicates`` times.

    Args:
        rows: cluster statistics, shape (clusters, columns); distinct if ``counts`` is given.
        counts: how often each row occurs; None: each row is one cluster.
        replicates: number of resamples, at least 1.
        seed: of the generator; the same seed and rows in the same order give the same resamples.

    Raises:
        ValueError: shapes do not fit, a value is not finite, or ``replicates`` is below 1.
    """
    matrix, number = cluster_matrix(rows).astype(np.float64), _replicates(replicates)
    repeats = cluster_counts(counts, len(matrix))
    clusters = int(repeats.sum())
    rng = np.random.default_rng(seed)
    sums = np.zeros((number, matrix.shape[1]))
    for part in _slices(number, len(matrix)):
        size = part.stop - part.start
        if counts is None and clusters:
            weights = _multinomial_of_ones(rng, clusters, size)
        elif clusters:
            weights = rng.multinomial(clusters, repeats / clusters, size=size)
        else:
            break
        sums[part] = _product(weights.astype(np.float64), matrix)
    method = f"cluster bootstrap, percentile, {number} resamples"
    return Resamples(repeats @ matrix, sums, clusters, method)


def poisson_resample(
    rows: ArrayLike,
    *,
    counts: ArrayLike | None = None,
    replicates: int = 2000,
    seed: int = 0,
) -> Resamples:
    """Weight each cluster by an independent Poisson(1) number, ``replicates`` times.

    Clusters with equal statistics are pooled and weighted together, by Poisson(count). Draws depend
    on (seed, statistics, count, resample) alone: however the clusters are ordered, or pooled and
    merged before (`haltwise.stats.pool`), the resamples are the same to the last bit.

    Args:
        rows: cluster statistics, shape (clusters, columns).
        counts: how many clusters each row stands for; None: one.
        replicates: number of resamples, at least 1.
        seed: any whole number.

    Raises:
        ValueError: shapes do not fit, a value is not finite, or ``replicates`` is below 1.
    """
    number = _replicates(replicates)
    matrix, repeats = pool(rows, counts)
    # Counter-based draws: a uniform number is one half of a hash of (seed, row, pair of resamples).
    # Measured a weight: hash 1.4 ns, quantile 1 ns, product with 16 columns 1.3 ns; a generator for
    # each row, or a search for each quantile, takes 20 and more.
    start = np.full(1, seed & 0xFFFFFFFFFFFFFFFF, dtype=np.uint64)
    keys = mixed(row_hashes(matrix) + mixed(start + STEP))
    pairs = mixed(np.arange(1, number // 2 + 2, dtype=np.uint64) * STEP)
    sums = np.zeros((number, matrix.shape[1]))
    order = np.argsort(repeats, kind="stable")
    for part in _slices(len(order), number):
        chosen = order[part]
        bits = mixed(keys[chosen][:, None] + pairs).view(np.uint32)[:, :number]
        weights = np.empty(bits.shape)
        for count, run in _runs(repeats[chosen]):
            weights[run] = _poisson(bits[run], count)
        sums += _product(weights.T, matrix[chosen].astype(np.float64))
    method = f"Poisson cluster bootstrap, percentile, {number} resamples"
    return Resamples((repeats @ matrix).astype(np.float64), sums, int(repeats.sum()), method)


def _replicates(number: int) -> int:
    if number < 1:
        raise ValueError(f"replicates is a number from 1 up; got {number!r}")
    return number


def _applied(statistic: Statistic, sums: FloatArray) -> FloatArray:
    result = np.asarray(statistic(sums), dtype=np.float64)
    if result.shape != (len(sums),):
        raise ValueError(
            f"a statistic returns one number a resample, shape ({len(sums)},); got {result.shape}"
        )
    return result


def _slices(length: int, width: int) -> Iterator[slice]:
    """Cut ``length`` rows of ``width`` weights into chunks of bounded size."""
    step = max(1, _CHUNK // max(width, 1))
    for start in range(0, length, step):
        yield slice(start, min(start + step, length))


_PIECE = 250_000
"""Multiplications in one product; BLAS gives a product of this size to one thread."""
_DEPTH = 512
"""Clusters in one product."""


def _product(weights: FloatArray, matrix: FloatArray) -> FloatArray:
    """Return ``weights @ matrix``, in pieces too small for BLAS to share among threads.

    Its threads wait for each other by spinning: on a machine busy with other work one large product
    takes 25 to 60 times as long, the pieces no longer than their share of the machine. On an idle
    one the pieces take up to twice as long as the large product.
    """
    depth = min(_DEPTH, len(matrix))
    height = max(1, _PIECE // max(depth * matrix.shape[1], 1))
    result = np.zeros((len(weights), matrix.shape[1]))
    for start in range(0, len(matrix), _DEPTH):
        part = matrix[start : start + _DEPTH]
        for top in range(0, len(weights), height):
            piece = weights[top : top + height, start : start + _DEPTH]
            result[top : top + height] += piece @ part
    return result


def _multinomial_of_ones(rng: np.random.Generator, clusters: int, size: int) -> IntArray:
    # Counting drawn indices is ten times faster than `Generator.multinomial` at equal odds, and
    # short integers are drawn at twice the speed of long ones.
    kind = np.uint16 if clusters <= 1 << 16 else np.int64
    drawn = rng.integers(0, clusters, size=(size, clusters), dtype=kind)
    places = drawn + np.arange(0, size * clusters, clusters)[:, None]
    return np.bincount(places.ravel(), minlength=size * clusters).reshape(size, clusters)


def _runs(ordered: IntArray) -> Iterator[tuple[int, slice]]:
    """Yield each value of a sorted array with the places where it is."""
    starts = np.flatnonzero(np.diff(ordered, prepend=-1)).tolist()
    for start, stop in zip(starts, [*starts[1:], len(ordered)], strict=True):
        yield int(ordered[start]), slice(start, stop)


def _poisson(bits: NDArray[np.uint32], mean: int) -> NDArray[np.uint8] | IntArray:
    """Return Poisson(mean) quantiles at uniform numbers of 32 bits."""
    low, cuts, common = _poisson_cuts(mean)
    if not common:
        return np.asarray(np.searchsorted(cuts, bits, side="right") + low)
    # Comparing with each cut in turn beats a search where the cuts are few; the last ones are
    # hardly ever reached, and searched for when they are.
    flat = bits.ravel()
    weights = np.zeros(flat.shape, dtype=np.uint8)
    reached = np.empty(flat.shape, dtype=np.bool_)
    for cut in cuts[:common]:
        np.greater_equal(flat, cut, out=reached)
        weights += reached.view(np.uint8)
    far = np.flatnonzero(reached)
    weights[far] = np.searchsorted(cuts, flat[far], side="right")
    return weights.reshape(bits.shape)


@lru_cache(maxsize=64)
def _poisson_cuts(mean: int) -> tuple[int, NDArray[np.uint32], int]:
    """Return the lowest quantile, the cuts above it, and how many of these to compare with."""
    from scipy.special import pdtr

    reach = 7 * np.sqrt(mean) + 12  # beyond, the tails hold less than 2^-32
    low = max(0, int(mean - reach))
    cdf = pdtr(np.arange(low, int(mean + reach) + 1), float(mean))
    cuts = np.ceil(cdf * 2.0**32)
    cuts = cuts[cuts < 2.0**32].astype(np.uint32)
    return low, cuts, int((cdf < 0.999).sum()) + 1 if len(cuts) <= 64 else 0
