"""Episodes end without any answer: the budget is spent on searching.

What it means:
    A tenth of the episodes or more hold no answer at all. Episodes that something outside cut off
    are not counted.

Why it matters:
    The user waits for the whole budget and gets nothing, not even what the agent knew without
    searching. A forced answer at the last action costs one call less and is sometimes right.

Example:
    Of 1,500 published episodes of Qwen3-8B, 569 end with a search as their last action. With the
    last action kept for the answer, success rises from .417 to .460.

What to do:
    Add ``| deadline(B)`` with your budget B to whatever rule you use: it keeps the last action for
    the answer and loses nothing.
"""

from __future__ import annotations

from ..result import Audit
from .rule import Rule
from .words import interval, percent

SHARE = 0.1
"""Share of episodes without an answer from which the finding holds."""
FEWEST = 10
"""Episodes below which nothing is said."""


def look(audit: Audit) -> str | None:
    """Return how many episodes hold no answer."""
    share = audit.unanswered
    if share.n < FEWEST or share.value < SHARE:
        return None
    return (
        f"{round(share.value * share.n):,} of {share.n:,} episodes ({percent(share.value)}) end "
        f"without any answer{interval(share)}."
    )


RULE = Rule("never-answers", "Many episodes end without an answer", look)
