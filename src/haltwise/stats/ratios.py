"""Statistics of summed columns, to be bootstrapped: ratios, their averages, their differences.

Each function here returns a `Statistic` of `haltwise.stats.bootstrap`: it takes column sums
(resamples x columns) and returns one number a resample, NaN where a denominator is 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .arrays import FloatArray
from .bootstrap import Statistic
from .risk_difference import pooled


def ratio(numerator: int, denominator: int) -> Statistic:
    """Return the statistic "sum of one column over sum of another": a mean over observations."""
    return mean_of_ratios([numerator], [denominator])


def mean_of_ratios(numerators: Sequence[int], denominators: Sequence[int]) -> Statistic:
    """Return the statistic "mean of several ratios, each with its own denominator".

    mean6 is this one: success summed by regime over episodes by regime, regimes weighted equally
    (METHODS section 1). NaN as soon as one denominator is 0.

    Raises:
        ValueError: not as many numerators as denominators, or none.
    """
    if len(numerators) != len(denominators) or not numerators:
        raise ValueError(
            "as many numerators as denominators, at least one; "
            f"got {len(numerators)} and {len(denominators)}"
        )
    tops, bottoms = list(numerators), list(denominators)

    def statistic(sums: FloatArray) -> FloatArray:
        top, bottom = sums[:, tops], sums[:, bottoms]
        shares = np.divide(top, bottom, out=np.full_like(top, np.nan), where=bottom != 0)
        return np.asarray(shares.mean(axis=1))

    return statistic


def difference(first: Statistic, second: Statistic) -> Statistic:
    """Return the statistic ``first`` minus ``second``.

    For two arms by cluster: put the columns of both arms side by side in one row a cluster, and
    let the two statistics read their own columns; resampling the rows keeps the pairing.
    """
    return lambda sums: first(sums) - second(sums)


def pooled_risk_difference(
    n1: Sequence[int], x1: Sequence[int], n0: Sequence[int], x0: Sequence[int]
) -> Statistic:
    """Return the Mantel-Haenszel pooled risk difference of strata held in the named columns.

    Each argument lists one column a stratum: see `haltwise.stats.risk_difference.pooled`.
    """
    columns = [list(part) for part in (n1, x1, n0, x0)]

    def statistic(sums: FloatArray) -> FloatArray:
        return pooled(*(sums[:, part] for part in columns))

    return statistic
