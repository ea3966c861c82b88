"""Which dialect a path speaks, and where a path is sent. The upstream is fixed; only paths vary."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

from yarl import URL

from ..core.errors import InputError
from ..enforce import ANTHROPIC, CHAT, RESPONSES, Dialect


def dialect_of(method: str, path: str) -> Dialect | None:
    """Return the dialect of a request, or None for one that only passes through."""
    if method != "POST":
        return None
    if path.endswith("/chat/completions"):
        return CHAT
    if path.endswith("/responses"):
        return RESPONSES
    if path.endswith("/messages") and "/threads/" not in path:
        return ANTHROPIC
    return None


class Target:
    """Joins request paths to the upstream."""

    def __init__(self, upstream: str) -> None:
        """Take the base URL, with or without "/v1" at its end."""
        parts = urlsplit(upstream)
        self.origin = f"{parts.scheme}://{parts.netloc}"
        self._base = parts.path.rstrip("/")

    def url(self, path: str) -> URL:
        """Return the upstream URL for the raw path and query of a request.

        A "/v1" that stands at the end of the upstream and at the beginning of the path is sent
        once.

        Raises:
            InputError: the path is no plain absolute path, so it might lead elsewhere.
        """
        bare = path.partition("?")[0]
        if not bare.startswith("/") or ".." in unquote(bare).split("/") or "\\" in bare:
            raise InputError("the request path is an absolute path without '..'")
        if self._base.endswith("/v1") and (bare == "/v1" or bare.startswith("/v1/")):
            path = path[3:]
        return URL(f"{self.origin}{self._base}{path}", encoded=True)
