"""Which dialect a path speaks, and where a path is sent. The upstream is fixed; only paths vary."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

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
        self.netloc = parts.netloc
        self.secure = parts.scheme == "https"
        self.host = parts.hostname or ""
        self.port = parts.port or (443 if self.secure else 80)
        self._base = parts.path.rstrip("/")

    def path(self, path: str) -> str:
        """Return the upstream's path and query for the raw path and query of a request.

        A "/v1" that stands at the end of the upstream and at the beginning of the path is sent
        once.

        Raises:
            InputError: the path is no plain absolute path, so it might lead elsewhere.
        """
        bare = path.partition("?")[0]
        if not bare.startswith("/") or ".." in unquote(bare).split("/") or "\\" in bare:
            raise InputError("the request path is an absolute path without '..'")
        if _SPACE.search(path):
            raise InputError("the request path holds a space or a control character")
        if self._base.endswith("/v1") and (bare == "/v1" or bare.startswith("/v1/")):
            path = path[3:]
        return self._base + path or "/"


_SPACE = re.compile(r"[\x00-\x20\x7f]")
