"""From the spans of one trace to the messages of its conversation.

Spans are calls of a model and runs of a tool with their times, whatever tracing system wrote them.
The model's replies and the tools' results are laid out in the order of time; where results were
recorded only as the next request's history, they are taken from there. Knows no file format.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from ..core.events import Usage
from .chat import Message, ToolCall, ToolResult
from .conversation import add_usage


class Span(msgspec.Struct, gc=False):
    """One span, as far as it matters."""

    kind: str
    """"llm", "tool" or "other"."""
    start: float | None
    """Seconds on any clock."""
    end: float | None = None
    """Seconds on the same clock."""
    inputs: list[Message] = []
    """llm: the history that was sent."""
    outputs: list[Message] = []
    """llm: the reply."""
    call: ToolCall | None = None
    """tool: the call."""
    result: str | None = None
    """tool: what came back; None where it was not recorded."""
    model: str | None = None
    """llm: the model."""
    usage: Usage | None = None
    """llm: what it cost."""


class Trace(msgspec.Struct, gc=False):
    """The spans of one trace while they come in."""

    line: int | None
    """Line of its first span."""
    spans: list[Span] = []
    """In the order of the file."""
    conversation: str | None = None
    """Conversation or session that it belongs to."""
    success: bool | None = None
    """Whether the outcome was right, where the trace says so."""
    question: str | None = None
    """The input of the outermost span, where no model's history was recorded."""
    answer: str | None = None
    """The output of the outermost span, likewise."""

    def model(self) -> str | None:
        """Return the model of the last model span that names one."""
        return next((span.model for span in reversed(self.spans) if span.model), None)

    def usage(self) -> Usage | None:
        """Return the sum over all model spans; None where none says."""
        total: Usage | None = None
        for span in self.spans:
            total = add_usage(total, span.usage)
        return total

    def messages(self) -> list[Message]:
        """Return the conversation."""
        ordered = sorted(
            self.spans, key=lambda s: (s.start is None, s.start or 0.0, s.kind != "llm")
        )
        replied = any(span.outputs for span in ordered)
        spoken = replied or any(span.inputs for span in ordered)
        told = any(m.role == "user" for s in ordered for m in s.inputs)
        if spoken and not replied:
            longest = max(ordered, key=lambda span: len(span.inputs))
            made = list(longest.inputs)
        else:
            made = list(_conversation(ordered))
        if self.question and not told:
            made.insert(0, Message("user", self.question, [], []))
        if self.answer and not (made and made[-1].role == "assistant" and made[-1].text):
            made.append(Message("assistant", self.answer, [], []))
        return made


def _conversation(spans: Iterable[Span]) -> Iterator[Message]:
    users = 0
    asked: set[str] = set()
    answered: set[str] = set()
    waiting: list[ToolCall] = []
    running: float | None = None
    for span in spans:
        if span.kind == "llm":
            given = [m for m in span.inputs if m.role == "user" and m.text]
            for m in given[users:]:
                yield Message(m.role, m.text, [], [], m.turn, m.time)
            users = max(users, len(given))
            for message in span.inputs:
                if not message.results:
                    continue
                late = [
                    result
                    for result in message.results
                    if result.id in asked and result.id not in answered
                ]
                answered.update(result.id for result in late if result.id is not None)
                if late:
                    waiting = [call for call in waiting if call.id not in answered]
                    yield Message("tool", None, [], late)
            for message in span.outputs:
                calls = [call for call in message.calls if call.id is None or call.id not in asked]
                asked.update(call.id for call in calls if call.id is not None)
                waiting.extend(calls)
                yield Message(
                    message.role, message.text, calls, message.results, message.turn, span.start
                )
        elif span.kind == "tool" and span.call is not None:
            known = _waiting(span.call, waiting, asked)
            if known is None:
                beside = running is not None and span.start is not None and span.start < running
                turn = "beside" if beside else None
                yield Message("assistant", None, [span.call], [], turn, span.start)
                known = span.call
            else:
                waiting = [call for call in waiting if call is not known]
            running = span.end
            if span.result is not None and (known.id is None or known.id not in answered):
                if known.id is not None:
                    answered.add(known.id)
                yield Message("tool", None, [], [ToolResult(known.id, known.name, span.result)])


def _waiting(call: ToolCall, waiting: list[ToolCall], asked: set[str]) -> ToolCall | None:
    """Return the model's call that a tool span carried out; None if no model span shows it."""
    if call.id is not None and call.id in asked:
        return call
    return next((other for other in waiting if other.name == call.name), None)
