"""Useful results come late: a rule with this k would cut off answers that turned out right.

What it means:
    Some sources recover after k or more useless results, and the agent then answers right. A fixed
    threshold would have stopped these episodes before.

Why it matters:
    What a rule saves on dead sources it can lose on slow ones. At k = 5 the published study loses
    up to 21 points on a source that recovers after exactly five results.

Example:
    ``streak(3)`` saves half of all calls and puts 40 of 250 right answers at risk: they came
    after the third useless result in a row.

What to do:
    Take a larger k, or a rule that knows the fault durations: record answer-now branches, run
    ``haltwise calibrate search``, and compare on the same episodes with ``haltwise replay``.
    An answer put at risk is not lost: forced early, the agent may be right as well.
"""

from __future__ import annotations

from ...core.policies import UselessStreak
from ..result import Audit
from .rule import Rule
from .words import percent

SHARE = 0.05
"""Share of right answers put at risk from which the finding holds."""
SAFE = 0.02
"""Share that the recommended k stays below."""


def look(audit: Audit) -> str | None:
    """Return how many right answers ``streak(k)`` puts at risk, and the first k that is safer."""
    risked = _at_risk(audit, audit.k)
    if risked is None or not audit.right or risked < SHARE * audit.right:
        return None
    safer = next(
        (
            k
            for k in range(audit.k + 1, audit.budget)
            if (other := _at_risk(audit, k)) is not None and other < SAFE * audit.right
        ),
        None,
    )
    advice = (
        f"streak({safer}) puts fewer than {percent(SAFE)} at risk."
        if safer is not None
        else f"No k below the budget puts fewer than {percent(SAFE)} at risk."
    )
    return (
        f"streak({audit.k}) would put {risked:,} of {audit.right:,} right answers "
        f"({percent(risked / audit.right)}) at risk: they came after it fires. {advice}"
    )


def _at_risk(audit: Audit, k: int) -> int | None:
    row = audit.rule(str(UselessStreak(k)))
    return None if row is None else row.answers_at_risk


RULE = Rule("late-useful-results", "Useful results come late", look)
