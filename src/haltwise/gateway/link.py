"""HTTP/1.1 to one fixed origin: what a proxy needs of a client, and nothing else.

A general client costs half of what the whole gateway costs: it follows redirects, keeps cookies,
builds URLs. Here a request leaves in one write and the response is read by a parser in C. Knows
nothing of what is in a body.
"""

from __future__ import annotations

import asyncio
import ssl
import zlib
from collections import deque
from collections.abc import AsyncIterator, Callable
from time import perf_counter
from typing import Any, cast

import httptools
from multidict import CIMultiDict

IDLE = 60.0
"""Seconds that a connection without a request is kept; servers close theirs after 65 to 75."""
_JOINED = 1 << 18
"""Bytes of a request body that leaves in one write with its head; a larger one is not copied."""
_FULL = 1 << 18
"""Bytes of a response body at which reading pauses: a slow client slows the upstream down."""


class Unreachable(Exception):
    """No connection could be made."""


class Broken(Exception):
    """The upstream broke off, or sent something that is no HTTP response."""


class Reply:
    """The response to one request: its head, and its body as it comes."""

    def __init__(self, link: _Link, method: str, silence: float) -> None:
        self.status = 0
        self.reason = ""
        self.headers: CIMultiDict[str] = CIMultiDict()
        self.content_length: int | None = None
        """Bytes of the body, where the head says so."""
        self.decoded = False
        """Whether `chunks` undoes the encoding of the body."""
        self.method = method
        self.heard = link.loop.time()
        self.done = self.until_end = False
        self._link, self._silence = link, silence
        self._queue: deque[bytes] = deque()
        self._held = 0
        self._waiter: asyncio.Future[None] | None = None
        self._error: Exception | None = None
        self._timer = link.loop.call_later(silence, self._listen)

    # ------------------------------------------------------------ for who asked

    async def begun(self) -> None:
        """Wait for the head."""
        while not self.status:
            await self._news()

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body as it comes, in as few pieces as are there.

        Raises:
            Broken: it breaks off, or its encoding is unknown where it is to be decoded.
            TimeoutError: nothing has come for long.
        """
        undo = self._decoder()
        while True:
            if self._queue:
                data = self._queue.popleft() if len(self._queue) == 1 else b"".join(self._queue)
                self._queue.clear()
                self._held = 0
                self._link.go_on()
                try:
                    data = data if undo is None else undo.decompress(data)
                except zlib.error:
                    raise Broken("a body that is not encoded as its head says") from None
                if data:
                    yield data
            elif self.done:
                return
            else:
                await self._news()

    async def read(self) -> bytes:
        """Return the whole body."""
        return b"".join([chunk async for chunk in self.chunks()])

    def _decoder(self) -> Any:
        encoding = self.headers.get("Content-Encoding", "identity").lower()
        if not self.decoded or encoding in ("identity", ""):
            return None
        if encoding not in ("gzip", "deflate"):
            raise Broken(f"a body in {encoding}, which was not asked for")
        return zlib.decompressobj(wbits=47)

    async def _news(self) -> None:
        self._check()
        self._waiter = self._link.loop.create_future()
        await self._waiter
        if not self._queue:
            self._check()

    def _check(self) -> None:
        if self._error is not None:
            raise self._error

    # ------------------------------------------------------------ for the connection

    def wake(self) -> None:
        """Let go on who waits."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def push(self, data: bytes) -> None:
        """Take a piece of the body."""
        self._queue.append(data)
        self._held += len(data)
        if self._held > _FULL:
            self._link.pause()
        self.wake()

    def fail(self, error: Exception) -> None:
        """Take note that no more will come."""
        if not self.done and self._error is None:
            self._error = error
        self.wake()

    def end(self) -> None:
        """Forget the timer."""
        self._timer.cancel()

    def _listen(self) -> None:
        now = self._link.loop.time()
        if self._link.paused:  # the silence is ours
            self.heard = now
        left = self.heard + self._silence - now
        if left <= 0:
            self.fail(TimeoutError())
        else:
            self._timer = self._link.loop.call_later(left, self._listen)


class _Link(asyncio.Protocol):
    """One connection; carries one request at a time."""

    def __init__(self, loop: asyncio.AbstractEventLoop, idle: deque[_Link]) -> None:
        self.loop = loop
        self.since = 0.0
        self.usable = True
        self.paused = False
        self._idle = idle
        self._reply: Reply | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._fields: CIMultiDict[str] = CIMultiDict()
        self._reason = b""

    def ask(self, method: str, head: bytes, body: bytes, silence: float) -> Reply:
        """Send a request, whole, and return its response, of which nothing is there yet."""
        self._reply = reply = Reply(self, method, silence)
        if len(body) <= _JOINED:
            self._transport.write(head + body)
        else:
            self._transport.write(head)
            self._transport.write(body)
        return reply

    def release(self) -> None:
        """Keep the connection for the next request, or close it where this one is not over."""
        reply, self._reply = self._reply, None
        if reply is not None:
            reply.end()
        if self.usable and reply is not None and reply.done:
            self.since = self.loop.time()
            self._idle.append(self)
        else:
            self.close()

    def close(self) -> None:
        """Close at once."""
        self.usable = False
        self._transport.abort()

    def pause(self) -> None:
        """Stop reading."""
        if not self.paused and not self._transport.is_closing():
            self.paused = True
            self._transport.pause_reading()

    def go_on(self) -> None:
        """Read on."""
        if self.paused:
            self.paused = False
            if not self._transport.is_closing():
                self._transport.resume_reading()

    # ------------------------------------------------------------ asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Parse what came; anything that nobody has asked for ends the connection."""
        reply = self._reply
        if reply is None or reply.done:
            self.close()
            return
        reply.heard = self.loop.time()
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            reply.fail(Broken("no HTTP response"))
            self.close()

    def connection_lost(self, error: Exception | None) -> None:
        """End the response: well where its body lasts until the connection ends."""
        self.usable = False
        reply = self._reply
        if reply is None:
            return
        if reply.until_end and error is None:
            reply.done = True
        reply.fail(Broken("the connection has ended"))

    # ------------------------------------------------------------ httptools

    def on_message_begin(self) -> None:
        """Begin a head; a second response to one request is none."""
        self._fields, self._reason = CIMultiDict(), b""
        if self._reply is not None and self._reply.done:
            self.usable = False

    def on_status(self, status: bytes) -> None:
        """Take the reason."""
        self._reason += status

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header."""
        self._fields.add(
            name.decode("latin-1"), value.decode("utf-8", "surrogateescape").strip(" \t")
        )

    def on_headers_complete(self) -> None:
        """Hand out the head, unless it is an interim one."""
        status, reply = self._parser.get_status_code(), self._reply
        if reply is None or reply.done or status < 200:
            return
        length = self._fields.get("Content-Length", "")
        reply.headers, reply.reason = self._fields, self._reason.decode("latin-1")
        reply.content_length = int(length) if length.isascii() and length.isdigit() else None
        chunked = "Transfer-Encoding" in self._fields
        if reply.method == "HEAD":
            reply.done, self.usable = True, False
        elif reply.content_length is None and not chunked and status not in (204, 304):
            reply.until_end, self.usable = True, False
        reply.status = status
        reply.wake()

    def on_body(self, data: bytes) -> None:
        """Take a piece of the body."""
        if self._reply is not None and not self._reply.done:
            self._reply.push(data)

    def on_message_complete(self) -> None:
        """End the response, unless it was an interim one."""
        reply = self._reply
        if reply is None or reply.done or not reply.status:
            return
        reply.done = True
        if not self._parser.should_keep_alive() or self._transport.get_write_buffer_size():
            self.usable = False
        reply.wake()


class Links:
    """The connections to one origin. Use it inside a running event loop."""

    def __init__(
        self, host: str, port: int, *, secure: bool, connect: float, silence: float
    ) -> None:
        """Name the origin.

        Args:
            host: name or address.
            port: of the origin.
            secure: whether TLS is spoken; certificates are checked.
            connect: seconds to reach it.
            silence: seconds that it may stay silent.
        """
        self._host, self._port = host, port
        self._secure = ssl.create_default_context() if secure else None
        self._connect, self._silence = connect, silence
        self._idle: deque[_Link] = deque()

    def close(self) -> None:
        """Close every idle connection."""
        while self._idle:
            self._idle.pop().close()

    async def ask(self, method: str, head: bytes, body: bytes) -> tuple[_Link, Reply]:
        """Send a request; return its connection, which is to be released, and its response."""
        link = self._idle_link() or await self._new_link()
        return link, link.ask(method, head, body, self._silence)

    def _idle_link(self) -> _Link | None:
        """Return the connection that was used last; old and closed ones are dropped."""
        while self._idle:
            link = self._idle.pop()
            if link.usable and link.loop.time() - link.since < IDLE:
                self._drop_old(link.loop.time() - IDLE)
                return link
            link.close()
        return None

    def _drop_old(self, before: float) -> None:
        while self._idle and (not self._idle[0].usable or self._idle[0].since < before):
            self._idle.popleft().close()

    async def _new_link(self) -> _Link:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._connect):
                _, link = await loop.create_connection(
                    lambda: _Link(loop, self._idle),
                    self._host,
                    self._port,
                    ssl=self._secure,
                    happy_eyeballs_delay=0.25,
                )
        except TimeoutError:
            raise
        except OSError as error:
            raise Unreachable(type(error).__name__) from None
        return link


class Asked:
    """One request under way: a context that gives its response, whose head is there.

    Raises:
        Unreachable: there is no connection.
        Broken: the connection ended before the response did.
        TimeoutError: the upstream could not be reached in time, or was silent for too long.
    """

    __slots__ = ("_decoded", "_link", "_links", "_request", "_waited")

    def __init__(
        self,
        links: Links,
        method: str,
        head: bytes,
        body: bytes = b"",
        *,
        decoded: bool,
        waited: Callable[[float], None],
    ) -> None:
        """Name the request; ``waited`` is told after how many seconds the head was there."""
        self._links, self._request = links, (method, head, body)
        self._decoded, self._waited = decoded, waited
        self._link: _Link | None = None

    async def __aenter__(self) -> Reply:
        began = perf_counter()
        self._link, reply = await self._links.ask(*self._request)
        reply.decoded = self._decoded
        try:
            await reply.begun()
        except BaseException:
            self._link.release()
            raise
        self._waited(perf_counter() - began)
        return reply

    async def __aexit__(self, *error: object) -> None:
        assert self._link is not None
        self._link.release()
