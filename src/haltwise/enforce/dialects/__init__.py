"""How each model API writes tools, calls, results and streams; one file per API."""

from __future__ import annotations

from .anthropic import Anthropic
from .chat import Chat
from .protocol import Body, Dialect, Event, How, Reply, StreamScrubber
from .responses import Responses

CHAT = Chat()
RESPONSES = Responses()
ANTHROPIC = Anthropic()

DIALECTS: dict[str, Dialect] = {"chat": CHAT, "responses": RESPONSES, "anthropic": ANTHROPIC}
"""Every dialect by its name."""

__all__ = [
    "ANTHROPIC",
    "CHAT",
    "DIALECTS",
    "RESPONSES",
    "Body",
    "Dialect",
    "Event",
    "How",
    "Reply",
    "StreamScrubber",
]
