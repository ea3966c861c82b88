"""One request and its response: read, decided, forwarded.

What passes: every path and method, byte for byte, except that a loop which the policy has stopped
is asked for its answer instead (`forced`).
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from aiohttp import web

from ..core.errors import InputError
from ..enforce import Assessment, Dialect, Message, gates
from ..enforce.dialects import Body
from .forced import Forced
from .link import Broken, Reply
from .replies import ReplyReader
from .upstream import forwarded

if TYPE_CHECKING:
    from .server import Gateway

_Act = Callable[[], Awaitable[web.StreamResponse]]
_HEADER_LIMIT = 199
_AT_ONCE = 1 << 18
"""Bytes of a reply of known length that is handed on in one piece: head and body then leave in one
system call, and each of them costs a tenth of a millisecond."""
LOG = logging.getLogger("haltwise.gateway")


class Exchange:
    """One request and its response."""

    def __init__(self, gateway: Gateway, request: web.BaseRequest, name: str) -> None:
        self.gateway, self.settings, self.judge = gateway, gateway.settings, gateway.judge
        self.upstream, self.metrics = gateway.upstream, gateway.metrics
        self.request, self.name = request, name
        self.path = request.raw_path
        self.action = "pass"
        self.reason = ""
        self.run_length = 0
        self.unjudged = 0
        self.model: str | None = None
        self.sent: web.StreamResponse | None = None

    # ------------------------------------------------------------ what is to be done

    async def run(self, dialect: Dialect | None) -> web.StreamResponse:
        """Serve the request.

        Args:
            dialect: how it is written; None for a request that only passes through.

        Raises:
            InputError: the request cannot be used.
            Unreachable, Broken, TimeoutError: the upstream failed.
        """
        if "upgrade" in self.request.headers.get("Connection", "").lower():
            return self.error(501, "this gateway carries no websockets; connect to the upstream")
        self.upstream.target.path(self.path)
        data = await self.request.read()
        if dialect is None:
            self.reason = "passed through: not a chat request"
            return await self.forward(data)
        # A decoded history is several times as large as its bytes: only what the next step needs
        # outlives the decision, or 128 waiting clients hold 30 MB.
        act = await self._decided(dialect, data)
        return await act()

    async def _decided(self, dialect: Dialect, data: bytes) -> _Act:
        """Return what is to be done with the request."""
        forward = partial(self.forward, data)
        body = _decoded(data)
        model = body.get("model")
        self.model = model if isinstance(model, str) else None
        opaque = dialect.opaque(body)
        if opaque is not None:
            self.action, self.reason = "unread", f"passed through: {opaque}"
            return forward
        began = time.perf_counter()
        try:
            messages, found = await self.judge.assess(dialect, body, self._asker(dialect))
            offered = frozenset(dialect.tools(body))
            stop = gates(found, offered)
        except Exception as error:
            return self._undecided(error, forward)
        self.metrics.decide.observe(time.perf_counter() - began)
        if self.judge.newest_unjudged(found):
            self.metrics.unjudged.inc()
        self._note(found)
        if self.settings.watch:
            self.action = "watch" if stop else "continue"
        elif stop:
            return Forced(self, dialect, body, found).run
        elif self.judge.late and offered and self.judge.may_stop(messages):
            return partial(self._held, dialect, body, messages, found)
        if self.gateway.log is not None:
            return partial(self.forward, data, ReplyReader(dialect, offered), found)
        return forward

    def _note(self, found: Assessment) -> None:
        self.action, self.run_length = found.decision.action.value, found.run
        self.reason = found.decision.reason
        self.unjudged = self.judge.unjudged(found)
        if self.unjudged and found.run == 0 and not found.decision.stops:
            signal = self.settings.signal.name
            self.reason += (
                f"; nothing could be judged: signal {signal} has no verdict on {self.unjudged} of "
                f"{len(found.verdicts)} steps"
            )
        if found.trimmed is not None:
            self.metrics.trimmed.inc()
            self.reason += f"; history incomplete: {found.trimmed}"

    def _undecided(self, error: Exception, forward: _Act) -> _Act:
        kind = "history" if isinstance(error, InputError) else "decision"
        self.metrics.failures.labels(kind).inc()
        LOG.warning("no decision: %s", type(error).__name__)
        self.action = "undecided"
        self.reason = str(error) if isinstance(error, InputError) else "the policy or signal failed"
        return forward if self.settings.fail_open else self._refuse

    async def _refuse(self) -> web.StreamResponse:
        return self.error(503, f"no decision could be made: {self.reason}")

    # ------------------------------------------------------------ passing on

    async def forward(
        self, data: bytes, reader: ReplyReader | None = None, found: Assessment | None = None
    ) -> web.StreamResponse:
        """Hand the request on and the response back, byte for byte.

        Args:
            data: the body.
            reader: reads the reply along, for the log.
            found: what the log is to hold of the loop.
        """
        headers = forwarded(self.request.headers, identity=True)
        if reader is not None:
            headers["Accept-Encoding"] = "identity"
        response: web.StreamResponse
        async with self.upstream.send(self.request.method, self.path, headers, data) as source:
            if 0 < (source.content_length or 0) <= _AT_ONCE and self.request.method != "HEAD":
                whole = await source.read()
                response = self.whole(source, whole, decoded=False)
                if reader is not None:
                    reader.feed(whole)
            else:
                response = await self._streamed(source, reader)
        if reader is not None and found is not None and source.status == 200:
            self.seen(found, reader.answer())
        return response

    async def _streamed(self, source: Reply, reader: ReplyReader | None) -> web.StreamResponse:
        response = await self.begin(source)
        async for chunk in source.chunks():
            await response.write(chunk)
            if reader is not None:
                reader.feed(chunk)
        await response.write_eof()
        return response

    def seen(self, found: Assessment, answer: str | None) -> None:
        """Note one request of a loop, with the answer if that has ended it."""
        if self.gateway.log is not None:
            self.gateway.log.saw(found, self.model, answer, time.monotonic())

    async def begin(self, source: Reply, *, decoded: bool = False) -> web.StreamResponse:
        """Send the head of a response that streams."""
        headers = forwarded(source.headers, identity=decoded)
        response = web.StreamResponse(status=source.status, reason=source.reason, headers=headers)
        if source.content_length is not None and not decoded:
            response.content_length = source.content_length
        response.headers.update(self.headers())
        self.sent = response
        await response.prepare(self.request)
        return response

    def whole(self, source: Reply, data: bytes, *, decoded: bool = True) -> web.Response:
        """Return a response that is complete."""
        headers = forwarded(source.headers, identity=decoded)
        headers.update(self.headers())
        return web.Response(status=source.status, reason=source.reason, headers=headers, body=data)

    def headers(self) -> dict[str, str]:
        """Return the headers that tell what was done."""
        return {
            "x-haltwise-action": self.action,
            "x-haltwise-policy": self.gateway.shown,
            "x-haltwise-run": str(self.run_length),
            "x-haltwise-reason": header(self.reason),
        }

    def error(self, status: int, message: str) -> web.StreamResponse:
        """Return a response of the gateway's own."""
        if self.sent is not None and self.sent.prepared:
            return self._cut()
        content: dict[str, Any] = {"error": {"message": message, "type": "haltwise_gateway"}}
        if self.name == "anthropic":
            content = {"type": "error", **content}
        if self.action in ("pass", "continue"):
            self.action, self.reason = "refused", message
        self.reason = self.reason or message
        return web.json_response(content, status=status, headers=self.headers(), dumps=_text)

    def failed(self, status: int, kind: str, what: str) -> web.StreamResponse:
        """Return the response to a failure of the upstream."""
        self.metrics.failures.labels(kind).inc()
        return self.error(status, f"the upstream {self.upstream.target.origin} {what}")

    def _cut(self) -> web.StreamResponse:
        """End a response that has begun, so that the client sees that it is not whole."""
        if self.request.transport is not None:
            self.request.transport.abort()
        assert self.sent is not None
        return self.sent

    def _asker(self, dialect: Dialect) -> Any:
        async def ask(body: Body) -> str:
            self.metrics.extra_calls.labels("side_channel").inc()
            _, content = await self.call(body)
            return dialect.reply(content).text

        return ask

    async def call(self, body: Body) -> tuple[Reply, Body]:
        """Send a body of ours and return the response with its decoded JSON."""
        async with self.post(body) as source:
            content = msgspec.json.decode(await source.read())
            if source.status >= 400:
                raise Broken(f"status {source.status}")
            return source, content

    def post(self, body: Body) -> Any:
        """Send a body of ours; the response is readable here."""
        headers = forwarded(self.request.headers, identity=True)
        headers["Accept-Encoding"] = "identity"
        headers["Content-Type"] = "application/json"
        return self.upstream.send(
            "POST", self.path, headers, msgspec.json.encode(body), decoded=True
        )

    # ------------------------------------------------------------ verdicts that come with the reply

    async def _held(
        self,
        dialect: Dialect,
        body: Body,
        messages: list[Message],
        found: Assessment,
    ) -> web.StreamResponse:
        """Look at the reply before it is handed on: its first words judge the newest result.

        Only a reply that may fire the rule is held. Where it does, the call that it proposes is
        dropped and the answer demanded, at the price of one more upstream call.
        """
        reader = ReplyReader(dialect, frozenset(dialect.tools(body)))
        async with self.post(body) as source:
            content = await source.read()
        if source.status == 200:
            reader.feed(content)
            later = self.judge.after_reply(messages, reader.text)
            if later.decision.stops and reader.calls:
                self.metrics.extra_calls.labels("regeneration").inc()
                self._note(later)
                return await Forced(self, dialect, body, later).run()
            self.seen(found, reader.answer())
        return self.whole(source, content)


def _decoded(data: bytes) -> Body:
    try:
        body = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"the request body is not JSON: {_place(data, str(error))}") from None
    if not isinstance(body, dict):
        raise InputError("the request body is a JSON object; got something else")
    return body


def _place(data: bytes, complaint: str) -> str:
    """Return in words where a body stops to be JSON, without quoting it."""
    if not data.strip():
        return "it is empty"
    where = re.search(r"\(byte (\d+)\)", complaint)
    if where is not None:
        what = complaint[: where.start()].removeprefix("JSON is malformed:").strip()
        return f"at byte {where[1]} of {len(data)}: {what}"
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return f"at byte {error.start} of {len(data)}: not UTF-8"
    return f"it breaks off at its end, after {len(data)} bytes"


def header(text: str) -> str:
    """Return ``text`` as a header value: printable ASCII on one line, below 200 characters."""
    plain = "".join(c if " " <= c <= "~" else "?" for c in text)
    return plain if len(plain) <= _HEADER_LIMIT else plain[: _HEADER_LIMIT - 3] + "..."


def _text(content: Any) -> str:
    return msgspec.json.encode(content).decode()
