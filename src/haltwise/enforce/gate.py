"""A decision becomes structure: tools gone, answer demanded, nothing executed afterwards."""

from __future__ import annotations

from collections.abc import Collection

from .decide import Assessment
from .dialects import Body, Dialect, How
from .messages import NOTE


def gate_request(
    body: Body,
    dialect: Dialect,
    *,
    how: How | None = None,
    answer_tools: Collection[str] = (),
    note: str = NOTE,
) -> Body:
    """Return the request with which the final answer is demanded; ``body`` stays as it is.

    The note is the last thing in the request and enters nobody's history. Calls that have no
    result yet get one that says that they were not run, so that the history stays valid.

    Args:
        body: the request.
        dialect: the API that it is written for.
        how: how tools are switched off; None for the dialect's own way.
        answer_tools: tools that deliver the answer (such as "final_answer"); they stay.
        note: what the model is told.
    """
    return dialect.gate(body, note, how or dialect.default, frozenset(answer_tools))


def scrub_response(
    response: Body,
    dialect: Dialect,
    *,
    fallback: str,
    answer_tools: Collection[str] = (),
    tail: str = "",
) -> Body:
    """Return the response of a gated request without calls and with an answer in it.

    Args:
        response: what the model replied.
        dialect: the API that it is written for.
        fallback: the answer where the reply has none, as `best_candidate` gives it; not empty.
        answer_tools: tools whose calls are the answer and pass.
        tail: added below a text answer, such as the line that marks it as forced.
    """
    cleaned = dialect.scrub(response, frozenset(answer_tools))
    reply = dialect.reply(cleaned)
    if reply.calls:
        return cleaned
    if not reply.text.strip():
        return dialect.with_text(cleaned, fallback)
    return dialect.with_text(cleaned, reply.text + tail) if tail else cleaned


def gates(assessment: Assessment, offered: Collection[str]) -> bool:
    """Return whether a request is to be gated: the loop has stopped and can still go on.

    A request that offers no tools cannot go on, unless the agent writes its calls as text.
    """
    return assessment.decision.stops and bool(offered or assessment.loop.written)
