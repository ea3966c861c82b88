"""Server-sent events: bytes to events and back. Knows the framing only."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from ..core.errors import InputError

LARGEST = 16 << 20
"""Bytes of one event that are accepted."""


class Raw(NamedTuple):
    """One event as it came."""

    source: bytes
    """Its bytes, the empty line at the end included."""
    name: str | None
    """The ``event`` field."""
    data: Any
    """The ``data`` field decoded from JSON; None where it is no JSON object ("[DONE]", pings)."""


class Parser:
    """Cuts a byte stream into events. One object per stream."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> list[Raw]:
        """Return the events that are complete with ``chunk``.

        Raises:
            InputError: an event is larger than `LARGEST`.
        """
        self._rest += chunk
        events = []
        while True:
            end = _end(self._rest)
            if end is None:
                break
            events.append(_event(self._rest[:end]))
            self._rest = self._rest[end:]
        if len(self._rest) > LARGEST:
            raise InputError(f"the upstream sent an event of more than {LARGEST} bytes")
        return events

    def rest(self) -> list[Raw]:
        """Return what is left at the end of the stream, as one event."""
        rest, self._rest = self._rest, b""
        return [_event(rest)] if rest.strip() else []


def encode(name: str | None, data: Any) -> bytes:
    """Return one event as bytes."""
    head = b"" if name is None else b"event: " + name.encode() + b"\n"
    return head + b"data: " + msgspec.json.encode(data) + b"\n\n"


def _end(text: bytes) -> int | None:
    ends = [
        place + len(mark)
        for mark in (b"\n\n", b"\r\n\r\n", b"\r\r")
        if (place := text.find(mark)) >= 0
    ]
    return min(ends) if ends else None


def _event(source: bytes) -> Raw:
    name = None
    data = []
    for line in source.splitlines():
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"event":
            name = value.decode("utf-8", "replace")
        elif field == b"data":
            data.append(value)
    try:
        decoded = msgspec.json.decode(b"\n".join(data)) if data else None
    except msgspec.DecodeError:
        decoded = None
    return Raw(source, name, decoded if isinstance(decoded, dict) else None)
