"""What is counted of recorded search loops to see how sources recover.

METHODS section 1, "Recovery-aware stopping": sums by cluster, so that clusters merge and resample
as weights, and the quantities that are functions of these sums. Knows nothing of what is decided.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.events import Verdict
from ..record.outline import CODES
from ..replay.search import SearchTable

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SHRINKAGE = 5.0
"""Weight, in loops, of the hazard pooled over fresh and other loops."""

_RESETS = [CODES[Verdict.USEFUL], CODES[Verdict.UNKNOWN]]


@dataclass(frozen=True, eq=False)
class RecoveryCounts:
    """Sums over clusters; the leading axis is what they are summed over: clusters or resamples."""

    tried: Floats
    """(k, 2, B-2): loops that searched on at run r = 1 .. B-2 and were judged next; fresh first."""
    recovered: Floats
    """(k, 2, B-2): those whose next verdict was not useless."""
    asked: Floats
    """(k, 2): decision points during a run, of loops that searched on, with a known branch."""
    right: Floats
    """(k, 2): those where a forced answer was right."""
    useful: Floats
    """(k, B-2): loops with a graded end whose first recovery came with m = 1 .. B-2 actions
    left."""
    value: Floats
    """(k, B-2): their sum of success - price x later calls."""

    def matrix(self) -> Floats:
        """Return one row for each entry of the leading axis; `of` is the inverse."""
        parts = (self.tried, self.recovered, self.asked, self.right, self.useful, self.value)
        return np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1)

    @classmethod
    def of(cls, matrix: Floats) -> RecoveryCounts:
        """Rebuild from what `matrix` gave, or from sums of its rows."""
        rows, width = len(matrix), (matrix.shape[1] - 4) // 6
        cuts = np.cumsum([2 * width, 2 * width, 2, 2, width])
        tried, recovered, asked, right, useful, value = np.split(matrix, cuts, axis=1)
        shape = (rows, 2, width)
        return cls(tried.reshape(shape), recovered.reshape(shape), asked, right, useful, value)

    def hazard(self) -> Floats:
        """h, (k, 2, B-2): P(recovery at run r), shrunk to the one pooled over both rows."""
        with np.errstate(invalid="ignore", divide="ignore"):
            pooled = self.recovered.sum(axis=1, keepdims=True) / self.tried.sum(
                axis=1, keepdims=True
            )
        hazard: Floats = (self.recovered + SHRINKAGE * pooled) / (self.tried + SHRINKAGE)
        return hazard

    def answer_now(self) -> Floats:
        """q, (k, 2): P(a forced answer is right)."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.right / self.asked

    def useful_value(self) -> Floats:
        """u, (k, B-2): the worth of a recovery, made non-decreasing in the actions left."""
        return isotonic(self.value, self.useful)


def recovery_counts(
    table: SearchTable, clusters: Integers, *, budget: int, price: float
) -> RecoveryCounts:
    """Count what the recovery model is made of, by cluster.

    Verdicts that leave a run as it is (unjudged, failed source) say nothing about recovery: a loop
    whose next verdict is one of them is censored there, as one that answered is. Decision points
    without a known branch and loops without a graded end are not counted either.

    Args:
        table: the loops.
        clusters: (n,), what is resampled as one: an index from 0.
        budget: B, actions allowed, the answer included; at least 2.
        price: c, cost of one tool call.
    """
    width, groups = budget - 2, int(clusters.max(initial=-1)) + 1
    runs, inside = table.runs(), table.inside
    before = runs[:, :-1]
    during = (before >= 1) & inside[:, 1:]
    resets = np.isin(table.verdicts, _RESETS)[:, 1:]
    judged = resets | (runs[:, 1:] > before)
    later = (before != np.arange(1, runs.shape[1])).astype(np.int64)

    loop, step = np.nonzero(during & judged & (before <= width))
    cell = (clusters[loop] * 2 + later[loop, step]) * width + before[loop, step] - 1
    tried = _sums(cell, groups * 2 * width)
    recovered = _sums(cell, groups * 2 * width, resets[loop, step])

    loop, step = np.nonzero(during)
    branch = table.answer_now[loop, step]
    known = ~np.isnan(branch)
    cell = (clusters[loop] * 2 + later[loop, step])[known]
    asked, right = _sums(cell, groups * 2), _sums(cell, groups * 2, branch[known])

    back = during & resets
    loop = np.flatnonzero(back.any(axis=1))
    step = back[loop].argmax(axis=1) + 1 if len(loop) else loop
    left = budget - (step + 1)
    worth = table.success[loop] - price * (table.total_calls[loop] - table.calls[loop, step])
    usable = ~np.isnan(worth) & (left >= 1)
    cell = (clusters[loop] * width + left - 1)[usable]
    useful, value = _sums(cell, groups * width), _sums(cell, groups * width, worth[usable])
    return RecoveryCounts(
        tried.reshape(groups, 2, width),
        recovered.reshape(groups, 2, width),
        asked.reshape(groups, 2),
        right.reshape(groups, 2),
        useful.reshape(groups, width),
        value.reshape(groups, width),
    )


def isotonic(sums: Floats, weights: Floats) -> Floats:
    """Return the weighted means ``sums / weights`` made non-decreasing along the last axis.

    The max-min formula of isotonic regression: fit(m) is the largest over i <= m of the smallest
    over j >= m of the mean over i..j (Robertson, Wright & Dykstra 1988, theorem 1.4.4). All rows at
    once; entries of weight 0 are NaN and do not matter to the others.
    """
    width = sums.shape[-1]
    total = np.concatenate([np.zeros_like(sums[..., :1]), np.cumsum(sums, axis=-1)], axis=-1)
    weight = np.concatenate([np.zeros_like(sums[..., :1]), np.cumsum(weights, axis=-1)], axis=-1)
    fitted = np.full(sums.shape, -math.inf)
    for i in range(width):  # one pass an i: the smallest over j >= m is a running minimum
        mass = weight[..., i + 1 :] - weight[..., i, None]
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = (total[..., i + 1 :] - total[..., i, None]) / mass
        mean[mass <= 0] = math.inf
        worst = np.minimum.accumulate(mean[..., ::-1], axis=-1)[..., ::-1]
        worst[np.isposinf(worst)] = -math.inf
        np.fmax(fitted[..., i:], worst, out=fitted[..., i:])
    fitted[weights <= 0] = math.nan
    return fitted


def _sums(cell: Integers, size: int, values: NDArray[np.generic] | None = None) -> Floats:
    added = None if values is None else values.astype(np.float64)
    return np.bincount(cell, added, size).astype(np.float64)
