"""One shape for the messages of every model API, and the texts that haltwise itself writes.

Dialects turn request bodies into `Message` values; everything behind them reads only these. Knows
nothing of policies or verdicts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

OWN = "[haltwise]"
"""Every text of ours begins with it, so that it is recognised when it comes back."""

NOTE = (
    f"{OWN} The search has ended: no tool can be called any more. Write the final answer now, from "
    "what is in this conversation. Say plainly what could not be found. Keep to the answer format "
    "that was asked for."
)
"""Demands the answer; added to one request and to nobody's history."""

NOT_RUN = f"{OWN} This call was not run: the search has ended."
"""Stands as the result of a call that the stop has overtaken."""

MARK = f"{OWN} This answer was forced"
"""Opens the line that marks an answer given because a rule stopped the loop."""


made = tuple.__new__
"""Makes a named tuple from all of its values: ``made(Message, (role, ...))``. The constructor costs
twice as much, and a long history makes hundreds of them for every request."""


class Call(NamedTuple):
    """One tool call that a model asked for."""

    id: str | None
    """Links the call to its result; None in text agents."""
    name: str
    """The tool."""
    arguments: str
    """JSON text, or plain text."""

    def __str__(self) -> str:
        return f"{self.name}({self.arguments})"


class Message(NamedTuple):
    """One message of a conversation."""

    role: str
    """"system", "user", "assistant" or "tool"."""
    text: str
    """Everything in it that is text."""
    calls: tuple[Call, ...] = ()
    """Assistant: the tool calls of this turn."""
    call_id: str | None = None
    """Tool: the call that it answers; None where the format does not say."""
    failed: bool = False
    """Tool: whether the format itself marks the call as failed."""


def is_own(text: str) -> bool:
    """Return whether ``text`` is a note of ours that somebody stored in the history."""
    return text.lstrip().startswith(OWN)


def mark(reason: str) -> str:
    """Return the line that marks an answer as forced."""
    return f"{MARK}: {reason}."


def user_message(content: Any) -> Message | None:
    """Return the message for a user's content: None for our own note, a result for an observation.

    Text agents send results as user texts that begin with "Observation:", and errors likewise
    with "Call id: ...".
    """
    if type(content) is str:
        text = content
    else:
        parts = list(texts_of(content))
        theirs = [part for part in parts if not is_own(part)]
        if parts and not theirs:
            return None
        text = "\n".join(theirs)
    if text.startswith("["):
        if is_own(text):
            return None
    elif text[:16].lstrip()[:4].lower() in ("obse", "call"):
        match = _OBSERVATION.match(text)
        if match is not None:
            return Message("tool", text[match.end() :])
    return Message("user", text)


_OBSERVATION = re.compile(
    r"\s*(?:observation(?:\s+\d+)?\s*:\s*|call id: \S+\s+(?=error:\s))", re.IGNORECASE
)
_ACTION = re.compile(r"\baction(?:\s+\d+)?\s*:\s*(\w+)\s*[\[(](.*?)[\])]\s*$", re.I | re.M)
_NAMED = re.compile(r"[\"']name[\"']\s*:\s*[\"']([\w.-]+)[\"']")
_INPUT = re.compile(r"\baction\s*:\s*([\w.-]+)\s*\n+\s*action input\s*:\s*(.*)", re.I)


def written_call(text: str) -> Call:
    """Return the call that a text agent wrote out: ``Action: search[x]`` and its relatives."""
    for pattern in (_ACTION, _INPUT):
        match = pattern.search(text)
        if match is not None:
            return Call(None, match[1], match[2])
    named = _NAMED.search(text)
    return Call(None, named[1] if named else "tool", text)


def texts_of(content: Any) -> Iterable[str]:
    """Yield the texts of a content field: a string, or a list of typed parts."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            text = part if isinstance(part, str) else None
            if isinstance(part, dict):
                text = part.get("text") or part.get("refusal")
            if isinstance(text, str):
                yield text


def joined(parts: Iterable[str]) -> str:
    """Return the non-empty texts, one under the other."""
    return "\n".join(part for part in parts if part)


def written(name: Any, arguments: Any) -> str:
    """Return a past call as text."""
    return f"I called the tool {name} with {arguments}."


def returned(text: str) -> str:
    """Return a past result as text."""
    return f"The tool returned: {text}"
