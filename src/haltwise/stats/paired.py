"""Two arms on the same clusters: differences of paired proportions, and rows side by side.

`newcombe`, `tango` and `mcnemar` want independent pairs (one outcome of each arm a question); where
a question has several, join the arms' rows and resample them (`side_by_side`, then
`haltwise.stats.bootstrap`). Counts are named by who had the event: both, first only, second only,
neither. Knows nothing of what an arm is.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .arrays import FloatArray, normal_quantile
from .estimate import Estimate, undefined
from .proportions import wilson_bounds


class PairedTable(NamedTuple):
    """Pairs of binary outcomes, counted."""

    both: int
    """Pairs with the event in both arms."""
    first: int
    """Pairs with the event in the first arm only."""
    second: int
    """Pairs with the event in the second arm only."""
    neither: int
    """Pairs without the event."""

    @classmethod
    def of(cls, first: ArrayLike, second: ArrayLike) -> PairedTable:
        """Count two aligned arrays of outcomes.

        Raises:
            ValueError: the arrays differ in length, or hold anything but true, false, 1 and 0.
        """
        a, b = np.asarray(first), np.asarray(second)
        if a.shape != b.shape or a.ndim != 1:
            raise ValueError(f"paired outcomes have one length; got {a.shape} and {b.shape}")
        if not (np.isin(a, (0, 1)).all() and np.isin(b, (0, 1)).all()):
            raise ValueError("paired outcomes are true or false, 1 or 0; got something else")
        a, b = a.astype(bool), b.astype(bool)
        return cls(*(int(x.sum()) for x in (a & b, a & ~b, ~a & b, ~a & ~b)))

    @property
    def n(self) -> int:
        """Number of pairs."""
        return sum(self)


def newcombe(table: PairedTable, *, level: float = 0.95) -> Estimate:
    """Return rate(first) - rate(second) with Newcombe's square-and-add interval; n = pairs.

    Newcombe 1998, Statistics in Medicine 17:2635, method 10: Wilson intervals of the two rates,
    combined with a phi that is corrected for continuity where it is positive. Good coverage, also
    for few pairs; use `tango` where the interval has to agree with the McNemar score test.

    Raises:
        ValueError: a count is negative.
    """
    z = normal_quantile(level)
    method = "paired difference, Newcombe method 10"
    both, first, second, neither = _checked(table)
    n = table.n
    if n == 0:
        return undefined("no pairs", method=method, level=level)
    p1, p2 = (both + first) / n, (both + second) / n
    low1, high1 = wilson_bounds(both + first, n, z)
    low2, high2 = wilson_bounds(both + second, n, z)
    margins = (both + first) * (second + neither) * (both + second) * (first + neither)
    cross = both * neither - first * second
    phi = (
        (max(cross - n / 2, 0.0) if cross > 0 else float(cross)) / math.sqrt(margins)
        if margins
        else 0
    )
    down = (p1 - low1) ** 2 - 2 * phi * (p1 - low1) * (high2 - p2) + (high2 - p2) ** 2
    up = (high1 - p1) ** 2 - 2 * phi * (high1 - p1) * (p2 - low2) + (p2 - low2) ** 2
    value = (first - second) / n
    return Estimate(value, value - math.sqrt(down), value + math.sqrt(up), level, n, method)


def tango(table: PairedTable, *, level: float = 0.95) -> Estimate:
    """Return rate(first) - rate(second) with Tango's score interval; n = pairs.

    Tango 1998, Statistics in Medicine 17:891: all differences that the score test, which estimates
    the discordant rates under the hypothesis, does not reject. At 0 it is McNemar's test.

    Raises:
        ValueError: a count is negative.
    """
    z = normal_quantile(level)
    method = "paired difference, Tango score"
    _, first, second, _ = _checked(table)
    n = table.n
    if n == 0:
        return undefined("no pairs", method=method, level=level)
    value = (first - second) / n

    def rejected(difference: float) -> bool:
        q = _second_only(difference, first, second, n)
        variance = n * (2 * q + difference * (1 - difference))
        return (first - second - n * difference) ** 2 > z**2 * variance

    def end(outside: float) -> float:
        # The test statistic falls strictly in the difference, so one sign change each side.
        inside = value
        for _ in range(100):
            middle = (inside + outside) / 2
            if rejected(middle):
                outside = middle
            else:
                inside = middle
        return inside

    return Estimate(value, end(-1.0), end(1.0), level, n, method)


def _second_only(difference: float, first: int, second: int, n: int) -> float:
    """Return the likeliest rate of "second only" if rate(first) - rate(second) = difference."""
    a = 2.0 * n
    b = -first - second + (2 * n - first + second) * difference
    c = -second * difference * (1 - difference)
    root = math.sqrt(max(b * b - 4 * a * c, 0.0))
    # The same root written so that nothing cancels.
    return -2 * c / (b + root) if b > 0 else (root - b) / (2 * a)


def mcnemar(table: PairedTable) -> float:
    """Return the exact two-sided McNemar p-value that both arms have the same rate.

    Binomial on the discordant pairs, smaller tail doubled; 1 where there are none.

    Raises:
        ValueError: a count is negative.
    """
    from scipy.special import bdtr

    _, first, second, _ = _checked(table)
    if first == second:
        return 1.0
    return min(1.0, 2 * float(bdtr(min(first, second), first + second, 0.5)))


def side_by_side(
    first: Mapping[Hashable, ArrayLike], second: Mapping[Hashable, ArrayLike]
) -> tuple[FloatArray, int]:
    """Join the statistics of two arms by cluster, for a paired bootstrap.

    Args:
        first: statistics of the first arm by cluster, each of the same length p.
        second: those of the second arm, each of the same length q.

    Returns:
        A matrix (clusters x (p + q)) of the clusters that both arms have, in the order of
        ``first``, and how many clusters only one arm has: say so in the note of what is computed.
    """
    shared = [cluster for cluster in first if cluster in second]
    left_out = len(first) + len(second) - 2 * len(shared)
    rows = [np.concatenate([np.ravel(first[c]), np.ravel(second[c])]) for c in shared]
    return (np.array(rows, dtype=np.float64) if rows else np.empty((0, 0))), left_out


def _checked(table: PairedTable) -> PairedTable:
    if min(table) < 0:
        raise ValueError(f"counts of pairs are numbers from 0 up; got {tuple(table)}")
    return table
