"""The way to the model API: one fixed origin, no redirects, no proxies, nothing added.

Keys are among the headers of each request: they are handed on and never kept.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from multidict import CIMultiDict

from .metrics import Metrics
from .routes import Target
from .settings import Settings

_HOP = frozenset(
    (
        "connection",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    )
)


class Upstream:
    """Sends requests on. Use it inside a running event loop; `close` ends it."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self.target = Target(settings.upstream)
        self._metrics = metrics
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=60),
            timeout=aiohttp.ClientTimeout(
                total=None, sock_connect=settings.connect_timeout, sock_read=settings.timeout
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()

    @asynccontextmanager
    async def send(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        data: bytes,
        *,
        decoded: bool = False,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Send one request and give its response.

        Args:
            method: of the client's request.
            path: raw path and query of the client's request.
            headers: as `forwarded` gives them.
            data: the body.
            decoded: whether the response is to be readable here, whatever its encoding.
        """
        began = time.perf_counter()
        async with self._session.request(
            method,
            self.target.url(path),
            headers=headers,
            data=data or None,
            allow_redirects=False,
            auto_decompress=decoded,
        ) as response:
            self._metrics.upstream.observe(time.perf_counter() - began)
            yield response


def forwarded(headers: Any, *, identity: bool = False) -> CIMultiDict[str]:
    """Return the headers of a message that are handed on: all but those of its connection.

    Args:
        headers: of a request or a response.
        identity: ask for, or declare, a body without content encoding.
    """
    out: CIMultiDict[str] = CIMultiDict()
    dropped = {name.strip().lower() for name in headers.get("Connection", "").split(",")}
    for name, value in headers.items():
        lower = name.lower()
        if lower in _HOP or lower in dropped or (identity and lower == "content-encoding"):
            continue
        out.add(name, value)
    return out
