"""Reader of Anthropic messages: content blocks with tool_use and tool_result.

One request body, or request with response, a record; JSON lines, an array, or one document. Read as
`chat` reads, under its own name.
"""

from __future__ import annotations

from .chat import Chat
from .sniffing import first_object_keys


class Anthropic(Chat):
    """Messages API requests and message lists."""

    name = "anthropic"

    def sniff(self, head: bytes, path: str) -> float:
        """Fairly sure of messages with tool blocks."""
        keys = first_object_keys(head)
        blocks = b'"tool_use"' in head or b'"tool_result"' in head or b'"thinking"' in head
        if not blocks or "sessionId" in keys or not keys & {"messages", "request", "role", "body"}:
            return 0.0
        return 0.75


reader = Anthropic()
