"""What a dialect is: how one model API writes requests, replies and streams.

Bodies are decoded JSON objects. Nothing here changes a body that came from outside: every
function returns a new one that shares the untouched parts. Knows nothing of rules or networks.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

from ...core.errors import InputError
from ..messages import Message, texts_of

Body = dict[str, Any]
Event = tuple[str | None, Body]
"""One server-sent event: its name, or None, and its data."""


class How(StrEnum):
    """How tools are switched off."""

    STRIP = "strip"
    """The tools are left out of the request."""
    NONE = "none"
    """The tools stay, the choice is "none"; keeps the provider's prompt cache."""
    FLATTEN = "flatten"
    """The tools are left out and past calls are rewritten as text; every provider takes it."""


class Reply(NamedTuple):
    """What a model's reply holds."""

    text: str
    """Its text; empty when there is none."""
    calls: tuple[str, ...]
    """Names of the tools that it calls."""


class StreamScrubber(Protocol):
    """Filters one stream after the stop: calls vanish, the answer is never empty."""

    text: str
    """The answer so far."""
    kept: bool
    """Whether a call of a kept tool has passed."""

    def feed(self, event: Event) -> list[Event]:
        """Return what is to be sent for one event that came."""
        ...


class Dialect(Protocol):
    """How one model API speaks."""

    name: str
    """"chat", "responses" or "anthropic"."""
    default: How
    """How tools are switched off unless the model is known to need something else."""

    def read(self, body: Body) -> list[Message]:
        """Return the conversation of a request."""
        ...

    def tools(self, body: Body) -> list[str]:
        """Return the names of the tools that a request offers and allows; empty for none."""
        ...

    def opaque(self, body: Body) -> str | None:
        """Return why the history cannot be read from the request; None where it can."""
        ...

    def wants_json(self, body: Body) -> bool:
        """Return whether the request demands a JSON answer."""
        ...

    def gate(self, body: Body, note: str, how: How, keep: frozenset[str]) -> Body:
        """Return the request with its tools off and the note at its end.

        Tools named in ``keep`` deliver the answer and stay.
        """
        ...

    def reply(self, response: Body) -> Reply:
        """Return what a whole (not streamed) response says."""
        ...

    def scrub(self, response: Body, keep: frozenset[str]) -> Body:
        """Return the response without the calls of tools outside ``keep``."""
        ...

    def with_text(self, response: Body, text: str) -> Body:
        """Return the response with ``text`` as its answer and no calls."""
        ...

    def demanded(self, body: Body, keep: frozenset[str]) -> tuple[str, str] | None:
        """Return the kept tool, with its argument, that a request takes its answer from.

        None where a text answer will do, or where the gated request names the tool itself, so
        that the provider sees to it: the default.
        """
        return None

    def with_call(self, response: Body, tool: tuple[str, str], text: str) -> Body:
        """Return the response with ``text`` as the call of a tool that `demanded` gave.

        A plain answer where no call is ever demanded, which is the default.
        """
        return self.with_text(response, text)

    def scrubber(
        self,
        keep: frozenset[str],
        fallback: str,
        tail: str,
        tool: tuple[str, str] | None = None,
    ) -> StreamScrubber:
        """Return a filter for one stream.

        Args:
            keep: tools whose calls pass.
            fallback: the answer where the stream brings none.
            tail: added to the end of a text answer; may be empty.
            tool: as `demanded` gives it; a text answer is then sent as its call, too.
        """
        ...

    def question(self, body: Body, prompt: str) -> Body:
        """Return a request that asks ``prompt`` on a copy of the conversation, without tools."""
        ...


def objects(body: Body, key: str) -> Sequence[Body]:
    """Return ``body[key]``, which must be a list of JSON objects.

    Raises:
        InputError: it is not; the message names the place.
    """
    value = body.get(key)
    if not isinstance(value, list):
        raise InputError(f"request: {key} is a list of objects; got {type(value).__name__}")
    for position, item in enumerate(value):
        if type(item) is not dict:
            raise InputError(f"request: {key}[{position}] is an object; got {type(item).__name__}")
    return value


def text_of(content: Any) -> str:
    """Return the text of a content field: a string, or a list of typed parts."""
    return content if isinstance(content, str) else "\n".join(texts_of(content))
