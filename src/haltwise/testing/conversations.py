"""Request bodies of every dialect, for tests and benchmarks: a search that goes on and on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

QUESTION = "Which river flows through the capital of the country where Ruritania was set?"
USELESS = "No results found."
USEFUL = "The capital of the country where Ruritania was set lies on a river that flows through it."

SCHEMA = {
    "type": "object",
    "properties": {"query": {"type": "string"}},
    "required": ["query"],
}


def conversation(
    dialect: str,
    results: Sequence[str] = (),
    *,
    parallel: int = 1,
    pending: int = 0,
    question: str = QUESTION,
    thought: str = "",
    tools: Sequence[str] = ("search",),
    stream: bool = False,
) -> dict[str, Any]:
    """Return a request body whose history holds one tool turn per entry of ``results``.

    Args:
        dialect: "chat", "responses" or "anthropic".
        results: what each turn's calls return.
        parallel: calls per turn, at least 1.
        pending: calls of a last turn that have no result yet.
        question: the user turn that opens the loop.
        thought: what the agent writes beside its calls.
        tools: names of the tools offered; empty for none.
        stream: whether a stream is asked for.
    """
    body: dict[str, Any] = {"model": "stub", "stream": stream}
    if tools:
        body["tools"] = [tool(dialect, name) for name in tools]
    key = "input" if dialect == "responses" else "messages"
    body[key] = [{"role": "user", "content": question}]
    if dialect == "anthropic":
        body["max_tokens"] = 256
    for t, result in enumerate(results):
        calls = [f"call_{t}_{i}" for i in range(parallel)]
        body[key] += assistant(dialect, calls, f"query {t}", thought)
        body[key] += answers(dialect, calls, result)
    if pending:
        calls = [f"call_{len(results)}_{i}" for i in range(pending)]
        body[key] += assistant(dialect, calls, "query", thought)
    return body


def tool(dialect: str, name: str) -> dict[str, Any]:
    """Return the definition of a tool that takes a query."""
    if dialect == "anthropic":
        return {"name": name, "description": "Search.", "input_schema": SCHEMA}
    function = {"name": name, "description": "Search.", "parameters": SCHEMA}
    if dialect == "responses":
        return {"type": "function", **function}
    return {"type": "function", "function": function}


def assistant(
    dialect: str, calls: Sequence[str], query: str, thought: str = ""
) -> list[dict[str, Any]]:
    """Return one assistant turn that calls ``search`` once per id."""
    arguments = json.dumps({"query": query})
    if dialect == "chat":
        asked = [
            {"id": i, "type": "function", "function": {"name": "search", "arguments": arguments}}
            for i in calls
        ]
        return [{"role": "assistant", "content": thought or None, "tool_calls": asked}]
    if dialect == "responses":
        text = [{"role": "assistant", "content": thought}] if thought else []
        return text + [
            {"type": "function_call", "call_id": i, "name": "search", "arguments": arguments}
            for i in calls
        ]
    blocks: list[dict[str, Any]] = [{"type": "text", "text": thought}] if thought else []
    blocks += [
        {"type": "tool_use", "id": i, "name": "search", "input": {"query": query}} for i in calls
    ]
    return [{"role": "assistant", "content": blocks}]


def answers(dialect: str, calls: Sequence[str], result: str) -> list[dict[str, Any]]:
    """Return the results of ``calls``."""
    if dialect == "chat":
        return [{"role": "tool", "tool_call_id": i, "content": result} for i in calls]
    if dialect == "responses":
        return [{"type": "function_call_output", "call_id": i, "output": result} for i in calls]
    blocks = [{"type": "tool_result", "tool_use_id": i, "content": result} for i in calls]
    return [{"role": "user", "content": blocks}]
