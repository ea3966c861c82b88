"""Mantel-Haenszel pooled risk difference over strata.

Knows four counts a stratum; what a stratum or a group stands for is the caller's affair. The two
variances assume independent observations: where they come in clusters, resample the clusters
(`haltwise.stats.bootstrap`) with `pooled` as the statistic.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from .arrays import FloatArray, normal_quantile
from .estimate import Estimate, undefined

EMPTY = "no stratum has observations in both groups"
"""The reason why a pooled risk difference is undefined."""


def pooled(n1: ArrayLike, x1: ArrayLike, n0: ArrayLike, x0: ArrayLike) -> FloatArray:
    """Return the pooled risk difference of group 1 minus group 0 over the last axis.

    METHODS section 1, "Time-matched contrast"; weights n1 n0 / (n1 + n0) (Mantel and Haenszel 1959,
    as used for differences by Greenland and Robins 1985). A stratum in which a group is empty
    carries no weight. NaN where none is left.

    Args:
        n1: observations of group 1, shape (..., strata).
        x1: events among them.
        n0: observations of group 0.
        x0: events among them.
    """
    n1, x1, n0, x0 = (np.asarray(part, dtype=np.float64) for part in (n1, x1, n0, x0))
    # w (x1/n1 - x0/n0) = (x1 n0 - x0 n1) / (n1 + n0): no division by an empty group, and an empty
    # group makes the numerator 0 by itself.
    both = np.maximum(n1 + n0, 1.0)
    top = ((x1 * n0 - x0 * n1) / both).sum(axis=-1)
    weight = (n1 * n0 / both).sum(axis=-1)
    return np.asarray(np.divide(top, weight, out=np.full_like(top, np.nan), where=weight > 0))


def risk_difference(
    n1: ArrayLike,
    x1: ArrayLike,
    n0: ArrayLike,
    x0: ArrayLike,
    *,
    variance: Literal["sato", "greenland-robins"] = "sato",
    level: float = 0.95,
) -> Estimate:
    """Return the pooled risk difference with a normal interval for independent observations.

    Sato 1989 (consistent for few large and for many sparse strata) or Greenland and Robins 1985
    (large strata).

    Args:
        n1: observations of group 1, one a stratum.
        x1: events among them.
        n0: observations of group 0, one a stratum.
        x0: events among them.
        variance: which variance the interval uses.
        level: coverage of the interval.

    Raises:
        ValueError: shapes differ, or events are not between 0 and the observations.
    """
    n1, x1, n0, x0 = _checked(n1, x1, n0, x0)
    z = normal_quantile(level)
    method = f"Mantel-Haenszel risk difference, {_NAMES[variance]} variance"
    used = (n1 > 0) & (n0 > 0)
    n1, x1, n0, x0 = n1[used], x1[used], n0[used], x0[used]
    n = int(n1.sum() + n0.sum())
    if n == 0:
        return undefined(EMPTY, method=method, level=level)
    value = float(pooled(n1, x1, n0, x0))
    half = z * float(np.sqrt(_VARIANCES[variance](value, n1, x1, n0, x0)))
    return Estimate(value, value - half, value + half, level, n, method)


def _sato(value: float, n1: FloatArray, x1: FloatArray, n0: FloatArray, x0: FloatArray) -> float:
    # Sato (1989), Biometrics 45:1323. With the true difference in place of `value` the numerator is
    # unbiased for the variance of the weighted difference, stratum by stratum.
    n = n1 + n0
    p = (n1**2 * x0 - n0**2 * x1 + n1 * n0 * (n0 - n1) / 2) / n**2
    q = (x1 * (n0 - x0) + x0 * (n1 - x1)) / (2 * n)
    return float(max(value * p.sum() + q.sum(), 0.0) / (n1 * n0 / n).sum() ** 2)


def _greenland_robins(
    value: float, n1: FloatArray, x1: FloatArray, n0: FloatArray, x0: FloatArray
) -> float:
    weight = n1 * n0 / (n1 + n0)
    within = x1 * (n1 - x1) / n1**3 + x0 * (n0 - x0) / n0**3
    return float((weight**2 * within).sum() / weight.sum() ** 2)


_NAMES = {"sato": "Sato", "greenland-robins": "Greenland-Robins"}
_VARIANCES = {"sato": _sato, "greenland-robins": _greenland_robins}


def _checked(*parts: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    n1, x1, n0, x0 = (np.atleast_1d(np.asarray(part, dtype=np.float64)) for part in parts)
    if not n1.shape == x1.shape == n0.shape == x0.shape or n1.ndim != 1:
        raise ValueError(
            "n1, x1, n0, x0 have one value a stratum; "
            f"got shapes {n1.shape}, {x1.shape}, {n0.shape}, {x0.shape}"
        )
    if not ((x1 >= 0) & (x1 <= n1) & (x0 >= 0) & (x0 <= n0)).all():
        raise ValueError("events lie between 0 and the observations of their group and stratum")
    return n1, x1, n0, x0
