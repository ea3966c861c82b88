"""From messages to the loop that is under way: its question, its steps, what is pending.

The loop begins at the last real user turn. Parallel calls of one assistant turn are one step. A
turn whose calls are not all answered is pending: it is no step yet. A history that was trimmed or
summarised cannot be counted right; that is detected here and said. Knows nothing of verdicts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .messages import Call, Message, joined, made, written_call


class Result(NamedTuple):
    """What one call brought."""

    text: str
    call: Call | None
    """None where the history has lost it."""
    failed: bool
    """Whether the format marks it as failed."""


class Step(NamedTuple):
    """One answered tool turn."""

    results: tuple[Result, ...]
    """One per call; those of exempt tools are left out."""
    thought: str | None
    """What the agent wrote next; None while it has not."""


class Loop(NamedTuple):
    """The loop under way."""

    question: str
    """Text of the user turn that opened it."""
    steps: tuple[Step, ...]
    pending: tuple[Call, ...]
    """Calls of the newest turn that wait for a result."""
    answers: tuple[str, ...]
    """Texts without calls that the agent gave in this loop, oldest first."""
    trimmed: str | None
    """Why the history cannot be complete; None where nothing speaks against it."""
    written: bool
    """Whether the agent writes its calls as text ("Action: ...")."""


def read_loop(messages: Sequence[Message], exempt: frozenset[str] = frozenset()) -> Loop:
    """Return the loop that the newest messages belong to.

    Args:
        messages: the whole conversation, oldest first, as a dialect's ``read`` gives it.
        exempt: tools whose calls are no steps (polling, bookkeeping).
    """
    start = len(messages)
    while start and messages[start - 1].role != "user":
        start -= 1
    first = start
    while first and messages[first - 1].role == "user":
        first -= 1
    question = joined(message.text for message in messages[first:start])
    trimmed = None
    if start == 0:
        question = joined(message.text for message in messages if message.role == "system")
        if any(message.role in ("assistant", "tool") for message in messages):
            trimmed = "the history begins without a user turn"
    steps: list[Step] = []
    answers: list[str] = []
    calls: dict[str | None, Call] = {}
    results: list[Result] = []
    is_open = written = False
    for role, text, asked, call_id, failed in messages[start:]:
        if role == "assistant":
            if is_open:
                if calls:
                    trimmed = "a call has no result"
                if results:
                    steps.append(made(Step, (tuple(results), text)))
                    results = []
                is_open = False
            if asked:
                calls = {call[0]: call for call in asked}
                is_open = True
            elif text:
                answers.append(text)
        elif role == "tool":
            call = calls.pop(call_id, None)
            if call is None:
                if call_id is None and calls:
                    call = calls.pop(next(iter(calls)))
                elif call_id is None and answers and not is_open:
                    call = written_call(answers.pop())
                    written = True
                else:
                    trimmed = "a result has no call"
            is_open = True
            if call is None or call[1] not in exempt:
                results.append(made(Result, (text, call, failed)))
    if is_open and not calls and results:
        steps.append(Step(tuple(results), None))
    pending = tuple(calls.values()) if is_open else ()
    return Loop(question, tuple(steps), pending, tuple(answers), trimmed, written)
