"""A threshold explains the contrast: agents answer at exactly k, and hardly ever before.

What it means:
    At some run length nearly every episode answers next, and below it few do. That is the pattern
    of a rule enforced at this k, not of agents that weigh their verdicts.

Why it matters:
    Under an enforced rule the contrast mainly encodes k: the group "useless so far" is emptied at
    step k. A large positive value then says nothing about the agent.

Example:
    With ``streak(5)`` enforced, 260 of 260 episodes answer at a run of five and 2 % before; the
    contrast is +0.33 although the agent is the one that gives -0.06 unaided.

What to do:
    Compare contrasts at equal k only, with the counts by step beside them. To judge the agent
    itself, audit its unaided runs.
"""

from __future__ import annotations

from ..result import Audit
from .rule import Rule
from .words import percent

NEARLY_ALL = 0.95
"""Share answering at the threshold."""
FEW = 0.5
"""Share answering at every shorter run stays below this."""
FEWEST = 10
"""Decisions at the threshold below which nothing is said."""


def look(audit: Audit) -> str | None:
    """Return the run length at which all answer, and the share before."""
    for row in audit.responses[1:]:
        before = audit.responses[: row.run - 1]
        if (
            row.decisions >= FEWEST
            and row.share >= NEARLY_ALL
            and all(other.share < FEW for other in before)
        ):
            decisions = sum(other.decisions for other in before)
            answers = sum(other.answers for other in before)
            return (
                f"{row.answers:,} of {row.decisions:,} decisions after {row.run} useless results "
                f"in a row are answers, and {percent(answers / decisions)} of those after fewer: "
                f"a threshold of {row.run} explains the contrast."
            )
    return None


RULE = Rule("mechanical-contrast", "A threshold explains the contrast", look)
