"""Anthropic messages, from the side of the server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .turn import Body, Turn, parts, pieces

_USAGE = {"input_tokens": 10, "output_tokens": 5}


class StubAnthropic:
    """The dialect of ``/messages``."""

    key = "messages"

    def offered(self, body: Body) -> dict[str, Body]:
        """Return the tools."""
        return {tool["name"]: tool.get("input_schema") or {} for tool in body.get("tools") or ()}

    def links(self, items: list[Body]) -> Iterator[tuple[str, Any]]:
        """Yield calls, results and turns; a text beside results is no turn."""
        for item in items:
            blocks = parts(item.get("content"))
            if not any(block.get("type") == "tool_result" for block in blocks):
                yield "turn", None
            for block in blocks:
                if block.get("type") == "tool_use":
                    yield "call", block.get("id")
                elif block.get("type") == "tool_result":
                    yield "result", block.get("tool_use_id")

    def whole(self, turn: Turn) -> Body:
        """Return one message."""
        n, text, calls = turn
        blocks: list[Body] = [{"type": "text", "text": text}] if text else []
        blocks += [
            {"type": "tool_use", "id": f"toolu_{n}_{i}", "name": name, "input": values}
            for i, (name, values) in enumerate(calls)
        ]
        return {**_head(n), "content": blocks, "stop_reason": _stop(turn)}

    def events(self, turn: Turn) -> Iterator[tuple[str | None, Body]]:
        """Yield the events of one message."""
        for event in _events(turn):
            yield event["type"], event


def _stop(turn: Turn) -> str:
    return "tool_use" if turn.calls else "end_turn"


def _head(n: int) -> Body:
    return {
        "id": f"msg_{n}",
        "type": "message",
        "role": "assistant",
        "model": "stub",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": _USAGE,
    }


def _events(turn: Turn) -> Iterator[Body]:
    n, text, calls = turn
    yield {"type": "message_start", "message": _head(n)}
    place = 0
    if text:
        start = {"type": "text", "text": ""}
        yield {"type": "content_block_start", "index": place, "content_block": start}
        for piece in pieces(text):
            delta = {"type": "text_delta", "text": piece}
            yield {"type": "content_block_delta", "index": place, "delta": delta}
        yield {"type": "content_block_stop", "index": place}
        place += 1
    for i, (name, values) in enumerate(calls):
        use = {"type": "tool_use", "id": f"toolu_{n}_{i}", "name": name, "input": {}}
        yield {"type": "content_block_start", "index": place, "content_block": use}
        for piece in pieces(json.dumps(values)):
            delta = {"type": "input_json_delta", "partial_json": piece}
            yield {"type": "content_block_delta", "index": place, "delta": delta}
        yield {"type": "content_block_stop", "index": place}
        place += 1
    ending = {"stop_reason": _stop(turn), "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": {"output_tokens": 5}}
    yield {"type": "message_stop"}
