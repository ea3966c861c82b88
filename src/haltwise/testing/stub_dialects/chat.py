"""OpenAI chat completions, from the side of the server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .turn import Body, Turn, pieces

_USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


class StubChat:
    """The dialect of ``/chat/completions``."""

    key = "messages"

    def offered(self, body: Body) -> dict[str, Body]:
        """Return the tools, legacy functions included."""
        functions = [tool["function"] for tool in body.get("tools") or ()]
        functions += list(body.get("functions") or ())
        return {f["name"]: f.get("parameters") or {} for f in functions}

    def links(self, items: list[Body]) -> Iterator[tuple[str, Any]]:
        """Yield calls, results and turns."""
        for item in items:
            if item.get("role") == "tool":
                yield "result", item.get("tool_call_id")
                continue
            yield "turn", None
            for call in item.get("tool_calls") or ():
                yield "call", call.get("id")

    def whole(self, turn: Turn) -> Body:
        """Return one completion."""
        n, text, calls = turn
        message: Body = {"role": "assistant", "content": text or None}
        if calls:
            message["tool_calls"] = [_call(n, i, call) for i, call in enumerate(calls)]
        choice = {
            "index": 0,
            "message": message,
            "finish_reason": "tool_calls" if calls else "stop",
        }
        return {**_head(n, "chat.completion"), "choices": [choice], "usage": _USAGE}

    def events(self, turn: Turn) -> Iterator[tuple[str | None, Body]]:
        """Yield chunks; the server adds "[DONE]"."""
        n, text, calls = turn
        head = _head(n, "chat.completion.chunk")

        def chunk(delta: Body, finish: str | None = None) -> tuple[None, Body]:
            return None, {
                **head,
                "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
            }

        yield chunk({"role": "assistant", "content": "" if text or not calls else None})
        for piece in pieces(text):
            yield chunk({"content": piece})
        for i, call in enumerate(calls):
            whole = _call(n, i, call)
            function = {**whole["function"], "arguments": ""}
            yield chunk({"tool_calls": [{"index": i, **whole, "function": function}]})
            for piece in pieces(whole["function"]["arguments"]):
                yield chunk({"tool_calls": [{"index": i, "function": {"arguments": piece}}]})
        yield chunk({}, "tool_calls" if calls else "stop")
        yield None, {**head, "choices": [], "usage": _USAGE}


def _head(n: int, kind: str) -> Body:
    return {"id": f"chatcmpl-{n}", "object": kind, "created": 1_700_000_000, "model": "stub"}


def _call(n: int, i: int, call: tuple[str, Body]) -> Body:
    function = {"name": call[0], "arguments": json.dumps(call[1])}
    return {"id": f"call_{n}_{i}", "type": "function", "function": function}
