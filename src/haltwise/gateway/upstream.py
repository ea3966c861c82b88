"""The way to the model API: one fixed origin, no redirects, no proxies, nothing added.

Keys are among the headers of each request: they are handed on and never kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from multidict import CIMultiDict

from ..core.errors import InputError
from .link import Asked, Links
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
        self._links = Links(
            self.target.host,
            self.target.port,
            secure=self.target.secure,
            connect=settings.connect_timeout,
            silence=settings.timeout,
        )

    def close(self) -> None:
        """Close all connections."""
        self._links.close()

    def send(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        data: bytes,
        *,
        decoded: bool = False,
    ) -> Asked:
        """Return a context that sends one request and gives its response.

        Args:
            method: of the client's request.
            path: raw path and query of the client's request.
            headers: as `forwarded` gives them.
            data: the body.
            decoded: whether the response is to be readable here, whatever its encoding.

        Raises:
            InputError: a header cannot be sent on.
        """
        lines = [f"{method} {self.target.path(path)} HTTP/1.1", f"Host: {self.target.netloc}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        if data or method in ("POST", "PUT", "PATCH"):
            lines.append(f"Content-Length: {len(data)}")
        head = "\r\n".join([*lines, "", ""])
        if head.count("\n") != len(lines) + 1 or head.count("\r") != len(lines) + 1:
            raise InputError("a header of the request holds a line break")
        encoded, waited = head.encode("utf-8", "surrogateescape"), self._metrics.upstream.observe
        return Asked(self._links, method, encoded, data, decoded=decoded, waited=waited)


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
