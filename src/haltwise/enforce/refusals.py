"""Results that no signal should judge: a framework's refusal, a failed tool, a forced sub-answer.

A refusal ("unknown tool", "tool disabled") is useless: if it reset the run, a model that calls
tools it was not offered would open them again. A failure of the tool itself says nothing of the
evidence. A sub-agent's forced answer looks like a finding and is none.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ..core.events import Verdict
from .messages import MARK, OWN

_HEAD = 240
_PREFIX = r"^\W*(?:\w*error\W+)?"
_REFUSAL = re.compile(
    "|".join(
        (
            rf"{_PREFIX}(?:unknown|unrecogni[sz]ed|invalid|undefined|no such|nonexistent)\s+"
            r"(?:tool|function)\b",
            rf"{_PREFIX}(?:the\s+)?(?:tool|function)s?\b.{{0,80}}?\b(?:not\s+(?:found|available|exist"
            r"|enabled|allowed|registered|permitted|offered|recogni[sz]ed|defined|supported)"
            r"|disabled|unavailable|unknown|does\s*n[o']t\s+exist)",
            r"^.{0,80}\bis\s+not\s+a\s+(?:valid|known|registered)\s+(?:tool|function)\b",
            r"^.{0,40}\b(?:there\s+is\s+)?no\s+(?:tool|function)\s+(?:named|called|with)\b",
            r"^.{0,40}\bcould\s+not\s+find\s+(?:a\s+)?(?:tool|function)\b",
        )
    ),
    re.IGNORECASE | re.DOTALL,
)
_FAILURE = re.compile(
    r"^\W*(?:"
    r"an\s+error\s+occurred|(?:\w+\s+)?\w*(?:error|exception|failure)\s*[:(\[]|error\s+(?:while|when|"
    r"executing|running|calling|invoking|in|code)\b|traceback\s+\(most|execution\s+error|"
    r"(?:tool|function|request|call|connection|operation)\s+(?:\w+\s+){0,3}?(?:failed|timed\s+out|"
    r"timeout|refused)|time(?:d)?\s*-?out\b|(?:http\s*(?:error|status)?\W*)?(?:5\d\d|429|408)\s+(?:"
    r"internal|bad|service|gateway|too|server|error|request)|internal\s+server\s+error|"
    r"service\s+unavailable|bad\s+gateway|gateway\s+time-?out|rate\s+limit|too\s+many\s+requests|"
    r"\"?error\"?\s*:"
    r")",
    re.IGNORECASE,
)


def settled(
    text: str, failed: bool, is_forced: Callable[[str], bool] | None = None
) -> Verdict | None:
    """Return the verdict on a result that needs no signal, or None where the signal decides.

    Args:
        text: the result.
        failed: whether the message format marks it as a failure.
        is_forced: recognises answers that were forced elsewhere and carry no mark.
    """
    head = text[:_HEAD]
    if OWN in text and (head.lstrip().startswith(OWN) or MARK in text):
        return Verdict.USELESS
    lower = head.lower()
    if ("tool" in lower or "function" in lower) and _REFUSAL.search(head) is not None:
        return Verdict.USELESS
    if failed or _FAILURE.search(head) is not None:
        return Verdict.SOURCE_ERROR
    if is_forced is not None and is_forced(text):
        return Verdict.USELESS
    return None
