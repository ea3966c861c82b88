"""The answer of last resort: the best that the loop has brought, never an empty text."""

from __future__ import annotations

import json

from ..core.events import Verdict
from .decide import Assessment
from .messages import OWN, is_own

_LONGEST = 1500
_NAMED = 5


def best_candidate(assessment: Assessment, *, as_json: bool = False) -> str:
    """Return the best answer that the loop holds, for a model that gave none.

    In this order: the newest answer that the agent wrote in this loop; the newest result that was
    judged useful; a plain statement of what was tried without success.

    Args:
        assessment: the loop and its verdicts.
        as_json: whether the answer has to be JSON. An earlier answer that is JSON is returned as
            it is; anything else is put into ``{"answer": ..., "reason": ...}``.
    """
    loop = assessment.loop
    answers = [text.strip() for text in reversed(loop.answers) if text.strip() and not is_own(text)]
    if as_json:
        for text in answers:
            if _is_json(text):
                return text
    found = answers[0] if answers else _useful_result(assessment)
    if as_json:
        reason = assessment.decision.reason
        return json.dumps({"answer": found, "reason": reason}, ensure_ascii=False)
    return found or _statement(assessment)


def _useful_result(assessment: Assessment) -> str | None:
    pairs = zip(assessment.loop.steps, assessment.verdicts, strict=True)
    for step, verdict in reversed(list(pairs)):
        if verdict is Verdict.USEFUL:
            text: str = max([result.text for result in step.results], key=len).strip()
            if text:
                return text[:_LONGEST]
    return None


def _statement(assessment: Assessment) -> str:
    calls = [str(r.call) for step in assessment.loop.steps for r in step.results if r.call]
    tried = "; ".join(call[:120] for call in dict.fromkeys(calls[-_NAMED:]))
    ending = f" Tried last, without success: {tried}." if tried else ""
    return f"{OWN} No answer was found: {assessment.decision.reason}.{ending}"


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
