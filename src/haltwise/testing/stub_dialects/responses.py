"""OpenAI Responses, from the side of the server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .turn import Body, Turn, pieces


class StubResponses:
    """The dialect of ``/responses``."""

    key = "input"

    def offered(self, body: Body) -> dict[str, Body]:
        """Return the tools."""
        return {tool["name"]: tool.get("parameters") or {} for tool in body.get("tools") or ()}

    def links(self, items: list[Body]) -> Iterator[tuple[str, Any]]:
        """Yield calls, results and turns."""
        for item in items:
            kind = str(item.get("type"))
            if kind == "function_call":
                yield "call", item.get("call_id")
            elif kind == "function_call_output":
                yield "result", item.get("call_id")
            else:
                yield "turn", None

    def whole(self, turn: Turn) -> Body:
        """Return one response."""
        return _response(turn.number, list(_items(turn)), "completed")

    def events(self, turn: Turn) -> Iterator[tuple[str | None, Body]]:
        """Yield numbered events."""
        for number, event in enumerate(_parts(turn)):
            yield event["type"], {**event, "sequence_number": number}


def _items(turn: Turn) -> Iterator[Body]:
    n, text, calls = turn
    if text:
        part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
        yield {
            "type": "message",
            "id": f"msg_{n}",
            "role": "assistant",
            "status": "completed",
            "content": [part],
        }
    for i, (name, values) in enumerate(calls):
        yield {
            "type": "function_call",
            "id": f"fc_{n}_{i}",
            "call_id": f"call_{n}_{i}",
            "name": name,
            "arguments": json.dumps(values),
            "status": "completed",
        }


def _response(n: int, output: list[Body], status: str) -> Body:
    return {
        "id": f"resp_{n}",
        "object": "response",
        "created_at": 1_700_000_000,
        "status": status,
        "model": "stub",
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "temperature": 1.0,
        "top_p": 1.0,
        "usage": {
            "input_tokens": 10,
            "output_tokens": 5,
            "total_tokens": 15,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }


def _parts(turn: Turn) -> Iterator[Body]:
    items = list(_items(turn))
    begun = _response(turn.number, [], "in_progress")
    yield {"type": "response.created", "response": begun}
    for place, item in enumerate(items):
        where: Body = {"item_id": item["id"], "output_index": place}
        if item["type"] == "function_call":
            empty = {**item, "arguments": "", "status": "in_progress"}
            yield {"type": "response.output_item.added", "output_index": place, "item": empty}
            for piece in pieces(item["arguments"]):
                yield {"type": "response.function_call_arguments.delta", **where, "delta": piece}
            yield {
                "type": "response.function_call_arguments.done",
                **where,
                "name": item["name"],
                "arguments": item["arguments"],
            }
        else:
            part = item["content"][0]
            where["content_index"] = 0
            empty = {**item, "content": [], "status": "in_progress"}
            yield {"type": "response.output_item.added", "output_index": place, "item": empty}
            yield {"type": "response.content_part.added", **where, "part": {**part, "text": ""}}
            for piece in pieces(part["text"]):
                delta = {"delta": piece, "logprobs": []}
                yield {"type": "response.output_text.delta", **where, **delta}
            done = {"text": part["text"], "logprobs": []}
            yield {"type": "response.output_text.done", **where, **done}
            yield {"type": "response.content_part.done", **where, "part": part}
        yield {"type": "response.output_item.done", "output_index": place, "item": item}
    yield {"type": "response.completed", "response": _response(turn.number, items, "completed")}
