"""Most texts are error messages: these episodes show a broken tool or API, not an agent.

What it means:
    At least half of the results and answers whose text was kept look like an error of a tool or an
    API.

Why it matters:
    Such episodes still get verdicts and grades, and some are even right by luck. Every other number
    of the audit then describes the outage.

Example:
    A run whose key had expired: each of its 400 results reads "Error code: 401", and 3 % of the
    answers were graded right.

What to do:
    Repair the tool and record again, or leave these episodes out with ``--where``. Readers mark a
    failed call as ``source_error``, which by default neither lengthens nor ends a run.
"""

from __future__ import annotations

from ..result import Audit
from .rule import Rule
from .words import percent

SHARE = 0.5
"""Share of error texts from which the finding holds."""


def look(audit: Audit) -> str | None:
    """Return how many texts are error texts, and the commonest."""
    found = audit.error_texts
    if not found.errors or found.errors < SHARE * found.texts:
        return None
    return (
        f"{found.errors:,} of {found.texts:,} texts ({percent(found.errors / found.texts)}) look "
        f'like errors; the commonest begins "{found.commonest}".'
    )


RULE = Rule("error-texts", "Most results or answers are error texts", look)
