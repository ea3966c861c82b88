"""The answer of a loop that was stopped: asked for, cleaned, never empty.

Where the model takes no tool history without tools, or answers with calls alone, it is asked once
more with its past calls written out as text; after that the best candidate is the answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from aiohttp import web

from ..core.errors import InputError
from ..enforce import Assessment, Dialect, How, best_candidate, mark
from ..enforce.dialects import Body
from ..enforce.messages import NOTE
from .link import Broken, Reply
from .replies import events, scrubbed

if TYPE_CHECKING:
    from .exchange import Exchange

_REFUSED = (400, 422)


class Forced:
    """One forced answer."""

    def __init__(self, exchange: Exchange, dialect: Dialect, body: Body, found: Assessment) -> None:
        self.exchange, self.dialect, self.body, self.found = exchange, dialect, body, found
        self.settings, self.judge = exchange.settings, exchange.judge
        self.keep = self.settings.answer_tools & frozenset(dialect.tools(body))
        self.json = dialect.wants_json(body)
        marked = self.settings.mark_forced and not self.json
        self.tail = f"\n\n{mark(found.decision.reason)}" if marked else ""
        self.tool = dialect.demanded(body, self.keep)
        self._refused = False

    async def run(self) -> web.StreamResponse:
        """Return the response that holds the answer, or the upstream's error."""
        way = self.judge.way(self.dialect, self.exchange.model)
        streamed = self.body.get("stream") is True
        attempt = self._stream if streamed else self._whole
        response = await attempt(way, last=way is How.FLATTEN)
        if response is None:
            self.exchange.metrics.extra_calls.labels("retry").inc()
            response = await attempt(How.FLATTEN, last=True)
        assert response is not None
        return response

    def _gated(self, how: How) -> Body:
        return self.dialect.gate(self.body, NOTE, how, self.keep)

    def _fallback(self) -> str:
        return best_candidate(self.found, as_json=self.json)

    def _answers(self, source: Reply, how: How, *, last: bool) -> bool | None:
        """Return True for an answer, False for an error to hand on, None to try once more."""
        if source.status == 200:
            if last and how is How.FLATTEN and self._refused:
                self.judge.learn_way(self.dialect, self.exchange.model, how)
            return True
        if source.status in _REFUSED and not last:
            self._refused = True
            return None
        return False

    async def _whole(self, how: How, *, last: bool) -> web.StreamResponse | None:
        exchange = self.exchange
        async with exchange.post(self._gated(how)) as source:
            data = await source.read()
        verdict = self._answers(source, how, last=last)
        if verdict is not True:
            return None if verdict is None else exchange.whole(source, data)
        try:
            content = msgspec.json.decode(data)
            cleaned = self.dialect.scrub(content, self.keep)
            reply = self.dialect.reply(cleaned)
        except (msgspec.DecodeError, AttributeError, TypeError, InputError):
            if not last:
                return None
            exchange.metrics.failures.labels("malformed").inc()
            return exchange.error(502, "the upstream sent a reply that is not a JSON object")
        if not reply.calls:
            text = reply.text + self.tail
            if not reply.text.strip():
                if not last:
                    return None
                text = self._fallback()
                reply = reply._replace(text=text)
            if self.tool is not None:
                cleaned = self.dialect.with_call(cleaned, self.tool, text)
            elif text != self.dialect.reply(cleaned).text:
                cleaned = self.dialect.with_text(cleaned, text)
        self._done(reply.text)
        return exchange.whole(source, msgspec.json.encode(cleaned))

    async def _stream(self, how: How, *, last: bool) -> web.StreamResponse | None:
        exchange = self.exchange
        async with exchange.post(self._gated(how)) as source:
            verdict = self._answers(source, how, last=last)
            if verdict is not True:
                return None if verdict is None else exchange.whole(source, await source.read())
            if "event-stream" not in source.headers.get("Content-Type", ""):
                exchange.metrics.failures.labels("malformed").inc()
                return exchange.error(502, "the upstream was asked for a stream and sent none")
            fallback = self._fallback() if last else ""
            scrubber = self.dialect.scrubber(self.keep, fallback, self.tail, self.tool)
            response = None
            held: list[bytes] = []
            async for event in events(source):
                held += scrubbed(scrubber, event)
                if response is None and not (scrubber.text.strip() or scrubber.kept):
                    continue
                if response is None:
                    response = await exchange.begin(source, decoded=True)
                if held:
                    await response.write(b"".join(held))
                    held.clear()
            if response is None:
                if not last:
                    return None
                raise Broken("the stream ended without an answer")
            await response.write_eof()
        self._done(scrubber.text)
        return response

    def _done(self, text: str) -> None:
        self.judge.remember_forced(text)
        self.exchange.seen(self.found, text)
