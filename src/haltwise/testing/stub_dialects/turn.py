"""What a stub model says in one turn, and what a dialect has to do with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

Body = dict[str, Any]


class Turn(NamedTuple):
    """One reply of the stub."""

    number: int
    text: str
    calls: tuple[tuple[str, Body], ...]


class StubDialect(Protocol):
    """One model API, from the side of the server."""

    key: str
    """The field of a request that holds the history."""

    def offered(self, body: Body) -> dict[str, Body]:
        """Return the JSON schemas of the arguments of the tools offered, by name."""
        ...

    def links(self, items: list[Body]) -> Iterator[tuple[str, Any]]:
        """Yield ("call" | "result" | "turn", id) in the order of the history."""
        ...

    def whole(self, turn: Turn) -> Body:
        """Return the turn as one response."""
        ...

    def events(self, turn: Turn) -> Iterator[tuple[str | None, Body]]:
        """Yield the turn as the (name, data) of server-sent events."""
        ...


def parts(content: Any) -> list[Body]:
    """Return a content field as typed parts."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [part for part in content or () if isinstance(part, dict)]


def pieces(text: str) -> list[str]:
    """Return a text in the two pieces that a stream brings it in; none for no text."""
    middle = len(text) // 2
    return [piece for piece in (text[:middle], text[middle:]) if piece]
