"""The history that every model span of a trace sends again, read once.

Knows messages as JSON texts, as lists of objects and as numbered attributes
(`haltwise.record.numbered`). Ignorant of spans and files.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from .chat import Message, plain, read_message
from .numbered import numbered


class History:
    """What the model spans of one trace sent so far, for each sends what was said before it again.

    A message that stands where an equal one stood is not read a second time: the work grows with
    what is new, the bytes of a file with all that is repeated.
    """

    def __init__(self) -> None:
        self._begun = ""
        self._decoded: list[Any] = []
        self._items: list[Any] = []
        self._messages: list[Message | None] = []
        self._attributes: dict[str, Any] = {}
        self._spelled: list[Message | None] = []

    def decoded(self, text: str) -> list[Any] | None:
        """Return the list that a JSON text holds; None where it holds something else.

        Of a text that goes on where an earlier one ended, only what is new is decoded.
        """
        if text[:1] != "[":
            return None
        known: list[Any] = []
        rest = text
        if self._decoded and text.startswith(self._begun):
            after = text[len(self._begun) :].lstrip()
            if after == "]":
                return self._decoded
            if after[:1] == ",":
                known, rest = self._decoded, f"[{after[1:]}"
        try:
            fresh = msgspec.json.decode(rest)
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            return None
        if known and not fresh:  # a comma with nothing behind it
            return None
        self._begun, self._decoded = text.rstrip()[:-1], [*known, *fresh]
        return self._decoded

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

    def spelled(self, attributes: dict[str, Any]) -> tuple[list[Message], list[Message]]:
        """Return the messages sent and those replied that numbered attributes spell out."""
        known, before = self._attributes, len(self._spelled)
        if not known or not known.items() <= attributes.items():
            known, before = {}, 0
        given, replied, fresh = numbered(attributes, known)
        if before and given and min(given) < before:
            known, before = {}, 0
            given, replied, fresh = numbered(attributes, known)
        sent = self._spelled[:before] + [given[number] for number in sorted(given)]
        longer = given and max(given) == len(sent) - 1 and len(sent) > len(self._spelled)
        if longer and set(map(type, fresh.values())) == {str}:  # nested values are read anew
            self._spelled = sent
            if before:
                known.update(fresh)
            else:
                self._attributes = fresh
        return (
            plain([message for message in sent if message is not None]),
            plain([found for number in sorted(replied) if (found := replied[number]) is not None]),
        )


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
