"""What the agent does right after r useless results in a row: answer, or search on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .tally import Sample
from .trajectories import Ints, Trajectories


@dataclass(frozen=True)
class Response:
    """Decisions at one run length."""

    run: int
    """r, useless results in a row."""
    decisions: int
    """Decision points at exactly this run, after a useless result."""
    answers: int
    """How many of them are followed by the answer."""

    @property
    def share(self) -> float:
        """Share of the decisions that are answers; 0 without decisions."""
        return self.answers / self.decisions if self.decisions else 0.0


def responses(sample: Sample) -> list[Response]:
    """Return the decisions by run length from 1 to budget - 1; the budget's last is left out."""
    totals = sample.total(sample.values(lambda rows: cells(rows, sample.budget)))
    return [
        Response(r, int(decisions), int(answers))
        for r, (decisions, answers) in enumerate(zip(*np.split(totals, 2), strict=True), start=1)
    ]


def cells(trajectories: Trajectories, budget: int) -> Ints:
    """Return decisions and answers by run length, in two blocks of columns: (m, 2 (budget-1)).

    Decision points up to ``limit - 2``: at the last action an answer says nothing of the run.
    """
    here = trajectories.decision & trajectories.useless
    here &= np.arange(1, trajectories.width + 1) <= trajectories.limit[:, None] - 2
    answers = here & trajectories.answers_next
    runs = [trajectories.run == r for r in range(1, budget)]
    blocks = [(kind & run).sum(axis=1) for kind in (here, answers) for run in runs]
    return np.stack(blocks, axis=1)
