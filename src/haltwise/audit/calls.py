"""How many tool calls an episode takes."""

from __future__ import annotations

import numpy as np

from ..stats.estimate import Estimate
from ..stats.proportions import clustered_mean
from .tally import Sample
from .trajectories import Ints, Trajectories


def calls(sample: Sample, *, level: float) -> Estimate:
    """Return the mean number of tool calls of an episode; n = episodes.

    Calls that were made side by side in one turn are counted one by one.
    """
    rows, counts = sample.pooled(sample.values(cells))
    return clustered_mean(rows[:, 0], rows[:, 1], counts=counts, level=level)


def cells(trajectories: Trajectories) -> Ints:
    """Return tool calls and 1, shape (m, 2)."""
    return np.stack([trajectories.calls, np.ones_like(trajectories.calls)], axis=1)
