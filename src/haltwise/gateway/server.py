"""The gateway: listens, counts, and turns whatever goes wrong into one clear sentence.

Nothing of a request (key, header, body) is ever logged.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import aiohttp
from aiohttp import web

from ..core.errors import InputError
from .exchange import LOG, Exchange, header
from .judge import Judge
from .link import Broken, Unreachable
from .metrics import Metrics
from .routes import dialect_of
from .settings import Settings
from .spans import Exchanged, span
from .upstream import Upstream

if TYPE_CHECKING:
    from ..enforce import Dialect
    from .episodes import EpisodeLog

_QUIET = logging.getLogger("haltwise.gateway.http")


class _NoContent(logging.Filter):
    """Lets a record say which kind of error it was and nothing else: messages may quote bytes."""

    def filter(self, record: logging.LogRecord) -> bool:
        kind = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else "problem"
        record.msg, record.args = f"malformed or interrupted request ({kind})", None
        record.exc_info = record.exc_text = record.stack_info = None
        return True


_QUIET.addFilter(_NoContent())


class Gateway:
    """One gateway. `run` serves it until it is cancelled."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.metrics = Metrics()
        self.judge = Judge(settings)
        self.shown = header(settings.shown)
        self.log: EpisodeLog | None = None
        self.upstream: Upstream

    @asynccontextmanager
    async def listening(
        self, host: str = "127.0.0.1", port: int = 0, *, grace: float = 30.0
    ) -> AsyncIterator[str]:
        """Serve while the block runs; gives the base URL.

        Args:
            host: address to listen on.
            port: 0 for any free one.
            grace: seconds that open requests have to end at shutdown.

        Raises:
            InputError: the port is taken, or the folder of the log cannot be written to.
        """
        settings = self.settings
        if settings.log is not None:
            from .episodes import EpisodeLog

            arm = f"{'watch' if settings.watch else 'gateway'}: {settings.shown}"
            self.log = EpisodeLog(
                settings.log, source=settings.signal.name, arm=arm, content=settings.log_content
            )
        # No application around the handler: a router costs a twelfth of a request, and knows paths
        # that it does not hand on.
        server = web.Server(
            self._answer,
            request_factory=self._request,
            access_log=None,
            logger=_QUIET,
            handler_cancellation=True,
            auto_decompress=True,
        )
        runner = web.ServerRunner(server, shutdown_timeout=grace)
        self.upstream = Upstream(settings, self.metrics)
        try:
            await runner.setup()
            try:
                await web.TCPSite(runner, host, port, backlog=1024).start()
            except OSError as error:
                raise InputError(
                    f"cannot listen on {host}:{port}: {error.strerror or error}; "
                    "choose another one with --port"
                ) from None
            bound = runner.addresses[0]
            name = f"[{bound[0]}]" if ":" in bound[0] else bound[0]
            yield f"http://{name}:{bound[1]}"
        finally:
            await runner.cleanup()
            self.upstream.close()
            if self.log is not None:
                self.log.close()

    def _request(
        self, message: Any, payload: Any, protocol: Any, writer: Any, task: Any
    ) -> web.BaseRequest:
        loop, limit = asyncio.get_running_loop(), self.settings.body_limit
        return web.BaseRequest(
            message, payload, protocol, writer, task, loop, client_max_size=limit
        )

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.method in ("GET", "HEAD"):
            if request.path == "/healthz":
                return web.json_response({"status": "ok", "policy": self.settings.shown})
            if request.path == "/metrics":
                headers = {"content-type": _PROMETHEUS}
                return web.Response(body=self.metrics.text(), headers=headers)
        if request.headers.get("Expect", "").lower() == "100-continue":
            await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            request.writer.output_size = 0  # or the head of the answer would count as sent
        return await self._handle(request)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        dialect = dialect_of(request.method, request.path)
        name = "other" if dialect is None else dialect.name
        exchange = Exchange(self, request, name)
        began = time.perf_counter()
        with span(name, request.headers) as noted:
            response = await self._served(exchange, dialect)
            target = self.upstream.target
            noted(
                Exchanged(
                    exchange.model,
                    exchange.action,
                    exchange.run_length,
                    response.status,
                    target.host,
                    target.port,
                )
            )
        LOG.info(
            "%s %s %d %.0f ms%s",
            name,
            exchange.action,
            response.status,
            (time.perf_counter() - began) * 1000,
            f", {exchange.unjudged} steps and no verdict" if exchange.unjudged else "",
        )
        return response

    async def _served(self, exchange: Exchange, dialect: Dialect | None) -> web.StreamResponse:
        """Serve the exchange; whatever goes wrong is one clear sentence."""
        self.metrics.open.inc()
        try:
            return await exchange.run(dialect)
        except web.HTTPRequestEntityTooLarge:
            limit = self.settings.body_limit
            return exchange.error(413, f"the request body is larger than {limit} bytes")
        except InputError as error:
            return exchange.error(400, str(error))
        except aiohttp.ClientConnectionResetError:
            exchange.action = "gone"
            return exchange.error(499, "the client has gone")
        except Unreachable:
            return exchange.failed(502, "unreachable", "cannot be reached")
        except TimeoutError:
            return exchange.failed(504, "timeout", "did not answer in time")
        except Broken:
            return exchange.failed(502, "broken", "broke the connection off")
        except Exception as error:
            self.metrics.failures.labels("gateway").inc()
            LOG.error("the gateway failed: %s", type(error).__name__)
            return exchange.error(500, "the gateway failed; this is a defect of haltwise")
        finally:
            self.metrics.open.dec()
            self.metrics.requests.labels(exchange.name, exchange.action).inc()


_PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


async def serve(gateway: Gateway, host: str, port: int, stop: asyncio.Event, ready: Any) -> None:
    """Serve until ``stop`` is set; calls ``ready`` with the base URL once it listens."""
    async with gateway.listening(host, port) as url:
        # What is loaded stays: leaving it out of every collection halves the time that a long
        # history costs, since its thousands of objects trigger collections all the time.
        gc.collect()
        gc.freeze()
        gc.set_threshold(20_000, 20, 20)
        ready(url)
        await stop.wait()
