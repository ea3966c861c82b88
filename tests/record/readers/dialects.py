"""One conversation in every dialect that haltwise reads.

The question; one turn with two calls side by side, of which the second result comes first; one turn
with a single call that fails; the final answer. Each maker returns the bytes of one file.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

QUESTION = "Which river runs through Ulm?"
ANSWER = "The Danube."
CALLS = (
    ("c1", "search", {"q": "Ulm"}),
    ("c2", "lookup", {"q": "river"}),
    ("c3", "fetch", {"u": 1}),
)
RESULTS = {"c1": "Ulm is a city.", "c2": "No results", "c3": "Error: page is gone"}
THOUGHT = "Let me look."


def _text(value: Any) -> str:
    return json.dumps(value)


def chat_messages() -> list[dict[str, Any]]:
    """OpenAI chat: arguments are JSON text."""

    def call(number: int) -> dict[str, Any]:
        name, tool, arguments = CALLS[number]
        return {
            "id": name,
            "type": "function",
            "function": {"name": tool, "arguments": _text(arguments)},
        }

    def result(name: str) -> dict[str, Any]:
        return {"role": "tool", "tool_call_id": name, "content": RESULTS[name]}

    return [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": THOUGHT, "tool_calls": [call(0), call(1)]},
        result("c2"),
        result("c1"),
        {"role": "assistant", "content": None, "tool_calls": [call(2)]},
        result("c3"),
        {"role": "assistant", "content": ANSWER},
    ]


def chat() -> bytes:
    """A list of one run with its messages."""
    run = {"task_id": "t", "trial": 0, "reward": 1.0, "traj": chat_messages()}
    return _text([run]).encode()


def chat_lines() -> bytes:
    """JSON lines with messages."""
    return _text({"task_id": "t", "trial": 0, "reward": 1, "messages": chat_messages()}).encode()


def chat_bare() -> bytes:
    """Nothing but the list of messages."""
    return json.dumps(chat_messages(), indent=1).encode()


def chat_batch() -> bytes:
    """A request beside its response, as batch files pair them."""
    *history, last = chat_messages()
    body = {"model": "m", "messages": history}
    response = {"body": {"choices": [{"message": last}]}}
    return _text({"custom_id": "t", "body": body, "response": response}).encode()


def responses_items() -> list[dict[str, Any]]:
    """Items of the Responses API: sibling calls are one turn."""

    def call(number: int) -> dict[str, Any]:
        name, tool, arguments = CALLS[number]
        return {
            "type": "function_call",
            "call_id": name,
            "name": tool,
            "arguments": _text(arguments),
        }

    def result(name: str) -> dict[str, Any]:
        return {"type": "function_call_output", "call_id": name, "output": RESULTS[name]}

    said = {"type": "message", "role": "assistant"}
    return [
        {"role": "user", "content": [{"type": "input_text", "text": QUESTION}]},
        {"type": "reasoning", "summary": []},
        {**said, "content": [{"type": "output_text", "text": THOUGHT}]},
        call(0),
        call(1),
        result("c2"),
        result("c1"),
        call(2),
        result("c3"),
        {**said, "content": [{"type": "output_text", "text": ANSWER}]},
    ]


def responses() -> bytes:
    """A Responses request and its output."""
    items = responses_items()
    return _text({"object": "response", "input": items[:-1], "output": items[-1:]}).encode()


def codex() -> bytes:
    """A Codex rollout; token counts are cumulative."""

    def line(kind: str, payload: Any, second: int) -> str:
        return _text(
            {"timestamp": f"2025-01-01T00:00:{second:02}Z", "type": kind, "payload": payload}
        )

    def count(total: int) -> dict[str, Any]:
        usage = {"input_tokens": total, "cached_input_tokens": 5, "output_tokens": total // 2}
        return {"type": "token_count", "info": {"total_token_usage": usage}}

    context = "<environment_context>cwd</environment_context>"
    lines = [
        line("session_meta", {"id": "s1", "cwd": "/"}, 0),
        line("turn_context", {"model": "m"}, 0),
        line("response_item", {"type": "message", "role": "user", "content": context}, 0),
    ]
    for second, item in enumerate(responses_items(), 1):
        if item.get("call_id") == "c1" and "output" in item:
            item["output"] = _text({"output": RESULTS["c1"], "metadata": {"exit_code": 0}})
        lines.append(line("response_item", {"type": "message", **item}, second))
        lines.append(line("event_msg", count(10 * second), second))
    return "\n".join(lines).encode()


def anthropic_messages() -> list[dict[str, Any]]:
    """Content blocks; results stand in user turns, a failure carries is_error."""

    def call(number: int) -> dict[str, Any]:
        name, tool, arguments = CALLS[number]
        return {"type": "tool_use", "id": name, "name": tool, "input": arguments}

    def result(name: str) -> dict[str, Any]:
        block = {"type": "tool_result", "tool_use_id": name, "content": RESULTS[name]}
        return {**block, "is_error": True} if name == "c3" else block

    return [
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": [{"type": "text", "text": THOUGHT}, call(0), call(1)]},
        {"role": "user", "content": [result("c2"), result("c1")]},
        {"role": "assistant", "content": [call(2)]},
        {"role": "user", "content": [result("c3")]},
        {"role": "assistant", "content": [{"type": "text", "text": ANSWER}]},
    ]


def anthropic() -> bytes:
    """A Messages request with its response."""
    *history, last = anthropic_messages()
    return _text({"request": {"model": "m", "messages": history}, "response": last}).encode()


def claude_code() -> bytes:
    """A session: one reply on several lines that share message.id and repeat its usage."""
    lines = [_text({"type": "summary", "summary": "x", "leafUuid": "u"})]
    number = 0

    def add(kind: str, message: dict[str, Any]) -> None:
        nonlocal number
        number += 1
        lines.append(
            _text(
                {
                    "type": kind,
                    "uuid": f"u{number}",
                    "sessionId": "s1",
                    "isSidechain": False,
                    "timestamp": f"2025-01-01T00:00:{number:02}.000Z",
                    "message": message,
                }
            )
        )

    usage = {"input_tokens": 7, "output_tokens": 3}
    for turn, message in enumerate(anthropic_messages()):
        if message["role"] == "user":
            parts = message["content"] if isinstance(message["content"], list) else [None]
            for part in parts:
                content = QUESTION if part is None else [part]
                add("user", {"role": "user", "content": content})
        else:
            for part in message["content"]:
                reply = {"id": f"msg_{turn}", "model": "m", "usage": usage, "content": [part]}
                add("assistant", {"role": "assistant", **reply})
    return "\n".join(lines).encode()


def atif() -> bytes:
    """An ATIF trajectory: calls and observations side by side in a step."""

    def step(number: int, names: list[int], message: str) -> dict[str, Any]:
        calls = [
            {"tool_call_id": CALLS[n][0], "function_name": CALLS[n][1], "arguments": CALLS[n][2]}
            for n in names
        ]
        results = [
            {"source_call_id": CALLS[n][0], "content": RESULTS[CALLS[n][0]]} for n in names[::-1]
        ]
        made = {"step_id": number, "source": "agent", "message": message}
        return {**made, "tool_calls": calls, "observation": {"results": results}} if names else made

    steps = [
        {"step_id": 1, "source": "user", "message": QUESTION},
        step(2, [0, 1], THOUGHT),
        step(3, [2], ""),
        step(4, [], ANSWER),
    ]
    agent = {"name": "a", "version": "1", "model_name": "m"}
    document = {"schema_version": "ATIF-v1.4", "session_id": "s1", "agent": agent, "steps": steps}
    return json.dumps(document, indent=2).encode()


def inspect_sample() -> dict[str, Any]:
    """An Inspect sample: arguments are objects, a long result has been moved aside."""
    messages = chat_messages()
    for message in messages:
        for call in message.get("tool_calls", ()):
            inner = call.pop("function")
            call.update(function=inner["name"], arguments=json.loads(inner["arguments"]))
        if message.get("tool_call_id") == "c1":
            message["content"] = "attachment://abc123"
        if message.get("tool_call_id") == "c3":
            message["content"] = RESULTS["c3"]
    return {
        "id": 7,
        "epoch": 2,
        "input": QUESTION,
        "messages": messages,
        "scores": {"match": {"value": "C"}},
        "attachments": {"abc123": RESULTS["c1"]},
        "model_usage": {"m": {"input_tokens": 11, "output_tokens": 5}},
    }


HEADER = {"version": 2, "eval": {"task": "rivers", "task_id": "T", "model": "m"}, "plan": {}}


def inspect_json() -> bytes:
    """A log as one document."""
    return json.dumps({**HEADER, "samples": [inspect_sample()]}, indent=1).encode()


def inspect_eval(compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A log as an archive."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        archive.writestr("_journal/start.json", _text(HEADER))
        archive.writestr("samples/7_epoch_2.json", _text(inspect_sample()))
    return file.getvalue()


def swe_agent() -> bytes:
    """A trajectory with history in OpenAI's shape and nothing else."""
    history = chat_messages()
    for message in history:
        if message["role"] == "tool":
            message["tool_call_ids"] = [message.pop("tool_call_id")]
    return json.dumps({"environment": "main", "history": history}, indent=2).encode()


def langsmith() -> bytes:
    """A payload of runs: three of a model, three of a tool."""
    runs: list[dict[str, Any]] = []

    def run(kind: str, name: str, second: int, given: Any, got: Any) -> None:
        runs.append(
            {
                "id": f"r{len(runs)}",
                "trace_id": "t1",
                "run_type": kind,
                "name": name,
                "start_time": f"2025-01-01T00:00:{second:02}",
                "end_time": f"2025-01-01T00:00:{second:02}.5",
                "inputs": given,
                "outputs": got,
            }
        )

    messages = chat_messages()
    for position, message in enumerate(messages):
        second = position + 1
        if message["role"] == "assistant":
            choice = {"choices": [{"message": message}]}
            run("llm", "model", second, {"model": "m", "messages": messages[:position]}, choice)
        elif message["role"] == "tool":
            number = int(message["tool_call_id"][1]) - 1
            output = {"output": message["content"], "tool_call_id": message["tool_call_id"]}
            run("tool", CALLS[number][1], second, CALLS[number][2], output)
    ended = [{"id": r["id"], "outputs": r.pop("outputs"), "run_type": r["run_type"]} for r in runs]
    return json.dumps({"post": runs, "patch": ended}, indent=2).encode()


def _span(number: int, attributes: dict[str, Any], events: Any = ()) -> dict[str, Any]:
    return {
        "traceId": "t1",
        "spanId": f"s{number}",
        "name": "span",
        "startTimeUnixNano": str((1_700_000_000 + number) * 10**9),
        "endTimeUnixNano": str((1_700_000_000 + number) * 10**9 + 1),
        "attributes": [
            {"key": k, "value": {"intValue": str(v)} if isinstance(v, int) else {"stringValue": v}}
            for k, v in attributes.items()
        ],
        "events": list(events),
    }


def _otlp(spans: list[dict[str, Any]]) -> bytes:
    return _text({"resourceSpans": [{"resource": {}, "scopeSpans": [{"spans": spans}]}]}).encode()


def _parts(message: dict[str, Any]) -> dict[str, Any]:
    parts: list[dict[str, Any]] = []
    if message["role"] == "tool":
        answer = {"id": message["tool_call_id"], "response": message["content"]}
        parts.append({"type": "tool_call_response", **answer})
    elif message["content"]:
        parts.append({"type": "text", "content": message["content"]})
    for call in message.get("tool_calls", ()):
        inner = call["function"]
        arguments = json.loads(inner["arguments"])
        parts.append(
            {"type": "tool_call", "id": call["id"], "name": inner["name"], "arguments": arguments}
        )
    return {"role": message["role"], "parts": parts}


def otel_attributes() -> bytes:
    """GenAI spans with messages as attributes and no span of a tool."""
    messages = [_parts(m) for m in chat_messages()]
    spans = [
        _span(
            position,
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.request.model": "m",
                "gen_ai.usage.input_tokens": 4,
                "gen_ai.usage.output_tokens": 2,
                "gen_ai.input.messages": _text(messages[:position]),
                "gen_ai.output.messages": _text([message]),
            },
        )
        for position, message in enumerate(messages)
        if message["role"] == "assistant"
    ]
    return _otlp(spans)


def otel_events() -> bytes:
    """GenAI spans with messages as events, and spans of the tools."""
    messages = chat_messages()
    spans = []
    for position, message in enumerate(messages):
        if message["role"] == "assistant":
            events = [
                {
                    "name": f"gen_ai.{m['role']}.message",
                    "attributes": [{"key": "body", "value": {"stringValue": _text(m)}}],
                }
                for m in messages[:position]
            ]
            body = {"stringValue": _text({"index": 0, "message": message})}
            events.append({"name": "gen_ai.choice", "attributes": [{"key": "body", "value": body}]})
            attributes = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
            spans.append(_span(position, attributes, events))
        elif message["role"] == "tool":
            number = int(message["tool_call_id"][1]) - 1
            attributes = {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": CALLS[number][1],
                "gen_ai.tool.call.id": message["tool_call_id"],
                "gen_ai.tool.call.arguments": _text(CALLS[number][2]),
                "gen_ai.tool.call.result": message["content"],
            }
            spans.append(_span(position, attributes))
    return "\n".join(_text(span) for span in reversed(spans)).encode()


def openinference() -> bytes:
    """OpenInference spans: messages spelled out in numbered attributes."""
    messages = chat_messages()

    def spelled(prefix: str, number: int, message: dict[str, Any]) -> dict[str, Any]:
        base = f"{prefix}.{number}.message"
        flat = {f"{base}.role": message["role"]}
        if message["content"]:
            flat[f"{base}.content"] = message["content"]
        if "tool_call_id" in message:
            flat[f"{base}.tool_call_id"] = message["tool_call_id"]
        for index, call in enumerate(message.get("tool_calls", ())):
            inner = f"{base}.tool_calls.{index}.tool_call"
            flat[f"{inner}.id"] = call["id"]
            flat[f"{inner}.function.name"] = call["function"]["name"]
            flat[f"{inner}.function.arguments"] = call["function"]["arguments"]
        return flat

    lines = []
    for position, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        attributes = {"openinference.span.kind": "LLM", "llm.model_name": "m"}
        for number, given in enumerate(messages[:position]):
            attributes.update(spelled("llm.input_messages", number, given))
        attributes.update(spelled("llm.output_messages", 0, message))
        context = {"trace_id": "0x1", "span_id": f"0x{position}"}
        start = f"2025-01-01T00:00:{position:02}Z"
        lines.append(_text({"context": context, "start_time": start, "attributes": attributes}))
    return "\n".join(lines).encode()


DIALECTS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "chat.json": ("chat", chat),
    "chat.jsonl": ("chat", chat_lines),
    "chat-bare.json": ("chat", chat_bare),
    "chat-batch.jsonl": ("chat", chat_batch),
    "responses.json": ("chat", responses),
    "codex.jsonl": ("codex", codex),
    "anthropic.jsonl": ("anthropic", anthropic),
    "claude-code.jsonl": ("claude-code", claude_code),
    "trajectory.json": ("atif", atif),
    "inspect.json": ("inspect", inspect_json),
    "inspect.eval": ("inspect", inspect_eval),
    "run.traj": ("swe-agent", swe_agent),
    "langsmith.json": ("langsmith", langsmith),
    "otel.json": ("otel", otel_attributes),
    "otel-events.jsonl": ("otel", otel_events),
    "openinference.jsonl": ("otel", openinference),
}
"""File name, reader and maker of every dialect."""
