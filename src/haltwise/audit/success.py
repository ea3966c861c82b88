"""How often the agents are right: success by regime, and mean6 over the published design.

METHODS section 1, "mean6". Episodes that nobody graded do not count.
"""

from __future__ import annotations

import numpy as np

from ..record.episode import MEAN6
from ..stats.bootstrap import poisson_resample
from ..stats.estimate import Estimate, undefined
from ..stats.proportions import clustered_proportion
from ..stats.ratios import mean_of_ratios
from .scope import regime_name, regimes
from .tally import Sample
from .trajectories import Bools, Trajectories

UNGRADED = "no episode was graded"
"""The reason why a success rate is undefined."""


def success(sample: Sample, *, level: float) -> dict[str, Estimate]:
    """Return the share of right answers by regime; n = graded episodes."""
    values = sample.values(cells)
    found = {}
    for regime in regimes(sample):
        rows, counts = sample.pooled(values, sample.of_regime(regime))
        estimate = clustered_proportion(rows[:, 0], rows[:, 1], counts=counts, level=level)
        found[regime_name(regime)] = estimate if estimate.n else undefined(UNGRADED, level=level)
    return found


def mean6(sample: Sample, *, level: float, replicates: int, seed: int) -> Estimate:
    """Return success averaged with equal weight over the six regimes; n = clusters.

    Clusters are resampled jointly over regimes. Undefined unless all six have graded episodes; the
    note then names the missing ones.
    """
    values = sample.values(cells)
    grades = np.asarray(values, dtype=bool)
    inside = [sample.of_regime(regime) for regime in MEAN6]
    missing = [
        regime
        for regime, keep in zip(MEAN6, inside, strict=True)
        if not sample.total(values, keep)[1]
    ]
    if missing:
        method = "mean of success over six regimes"
        return undefined(f"no graded episodes of {', '.join(missing)}", method=method, level=level)
    rows, counts = sample.pooled(np.hstack([grades & keep[:, None] for keep in inside]))
    resamples = poisson_resample(rows, counts=counts, replicates=replicates, seed=seed)
    right, graded = range(0, 2 * len(MEAN6), 2), range(1, 2 * len(MEAN6), 2)
    return resamples.estimate(mean_of_ratios(right, graded), level=level)


def cells(trajectories: Trajectories) -> Bools:
    """Return being right and being graded, shape (m, 2)."""
    return np.stack([trajectories.success == 1, trajectories.success >= 0], axis=1)
