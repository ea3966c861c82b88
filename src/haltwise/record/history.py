"""The history that every model span of a trace sends again, read once.

Knows messages as lists of objects and as numbered attributes (OpenInference, Traceloop). Ignorant
of spans and files.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from .chat import Message, plain, read_message

_REPLIES = ("llm.output_messages.", "gen_ai.completion.")
_NUMBERED = ("llm.input_messages.", "gen_ai.prompt.", *_REPLIES)


class History:
    """What the model spans of one trace sent so far, for each sends what was said before it again.

    A message that stands where an equal one stood is not read a second time: the work grows with
    what is new, the bytes of a file with all that is repeated.
    """

    def __init__(self) -> None:
        self._items: list[Any] = []
        self._messages: list[Message | None] = []
        self._attributes: dict[str, Any] = {}
        self._spelled: list[dict[str, Any]] = []

    def read(
        self, items: list[Any], make: Callable[[Any], Message | None] = read_message
    ) -> list[Message]:
        """Return the messages of ``items``, each made by ``make``."""
        if not items:
            return []
        known = _common(self._items, items)
        messages = self._messages[:known] + [make(item) for item in items[known:]]
        if len(items) > known:
            self._items, self._messages = items, messages
        return plain([message for message in messages if message is not None])

    def spelled(
        self, attributes: dict[str, Any]
    ) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Return the messages sent and those replied that numbered attributes spell out.

        OpenInference writes ``llm.input_messages.0.message.role``, Traceloop
        ``gen_ai.prompt.0.role``.
        """
        known, before = self._attributes, len(self._spelled)
        if not known or not known.items() <= attributes.items():
            known, before = {}, 0
        given, replied, fresh = _numbered(attributes, known)
        if before and given and min(given) < before:
            known, before = {}, 0
            given, replied, fresh = _numbered(attributes, known)
        sent = self._spelled[:before] + [given[number] for number in sorted(given)]
        longer = given and max(given) == len(sent) - 1 and len(sent) > len(self._spelled)
        if longer and set(map(type, fresh.values())) == {str}:  # nested values are read anew
            self._spelled = sent
            if before:
                known.update(fresh)
            else:
                self._attributes = fresh
        return sent, [replied[number] for number in sorted(replied)]


def _common(before: list[Any], items: list[Any]) -> int:
    """Return how many items at the beginning of two lists are equal."""
    try:
        if items[: len(before)] == before:
            return len(before)
        for number, (old, new) in enumerate(zip(before, items, strict=False)):
            if old is not new and old != new:
                return number
    except RecursionError:
        return 0
    return min(len(before), len(items))


Numbered = dict[int, dict[str, Any]]


def _numbered(
    attributes: dict[str, Any], known: dict[str, Any]
) -> tuple[Numbered, Numbered, dict[str, Any]]:
    """Read numbered attributes, but those that are known.

    Returns:
        The messages sent and those replied by number, and the attributes of those sent.
    """
    fresh: dict[str, Any] = {}
    sent: Numbered = {}
    replied: Numbered = {}
    calls: dict[tuple[bool, int, str], dict[str, Any]] = {}
    for key, value in attributes.items():
        if key in known or (place := _place(key)) is None:
            continue
        reply, number, name, call, field = place
        if reply:
            messages = replied
        else:
            messages = sent
            fresh[key] = value
        message = messages.get(number)
        if message is None:
            message = messages[number] = {}
        if call is not None:
            made = calls.get((reply, number, call))
            if made is None:
                made = calls[reply, number, call] = {}
                message.setdefault("tool_calls", []).append(made)
            made[field] = value
        elif name == "contents":
            before = message.get("content")
            message["content"] = value if before is None else f"{before}\n{value}"
        else:
            message[name] = value
    return sent, replied, fresh


@lru_cache(maxsize=1 << 14)
def _place(key: str) -> tuple[bool, int, str, str | None, str] | None:
    """Return where an attribute belongs: reply?, message, name, call, and the call's field.

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
        return reply, number, name, path[at + 1], last
    if name == "contents":
        return (reply, number, name, None, last) if last == "text" else None
    return (reply, number, name, None, last) if len(path) == at + 1 else None
