"""The hazard slope: how the odds of answering change with each further useless result in a row.

METHODS section 1, "hazard slope". It uses every run length, where the contrast compares two groups.
Under an enforced rule it is large as well: the rule answers at k.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..stats.estimate import Estimate, none_if_nan
from ..stats.hazard import hazard_slope
from .scope import scope
from .tally import Sample
from .trajectories import Bools, Trajectories


@dataclass(frozen=True)
class HazardSlope:
    """The slope with its standard error."""

    estimate: Estimate
    """Change of the log odds per useless result; n = decision points. Undefined: see the note."""
    se: float
    """Standard error clustered by question; NaN when undefined."""

    def to_json(self) -> dict[str, Any]:
        """Return the estimate as a JSON object with ``se`` added."""
        return {**self.estimate.to_json(), "se": none_if_nan(self.se)}


def slope(sample: Sample, *, level: float) -> HazardSlope:
    """Fit the hazard of answering at decision points 3 to budget - 2 after a useless result."""
    keep, note = scope(sample)
    t, r = np.array(pairs(sample.budget), dtype=np.int64).reshape(-1, 2).T
    values = sample.values(lambda rows: cells(rows, sample.budget))
    # Only cells that occur: a large budget has thousands, of which agents visit few.
    seen = sample.total(values, keep)[: len(t)] > 0
    rows, counts = sample.pooled(values[:, np.r_[seen, seen]], keep)
    used = int(seen.sum())
    fit = hazard_slope(t[seen], r[seen], rows[:, :used], rows[:, used:], counts=counts, level=level)
    return HazardSlope(fit.slope.noted(note) if note else fit.slope, fit.se)


def pairs(budget: int) -> list[tuple[int, int]]:
    """Return the cells (t, r) in which a decision can fall."""
    return [(t, r) for t in range(3, budget - 1) for r in range(1, t + 1)]


def cells(trajectories: Trajectories, budget: int) -> Bools:
    """Return decisions and answers of each outline by cell, shape (m, 2 x cells)."""
    here = trajectories.decision & trajectories.useless
    here &= np.arange(1, trajectories.width + 1) <= trajectories.limit[:, None] - 2
    answers = here & trajectories.answers_next
    kinds = len(pairs(budget))
    found = np.zeros((len(trajectories), 2 * kinds), dtype=bool)
    first = 0  # column of the cell (t, 1)
    for t in range(3, budget - 1):
        for block, condition in ((0, here), (kinds, answers)):
            rows = np.flatnonzero(condition[:, t - 1])
            found[rows, block + first + trajectories.run[rows, t - 1].astype(np.int64) - 1] = True
        first += t
    return found
