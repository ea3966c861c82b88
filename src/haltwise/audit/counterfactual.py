"""What a stopping rule would have saved on these episodes, and what it would have put at risk.

A rule only truncates: it fires at a decision point, and what came after it is known. Calls after
the firing point are saved; an episode that searched on there and ended right has its answer put at
risk, for nobody knows what it would have answered early. Where answers were forced on copies
(answer-now branches), `haltwise replay` tells exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.policies import Deadline, UselessStreak
from .tally import Features, Sample
from .trajectories import Bools, Ints, Trajectories, at, first
from .verdicts import NO_VERDICTS, any_verdict

Condition = Callable[[Trajectories], Bools]
"""Where a rule's condition holds, shape (m, width)."""


@dataclass(frozen=True)
class Counterfactual:
    """One rule on the recorded episodes. Exact counts, no estimates; None where undefined."""

    policy: str
    """The rule as an expression."""
    fired: int | None
    """Episodes in which it fires."""
    calls_saved: int | None
    """Tool steps that come after the firing point."""
    answers_at_risk: int | None
    """Episodes that ended right after searching on past the firing point."""
    note: str = ""
    """Why the counts are undefined; empty where they are not."""

    def to_json(self) -> dict[str, Any]:
        """Return the row as a JSON object."""
        return {
            "policy": self.policy,
            "fired": self.fired,
            "calls_saved": self.calls_saved,
            "answers_at_risk": self.answers_at_risk,
            "note": self.note,
        }


def counterfactual(sample: Sample, *, k: int) -> list[Counterfactual]:
    """Return ``streak(k)`` for every k, ``deadline``, and the two joined at the k asked for.

    Rules that look at verdicts are undefined where no result was judged.
    """
    budget = sample.budget
    rules = {str(UselessStreak(n)): _streak(n) for n in range(1, budget)}
    rules[str(Deadline(budget))] = _deadline(budget)
    rules[str(UselessStreak(k) | Deadline(budget))] = _either(_streak(k), _deadline(budget))
    values = [sample.values(_cells_of(fires)) for fires in rules.values()]
    totals = [sample.total(columns).tolist() for columns in values]
    table = [Counterfactual(policy, *row) for policy, row in zip(rules, totals, strict=True)]
    if any_verdict(sample):
        return table
    return [
        row
        if row.policy == str(Deadline(budget))
        else Counterfactual(row.policy, None, None, None, NO_VERDICTS)
        for row in table
    ]


def cells(trajectories: Trajectories, fires: Bools) -> Ints:
    """Return firing, calls saved and answers put at risk of each outline, shape (m, 3).

    Args:
        trajectories: the outlines.
        fires: where the rule's condition holds, shape (m, width); it fires at the first decision
            point among these.
    """
    fired, column = first(fires & trajectories.decision)
    saved = np.where(fired, at(trajectories.calls_after, column), 0)
    risked = fired & ~at(trajectories.answers_next, column) & (trajectories.success == 1)
    return np.stack([fired, saved, risked], axis=1)


def _cells_of(fires: Condition) -> Features:
    return lambda rows: cells(rows, fires(rows))


def _streak(k: int) -> Condition:
    return lambda rows: rows.run >= k


def _deadline(budget: int) -> Condition:
    return lambda rows: np.asarray(rows.calls_in_turn >= budget - 1)


def _either(left: Condition, right: Condition) -> Condition:
    return lambda rows: left(rows) | right(rows)
