"""What an upstream says, read while it passes."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec

from ..enforce import Dialect
from ..enforce.dialects import StreamScrubber
from . import sse
from .link import Reply


class ReplyReader:
    """Reads along what a reply says, streamed or not."""

    def __init__(self, dialect: Dialect, tools: frozenset[str]) -> None:
        self._dialect = dialect
        self._scrubber = dialect.scrubber(tools, "", "")
        self._parser = sse.Parser()
        self._head = bytearray()
        self._streamed: bool | None = None
        self._whole: tuple[str, bool] | None = None

    def feed(self, chunk: bytes) -> None:
        """Take some bytes of a response body."""
        if self._streamed is None:
            self._streamed = not (bytes(self._head) + chunk).lstrip().startswith(b"{")
        if not self._streamed:
            self._head += chunk
            return
        for event in self._parser.feed(chunk):
            if event.data is not None:
                self._scrubber.feed((event.name, event.data))

    def _read(self) -> tuple[str, bool]:
        if self._streamed:
            return self._scrubber.text, self._scrubber.kept
        if self._whole is None:
            try:
                reply = self._dialect.reply(msgspec.json.decode(bytes(self._head)))
                self._whole = reply.text, bool(reply.calls)
            except (msgspec.DecodeError, AttributeError, TypeError):
                self._whole = "", True
        return self._whole

    @property
    def text(self) -> str:
        """The text of the reply."""
        return self._read()[0]

    @property
    def calls(self) -> bool:
        """Whether the reply calls tools."""
        return self._read()[1]

    def answer(self) -> str | None:
        """Return the final answer; None where the loop goes on."""
        return None if self.calls else self.text


async def events(source: Reply) -> AsyncIterator[sse.Raw]:
    """Yield the events of a stream as they come."""
    parser = sse.Parser()
    async for chunk in source.chunks():
        for event in parser.feed(chunk):
            yield event
    for event in parser.rest():
        yield event


def scrubbed(scrubber: StreamScrubber, event: sse.Raw) -> list[bytes]:
    """Return what is to be sent for one event, as bytes; unchanged ones as they came."""
    if event.data is None:
        return [event.source]
    sent = scrubber.feed((event.name, event.data))
    if len(sent) == 1 and sent[0][1] is event.data:
        return [event.source]
    return [sse.encode(name, data) for name, data in sent]
