"""From messages to a loop: which calls are one step, which result belongs to which call.

The one place where a conversation is interpreted, for every trace format. Calls of one turn are one
step; each is paired with its result by id, else in order. Knows no dialect (`haltwise.record.chat`)
and no file.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from .chat import Message, ToolCall, ToolResult
from .episode import Call, SearchStep

FINISH = {"finish", "final_answer", "submit", "submit_answer", "attempt_completion"}
"""Tools whose call is the final answer, where it is the last call of the loop."""

NO_CALLS = "no tool call in this trace"
TRIMMED = "{} result(s) without their call: the history was cut before it was recorded"
UNANSWERED = "{} call(s) without a result"


class Loop(msgspec.Struct, frozen=True, gc=False):
    """What the messages of one conversation amount to."""

    steps: list[SearchStep]
    """The steps, in order."""
    question: str | None
    """The first words of the user."""
    answer: str | None
    """The final answer, if the conversation ends with one."""
    censored: bool
    """Whether it ends in the middle of a call."""
    notes: list[str]
    """What is missing."""


class _Turn(msgspec.Struct, gc=False):
    calls: list[ToolCall]
    results: list[str | None]
    thought: str | None
    asked: str | None
    id: str | None
    time: float | None
    open: bool = True
    waiting: int = 0


def loop_of(messages: Iterable[Message]) -> Loop:
    """Return the loop in ``messages``."""
    turns: list[_Turn] = []
    pending: dict[str, tuple[_Turn, int]] = {}
    question: str | None = None
    said: str | None = None
    asked: str | None = None
    answer: str | None = None
    orphans = 0
    begun: float | None = None
    turn: _Turn | None = None
    for message in messages:
        text, calls, results = message.text, message.calls, message.results
        if begun is None:
            begun = message.time
        if calls:
            if turn is None or not _continues(turn, message.turn):
                thought = text if said is None else said if text is None else f"{said}\n{text}"
                turn = _Turn([], [], thought, asked, message.turn, message.time)
                turns.append(turn)
                asked = None
            said = answer = None
            for call in calls:
                if call.id is not None:
                    pending[call.id] = (turn, len(turn.calls))
                turn.calls.append(call)
                turn.results.append(None)
        elif text and message.role == "assistant":
            said = answer = text
            if turn is not None:
                turn.open = turn.open and turn.id == message.turn is not None
        if results:
            said = answer = None
            for result in results:
                if not _place(result, turn, pending):
                    orphans += 1
                    call = ToolCall(result.id, result.name or "unknown", None)
                    turn = _Turn([call], [result.text], None, asked, None, message.time)
                    turns.append(turn)
                    asked = None
            if turn is not None:
                turn.open = False
        if text and message.role == "user":
            if question is None:
                question = text
            else:
                asked = text if asked is None else f"{asked}\n{text}"
            if turn is not None:
                turn.open, turn.id = False, None
            said = None
    return _finished(turns, question, answer, asked, orphans, begun)


def _continues(turn: _Turn, reply: str | None) -> bool:
    """Whether calls belong to the turn before them: the same reply, or nothing in between."""
    if reply is not None and turn.id is not None:
        return turn.id == reply
    return turn.open


def _place(result: ToolResult, turn: _Turn | None, pending: dict[str, tuple[_Turn, int]]) -> bool:
    """Give a result to its call; return whether there is one that still waits for it."""
    if result.id is not None:
        found = pending.get(result.id)
        if found is None:
            return False
        turn, position = found
        before = turn.results[position]
        turn.results[position] = result.text if before is None else f"{before}\n{result.text}"
        return True
    if turn is None:
        return False
    results = turn.results
    while turn.waiting < len(results) and results[turn.waiting] is not None:
        turn.waiting += 1
    if turn.waiting == len(results):
        return False
    results[turn.waiting] = result.text
    return True


def _finished(
    turns: list[_Turn],
    question: str | None,
    answer: str | None,
    asked: str | None,
    orphans: int,
    begun: float | None,
) -> Loop:
    steps: list[SearchStep] = []
    unanswered = 0
    last = len(turns)
    for number, turn in enumerate(turns, 1):
        final = False
        if number == last and answer is None and len(turn.calls) == 1:
            final = _finishes(turn.calls[0], turn.results[0])
            if final:
                answer = _answer_in(turn.calls[0].arguments)
        if not final and None in turn.results:
            unanswered += turn.results.count(None)
        steps.append(_step(number, turn, begun, final))
    ended = bool(steps) and steps[-1].action == "answer"
    if answer is not None and not ended and steps:
        steps.append(SearchStep(len(steps) + 1, "answer", asked=asked))
    hanging = bool(turns) and not ended and answer is None and turns[-1].results[-1] is None
    notes = []
    if not turns:
        notes.append(NO_CALLS)
    if orphans:
        notes.append(TRIMMED.format(orphans))
    if unanswered:
        notes.append(UNANSWERED.format(unanswered))
    return Loop(steps, question, answer, hanging, notes)


def _step(t: int, turn: _Turn, begun: float | None, final: bool) -> SearchStep:
    time = None if turn.time is None or begun is None else max(0.0, turn.time - begun)
    if len(turn.calls) == 1:
        call = turn.calls[0]
        action = "answer" if final else _name(call.name)
        return SearchStep(  # by position: twice as fast as by name
            t,
            action,
            call.arguments,
            turn.results[0],
            {},
            None,
            None,
            time,
            None,
            [],
            turn.thought,
            turn.asked,
        )
    parallel = [
        Call(_name(call.name), call.arguments, result)
        for call, result in zip(turn.calls, turn.results, strict=True)
    ]
    action = parallel[0].action
    if any(other.action != action for other in parallel[1:]):
        action = "+".join(dict.fromkeys(other.action for other in parallel))
    known = [result for result in turn.results if result is not None]
    return SearchStep(
        t,
        action,
        None,
        "\n\n".join(known) if known else None,
        {},
        None,
        None,
        time,
        None,
        parallel,
        turn.thought,
        turn.asked,
    )


def _finishes(call: ToolCall, result: str | None) -> bool:
    """Whether a call is the final answer, and was not refused as malformed."""
    if call.name.lower() not in FINISH:
        return False
    return result is None or not result[:14].lower().startswith("invalid action")


def _name(name: str) -> str:
    """Return the tool's name; "answer" is taken for the final answer."""
    return "tool:answer" if name == "answer" else name


def _answer_in(arguments: Any) -> str | None:
    if isinstance(arguments, dict):
        for key in ("answer", "result", "text"):
            if isinstance(arguments.get(key), str):
                found: str = arguments[key]
                return found
        return None
    return arguments if isinstance(arguments, str) else None
