"""Messages that span attributes spell out by number, one attribute a field.

OpenInference writes ``llm.input_messages.0.message.role``, Traceloop ``gen_ai.prompt.0.role``.
Knows where a field belongs; what a message means is the business of `haltwise.record.chat`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from .chat import ROLES, Message, ToolCall, ToolResult, read_message

_REPLIES = ("llm.output_messages.", "gen_ai.completion.")
_NUMBERED = ("llm.input_messages.", "gen_ai.prompt.", *_REPLIES)
_FIELDS = ("role", "content", "tool_call_id", "name")
"""The fields that nearly every message consists of, in their places of a draft."""
_CALLS, _OTHERS = len(_FIELDS), len(_FIELDS) + 1

Draft = list[Any]
"""A message while its fields come in: `_FIELDS`, its calls by number, its other fields."""
Numbered = dict[int, Message | None]


def numbered(
    attributes: dict[str, Any], known: dict[str, Any]
) -> tuple[Numbered, Numbered, dict[str, Any]]:
    """Read numbered attributes, but those that are known.

    Args:
        attributes: every attribute of a span.
        known: attributes that are not to be read.

    Returns:
        The messages sent and those replied by number (None for what is no message), and the
        attributes of those sent.
    """
    fresh: dict[str, Any] = {}
    sent: dict[int, Draft] = {}
    replied: dict[int, Draft] = {}
    for key, value in attributes.items():
        if key in known or (place := _place(key)) is None:
            continue
        reply, number, at, call, name = place
        if reply:
            drafts = replied
        else:
            drafts = sent
            fresh[key] = value
        draft = drafts.get(number)
        if draft is None:
            draft = drafts[number] = [None, None, None, None, None, None]
        if at < _CALLS:
            draft[at] = value
        elif at == _CALLS:
            calls = draft[_CALLS]
            if calls is None:
                calls = draft[_CALLS] = {}
            made = calls.get(call)
            if made is None:
                made = calls[call] = {}
            made[name] = value
        else:
            others = draft[_OTHERS]
            if others is None:
                others = draft[_OTHERS] = {}
            before = others.get(name) if name == "contents" else None
            others[name] = value if before is None else f"{before}\n{value}"
    return (
        {number: _message(draft) for number, draft in sent.items()},
        {number: _message(draft) for number, draft in replied.items()},
        fresh,
    )


def _message(draft: Draft) -> Message | None:
    """Return the message of a draft: the usual ones at once, the others as `read_message` does."""
    role, content, identity, name, calls, others = draft
    if others is None and role.__class__ is str and (content is None or content.__class__ is str):
        role = ROLES.get(role, role)
        if role == "assistant":
            made = [_call(call) for call in calls.values()] if calls else []
            if None not in made:
                return Message(role, content or None, made, [])  # type: ignore[arg-type]
        elif role == "tool" and (identity is None or identity.__class__ is str):
            tool = name if name.__class__ is str and name else None
            return Message("tool", None, [], [ToolResult(identity or None, tool, content or "")])
        elif role in ("user", "system"):
            return Message(role, content or None, [], [])
    fields = {
        field: value for field, value in zip(_FIELDS, draft, strict=False) if value is not None
    }
    if others is not None:
        if "contents" in others:
            fields["content"] = others.pop("contents")
        fields |= others
    if calls is not None:
        fields["tool_calls"] = list(calls.values())
    return read_message(fields)


def _call(call: dict[str, Any]) -> ToolCall | None:
    """Return a call of three plain fields; None for one that is not usual."""
    identity, name = call.get("id"), call.get("name")
    if len(call) > 3 or "arguments" not in call or not name or name.__class__ is not str:
        return None
    if identity.__class__ is not str or not identity:
        return None
    return ToolCall(identity, name, call["arguments"])


@lru_cache(maxsize=1 << 14)
def _place(key: str) -> tuple[bool, int, int, str | None, str] | None:
    """Return where an attribute belongs: reply?, message, place in its draft, call, field.

    Remembered, for the same keys come back in every span.
    """
    if not key.startswith(_NUMBERED):
        return None
    path = key.split(".")
    if len(path) < 4 or not path[2].isdecimal() or len(path[2]) > 9:
        return None
    reply, number = key.startswith(_REPLIES), int(path[2])
    at = 4 if path[3] == "message" and len(path) > 4 else 3
    name, last = path[at], path[-1]
    if name == "tool_calls" and len(path) > at + 2:
        return reply, number, _CALLS, path[at + 1], last
    if name == "contents":
        return (reply, number, _OTHERS, None, name) if last == "text" else None
    if len(path) != at + 1:
        return None
    if name in _FIELDS:
        return reply, number, _FIELDS.index(name), None, name
    return reply, number, _OTHERS, None, name
