"""Pure belief updates, kept apart from the policies so that audits can replay them.

Knows how a verdict changes what is believed; ignorant of what anybody does about it.
"""

from __future__ import annotations

from .events import Verdict


def run_length(run: int, verdict: Verdict, *, count_errors: bool = False) -> int:
    """Return the number of consecutive useless verdicts once ``verdict`` has come in.

    ``useless`` adds one; ``useful`` and ``unknown`` reset to 0; ``unjudged`` leaves the run as it
    is, and so does ``source_error`` unless ``count_errors``. METHODS section 1, "Verdicts and run".

    Args:
        run: the run so far, at least 0.
        verdict: the judgement of the newest result.
        count_errors: whether a failed source counts as a useless result.
    """
    if verdict is Verdict.USELESS:
        return run + 1
    if verdict is Verdict.UNJUDGED:
        return run
    if verdict is Verdict.SOURCE_ERROR:
        return run + 1 if count_errors else run
    return 0
