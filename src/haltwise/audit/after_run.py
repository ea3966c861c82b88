"""Answered after a run: of the episodes that saw k useless results in a row, how many ever answer.

METHODS section 1, "Answered after a run".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..stats.estimate import Estimate
from ..stats.proportions import clustered_proportion
from .scope import regime_name, regimes
from .tally import Sample
from .trajectories import Bools, Trajectories, first

ALL = "all"
"""The name under which all regimes together are reported."""


@dataclass(frozen=True)
class AfterRun:
    """What happens once the run has reached k."""

    estimate: Estimate
    """Share of the episodes at risk that answer later; n = episodes at risk."""
    k: int
    """Useless results in a row."""
    regime: str
    """The regime, or "all"."""
    at_risk: int
    """Episodes whose run first reaches k at a decision point."""
    answered: int
    """How many of them answer at any later step."""

    def to_json(self) -> dict[str, Any]:
        """Return the estimate as a JSON object with the counts added."""
        return {
            **self.estimate.to_json(),
            "k": self.k,
            "regime": self.regime,
            "at_risk": self.at_risk,
            "answered": self.answered,
        }


def after_run(sample: Sample, *, level: float) -> list[AfterRun]:
    """Return the table for every k from 1 to budget - 1, by regime and over all."""
    table = []
    values = sample.values(lambda rows: cells(rows, sample.budget))
    names = regimes(sample)
    for regime in [*names, ALL] if names != [None] else [ALL]:
        keep = None if regime == ALL else sample.of_regime(regime)
        rows, counts = sample.pooled(values, keep)
        columns = np.split(rows.T, 3)
        for k, (at_risk, answered, cut_off) in enumerate(zip(*columns, strict=True), start=1):
            estimate = clustered_proportion(answered, at_risk, counts=counts, level=level)
            if cut_off.any():
                estimate = estimate.noted(f"{counts @ cut_off} cut off before they could answer")
            name = ALL if regime == ALL else regime_name(regime)
            table.append(AfterRun(estimate, k, name, int(counts @ at_risk), int(counts @ answered)))
    return table


def cells(trajectories: Trajectories, budget: int) -> Bools:
    """Return, for k from 1 to budget - 1, three counts in blocks of columns: (m, 3 (budget - 1)).

    Being at risk, answering later, and being cut off without an answer.
    """
    decision, run = trajectories.decision, trajectories.run
    steps = np.arange(trajectories.width)
    last_answer = np.where(trajectories.answer, steps, -1).max(axis=1)
    at_risk, answered, cut_off = [], [], []
    for k in range(1, budget):
        reached, column = first(decision & (run >= k))
        later = last_answer > column
        at_risk.append(reached)
        answered.append(reached & later)
        cut_off.append(reached & ~later & trajectories.censored)
    return np.stack([*at_risk, *answered, *cut_off], axis=1)
