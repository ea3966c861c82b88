"""The rule to try first, as far as an audit can tell: much saved, few right answers put at risk."""

from __future__ import annotations

from ..core.policies import Deadline, UselessStreak
from .findings.late_useful_results import SAFE
from .mixture import FOREIGN
from .result import Audit


def safe_setting(audit: Audit) -> tuple[int, int] | None:
    """Return (k, budget) of the ``streak(k) | deadline(budget)`` that saves most at little risk.

    None where no answer was graded, where the verdicts are not the agents' own, or where every k
    below the budget puts more than `SAFE` of the right answers at risk.
    """
    if not audit.right or any(name in FOREIGN for name in audit.mixture.sources):
        return None
    for k in range(1, audit.budget):
        row = audit.rule(str(UselessStreak(k)))
        risked = None if row is None else row.answers_at_risk
        if risked is not None and risked < SAFE * audit.right:
            return k, audit.budget
    return None


def rule_text(k: int, budget: int) -> str:
    """Return ``streak(k) | deadline(budget)`` as it is typed."""
    return str(UselessStreak(k) | Deadline(budget))
