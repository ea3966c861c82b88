"""The contrast cannot be computed: one of the groups that it compares is empty.

What it means:
    No decision point has both kinds of episodes, those with nothing but useless results and those
    that saw something else before. Whether verdicts reach decisions cannot be told this way.

Why it matters:
    The value is undefined, not zero: a zero would read as "the verdicts have no effect".

Example:
    All episodes come from a dead source, so that every verdict is useless; or the traces carry no
    verdicts at all.

What to do:
    Where verdicts are missing, have the results judged with ``--signal``. Where all sources are
    dead, add episodes with sources that work at first or recover. The answered-after-a-run table is
    defined without it.
"""

from __future__ import annotations

from ..result import Audit
from ..verdicts import NO_VERDICTS
from .rule import Rule

SIGNALS = "Have the results judged: --signal lexical, or --signal stated for the agent's own words."
"""What to do about traces without verdicts."""


def look(audit: Audit) -> str | None:
    """Return what is missing."""
    contrast = audit.contrast.estimate
    if contrast.defined:
        return None
    remedy = f" {SIGNALS}" if contrast.note.startswith(NO_VERDICTS) else ""
    return f"Undefined: {contrast.note}.{remedy}"


RULE = Rule("undefined-contrast", "The time-matched contrast is undefined", look)
