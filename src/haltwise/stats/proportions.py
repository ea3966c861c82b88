"""Intervals for one proportion or mean, of independent or of clustered observations.

Differences of paired proportions are in `haltwise.stats.paired`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .arrays import check_level, cluster_counts, normal_quantile
from .estimate import Estimate, undefined


def wilson(events: float, n: float, *, level: float = 0.95) -> Estimate:
    """Return the proportion ``events / n`` with Wilson's (1927) score interval; undefined at n = 0.

    Raises:
        ValueError: events are not between 0 and n.
    """
    z = normal_quantile(level)
    _check(events, n)
    if n == 0:
        return undefined("no observations", method="proportion, Wilson", level=level)
    low, high = wilson_bounds(events, n, z)
    return Estimate(events / n, low, high, level, int(n), "proportion, Wilson")


def wilson_bounds(events: float, n: float, z: float) -> tuple[float, float]:
    """Return the ends of Wilson's interval at the normal quantile ``z``; n > 0."""
    p = events / n
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    low = 0.0 if events == 0 else max(0.0, float(middle - half))
    high = 1.0 if events == n else min(1.0, float(middle + half))
    return low, high


def beta_interval(
    events: float, n: float, *, prior: tuple[float, float] = (0.5, 0.5), level: float = 0.95
) -> Estimate:
    """Return the posterior mean of a proportion with its equal-tailed posterior interval.

    The posterior is Beta(prior[0] + events, prior[1] + n - events); Jeffreys' prior by default
    (METHODS section 2, "Calibration"). Defined at n = 0 too, where it is the prior, with a note.

    Raises:
        ValueError: events are not between 0 and n, or the prior is not positive.
    """
    from scipy.special import betaincinv

    check_level(level)
    _check(events, n)
    if min(prior) <= 0:
        raise ValueError(f"prior is two positive numbers; got {prior!r}")
    a, b = prior[0] + events, prior[1] + n - events
    low, high = (float(betaincinv(a, b, tail)) for tail in ((1 - level) / 2, (1 + level) / 2))
    method = f"posterior mean, Beta({prior[0]:g}, {prior[1]:g}) prior"
    note = "" if n else "no observations: this is the prior"
    return Estimate(a / (a + b), low, high, level, int(n), method, note)


def clustered_mean(
    sums: ArrayLike, sizes: ArrayLike, *, counts: ArrayLike | None = None, level: float = 0.95
) -> Estimate:
    """Return the mean over all observations of clusters, with an interval that respects them.

    Ratio estimator sum(sums) / sum(sizes), linearised variance with the factor G/(G-1) (Cochran
    1977, section 6.3), Student interval with G - 1 degrees of freedom; n = observations. Clusters
    of size 0 do not count. One cluster: a value and no interval.

    Args:
        sums: sum of the observations of each cluster.
        sizes: number of observations of each cluster.
        counts: how often each (sum, size) occurs; None: once.
        level: coverage of the interval.
    """
    from scipy.special import stdtrit

    check_level(level)
    value, variance, clusters, n = _ratio(sums, sizes, counts)
    method = "mean, clustered linearised s.e."
    if clusters == 0:
        return undefined("no observations", method=method, level=level)
    if clusters == 1:
        return Estimate(value, level=level, n=n, method=method, note="no interval: one cluster")
    half = float(stdtrit(clusters - 1, (1 + level) / 2)) * np.sqrt(variance)
    return Estimate(value, float(value - half), float(value + half), level, n, method)


def clustered_proportion(
    events: ArrayLike, sizes: ArrayLike, *, counts: ArrayLike | None = None, level: float = 0.95
) -> Estimate:
    """Return a proportion over all observations of clusters, with an interval that respects them.

    Wilson's interval at the effective number of observations: n over the design effect, which is
    the variance of `clustered_mean` over p(1-p)/(n-1) (Korn and Graubard 1998 for the idea), but at
    most n; where all observations agree the variance says nothing, and the number of clusters is
    taken. With one observation a cluster this is `wilson`. n = observations. One cluster with more
    than one observation: a value and no interval.

    Args:
        events: number of events of each cluster.
        sizes: number of observations of each cluster.
        counts: how often each (events, size) occurs; None: once.
        level: coverage of the interval.

    Raises:
        ValueError: events are not between 0 and the size of their cluster.
    """
    z = normal_quantile(level)
    if not ((np.asarray(events) >= 0) & (np.asarray(events) <= np.asarray(sizes))).all():
        raise ValueError("events lie between 0 and the size of their cluster")
    value, variance, clusters, n = _ratio(events, sizes, counts)
    method = "proportion, clustered Wilson"
    if clusters == 0:
        return undefined("no observations", method=method, level=level)
    if clusters == 1 and n > 1:
        return Estimate(value, level=level, n=n, method=method, note="no interval: one cluster")
    if 0 < value < 1:
        design_effect = variance * (n - 1) / (value * (1 - value))
        effective = n / max(design_effect, 1.0)
    else:
        effective = float(clusters)
    low, high = wilson_bounds(value * effective, effective, z)
    low, high = (0.0 if value == 0 else low), (1.0 if value == 1 else high)
    return Estimate(value, low, high, level, n, method)


def _ratio(
    sums: ArrayLike, sizes: ArrayLike, counts: ArrayLike | None
) -> tuple[float, float, int, int]:
    """Return the ratio estimate, its linearised variance, clusters and observations."""
    top, size = np.asarray(sums, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    if top.shape != size.shape or top.ndim != 1:
        raise ValueError(f"one sum and one size a cluster; got {top.shape} and {size.shape}")
    if not (np.isfinite(top).all() and np.isfinite(size).all() and (size >= 0).all()):
        raise ValueError("sums are finite and sizes are numbers from 0 up")
    repeats = np.where(size > 0, cluster_counts(counts, len(top)), 0)
    n, clusters = float(repeats @ size), int(repeats.sum())
    if clusters == 0:
        return np.nan, np.nan, 0, 0
    value = float(repeats @ top) / n
    if clusters == 1:
        return value, np.nan, 1, round(n)
    residuals = top - value * size
    variance = clusters / (clusters - 1) * float(repeats @ residuals**2) / n**2
    return value, variance, clusters, round(n)


def _check(events: float, n: float) -> None:
    if not 0 <= events <= n:
        raise ValueError(f"events lie between 0 and n; got {events!r} of {n!r}")
