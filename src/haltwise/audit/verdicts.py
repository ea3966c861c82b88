"""What the verdicts say: how often results are useless, and where the first useful one comes."""

from __future__ import annotations

import numpy as np

from ..core.events import Verdict
from ..record.outline import CODES
from ..stats.estimate import Estimate, undefined
from ..stats.proportions import clustered_mean, clustered_proportion
from .tally import Sample
from .trajectories import Ints, Trajectories, first

NO_VERDICTS = "no result was judged"
"""The reason why a rate of verdicts is undefined."""


def any_verdict(sample: Sample) -> bool:
    """Whether any result was judged at all."""
    return bool(sample.total(sample.values(rate_cells))[1])


def useless_rate(sample: Sample, *, level: float) -> Estimate:
    """Return the share of judged results that were called useless; n = judged results.

    Results that nobody judged and failures of the tool itself do not count.
    """
    rows, counts = sample.pooled(sample.values(rate_cells))
    estimate = clustered_proportion(rows[:, 0], rows[:, 1], counts=counts, level=level)
    return estimate if estimate.n else undefined(NO_VERDICTS, level=level)


def first_useful(sample: Sample, *, level: float) -> Estimate:
    """Return the mean step of the first useful result, over the episodes that had one (n)."""
    rows, counts = sample.pooled(sample.values(first_cells))
    estimate = clustered_mean(rows[:, 0], rows[:, 1], counts=counts, level=level)
    if not estimate.n:
        return undefined("no result was called useful", level=level)
    without = sample.episodes - estimate.n
    return estimate.noted(f"{without} episodes never had one") if without else estimate


def rate_cells(trajectories: Trajectories) -> Ints:
    """Return useless and judged results, shape (m, 2)."""
    judged = (Verdict.USELESS, Verdict.USEFUL, Verdict.UNKNOWN)
    counted = trajectories.call & np.isin(trajectories.verdict, [CODES[word] for word in judged])
    return np.stack([trajectories.useless.sum(axis=1), counted.sum(axis=1)], axis=1)


def first_cells(trajectories: Trajectories) -> Ints:
    """Return the step of the first useful result (0 for none) and having one, shape (m, 2)."""
    useful = trajectories.call & (trajectories.verdict == CODES[Verdict.USEFUL])
    found, column = first(useful)
    return np.stack([np.where(found, column + 1, 0), found], axis=1)
