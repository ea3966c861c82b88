"""How the stub model speaks each API: one file a dialect. Decides nothing; see `stub_models`."""

from __future__ import annotations

from . import anthropic, chat, responses
from .turn import Body, StubDialect, Turn, parts

STUB_DIALECTS: dict[str, StubDialect] = {
    "chat": chat.StubChat(),
    "responses": responses.StubResponses(),
    "anthropic": anthropic.StubAnthropic(),
}
"""By name."""

__all__ = ["STUB_DIALECTS", "Body", "StubDialect", "Turn", "parts"]
