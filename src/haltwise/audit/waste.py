"""Waste: the share of tool calls made after the k-th useless result in a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..stats.estimate import Estimate, undefined
from ..stats.proportions import clustered_proportion
from .tally import Sample
from .trajectories import Ints, Trajectories, at, first
from .verdicts import NO_VERDICTS, any_verdict


@dataclass(frozen=True)
class Waste:
    """Calls that came after a run of k useless results."""

    estimate: Estimate
    """Their share of all tool steps; n = tool steps."""
    k: int
    """Useless results in a row."""
    calls: int
    """Their number."""

    def to_json(self) -> dict[str, Any]:
        """Return the estimate as a JSON object with the counts added."""
        return {**self.estimate.to_json(), "k": self.k, "calls": self.calls}


def waste(sample: Sample, *, level: float) -> list[Waste]:
    """Return the share for every k from 1 to budget - 1; undefined where nothing was judged."""
    if not any_verdict(sample):
        return [Waste(undefined(NO_VERDICTS, level=level), k, 0) for k in range(1, sample.budget)]
    rows, counts = sample.pooled(sample.values(lambda rows: cells(rows, sample.budget)))
    total = rows[:, -1]
    return [
        Waste(
            clustered_proportion(column, total, counts=counts, level=level),
            k,
            int(counts @ column),
        )
        for k, column in enumerate(rows[:, :-1].T, start=1)
    ]


def cells(trajectories: Trajectories, budget: int) -> Ints:
    """Return calls after the run first reaches k, for k from 1, then all calls: (m, budget)."""
    after = trajectories.calls_after
    columns = []
    for k in range(1, budget):
        reached, column = first(trajectories.run >= k)
        columns.append(np.where(reached, at(after, column), 0))
    return np.stack([*columns, trajectories.call.sum(axis=1)], axis=1)
