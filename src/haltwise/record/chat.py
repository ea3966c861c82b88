"""Chat messages of every dialect in one shape.

Knows how OpenAI (chat and Responses), Anthropic, Inspect, LangChain, Gemini, OTel GenAI and text
agents write a message, a tool call and a tool result. What the messages mean as a loop is the
business of `haltwise.record.turns`. Lenient: what has an unexpected type is read as absent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec


class ToolCall(NamedTuple):
    """A call that the agent made."""

    id: str | None
    """Links it to its result; None in text agents."""
    name: str
    """The tool."""
    arguments: Any
    """As they were recorded: text or JSON."""


class ToolResult(NamedTuple):
    """What came back."""

    id: str | None
    """The call that it answers; None where the format does not say."""
    name: str | None
    """The tool, where the result names it."""
    text: str
    """The result as text."""


class Message(NamedTuple):
    """One message: who spoke, what was said, called and returned."""

    role: str
    """"system", "user", "assistant" or "tool"."""
    text: str | None
    """What was said; None for nothing."""
    calls: list[ToolCall]
    """Tool calls in it."""
    results: list[ToolResult]
    """Tool results in it."""
    turn: str | None = None
    """Id of the model's reply, where several messages share one."""
    time: float | None = None
    """Seconds on any clock."""


_ROLES = {
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
    "developer": "system",
    "function": "tool",
    "ipython": "tool",
    "HumanMessage": "user",
    "AIMessage": "assistant",
    "AIMessageChunk": "assistant",
    "SystemMessage": "system",
    "ToolMessage": "tool",
    "FunctionMessage": "tool",
}

_NONE: list[Any] = []


def text_of(content: Any) -> str | None:
    """Return the text in a message's content; what is no text is named in brackets."""
    if isinstance(content, str):
        return content
    if content is None:
        return None
    if isinstance(content, list):
        found = [text for part in content if (text := text_of(part)) is not None]
        return "\n".join(found) if found else None
    if isinstance(content, dict):
        for key in ("text", "content", "output_text", "refusal", "output", "value"):
            inner = content.get(key)
            if isinstance(inner, (str, list, dict)):
                return text_of(inner)
        kind = content.get("type")
        if isinstance(kind, str):
            return None if kind in _SILENT else f"[{kind}]"
        return msgspec.json.encode(content).decode()
    return str(content)


_SILENT = {"thinking", "redacted_thinking", "reasoning", "tool_use", "tool_call", "function_call"}


def read_message(item: Any) -> Message | None:
    """Return one message of any dialect; None for something that is no message."""
    if not isinstance(item, dict):
        return None
    kind = item.get("type")
    role = item.get("role")
    if isinstance(role, str):
        role = _ROLES.get(role, role)
    elif isinstance(kind, str):
        if (nested := _langchain(item)) is not None:
            return read_message(nested)
        if kind in _ROLES or kind in ("user", "assistant", "system", "tool"):
            role = _ROLES.get(kind, kind)
        else:
            return _responses_item(kind, item)
    else:
        nested = _langchain(item)
        return None if nested is None else read_message(nested)
    content = item.get("parts", item.get("content"))
    calls: list[ToolCall] = []
    results: list[ToolResult] = []
    if role in ("tool", "environment") or (role == "user" and "tool_call_ids" in item):
        results = _tool_results(item)
        return Message("tool", None, _NONE, results, None, None)
    text: str | None
    if isinstance(content, str) or content is None:
        text = content
    else:
        text = _blocks(content, calls, results)
    if role == "assistant":
        calls.extend(_assistant_calls(item))
        thought = item.get("reasoning_content") or item.get("reasoning")
        if not text and isinstance(thought, str):
            text = thought
    turn = item.get("id") if role == "assistant" else None
    return Message(
        str(role), text or None, calls, results, turn if isinstance(turn, str) else None, None
    )


def read_messages(items: Iterable[Any]) -> list[Message]:
    """Return all messages in ``items``; text agents' observations become results."""
    messages = [message for item in items if (message := read_message(item)) is not None]
    if any(message.calls or message.results for message in messages):
        return messages
    if any(message.role == "user" and _observation(message.text) for message in messages):
        return list(_text_agent(messages))
    return messages


def _blocks(content: Any, calls: list[ToolCall], results: list[ToolResult]) -> str | None:
    """Return the text of a content's blocks, and put calls and results into their lists."""
    parts = content if isinstance(content, list) else [content]
    texts = []
    for part in parts:
        if isinstance(part, dict):
            kind = part.get("type")
            name = kind if isinstance(kind, str) else ""
            if name in ("text", "output_text", "input_text"):
                text = part.get("text", part.get("content"))
                if isinstance(text, str):
                    texts.append(text)
                continue
            if name in ("tool_use", "server_tool_use", "mcp_tool_use", "tool_call"):
                calls.append(_call(part))
                continue
            if name.endswith("tool_result") or name == "tool_call_response":
                results.append(_result(part))
                continue
            if isinstance(call := part.get("functionCall", part.get("function_call")), dict):
                calls.append(_call(call))
                continue
            answer = part.get("functionResponse", part.get("function_response"))
            if isinstance(answer, dict):
                results.append(_result(answer))
                continue
            if name in ("thinking", "reasoning") and not texts:
                thought = part.get("thinking", part.get("reasoning", part.get("content")))
                if isinstance(thought, str) and thought:
                    texts.append(thought)
                continue
        if (other := text_of(part)) is not None:
            texts.append(other)
    return "\n".join(texts) if texts else None


def _assistant_calls(item: dict[str, Any]) -> Iterator[ToolCall]:
    calls = item.get("tool_calls")
    if isinstance(calls, list):
        for call in calls:
            if isinstance(call, dict):
                yield _call(call)
    legacy = item.get("function_call")
    if isinstance(legacy, dict):
        yield _call(legacy)


def _call(call: dict[str, Any]) -> ToolCall:
    inner = call.get("function", call.get("custom"))
    body = inner if isinstance(inner, dict) else call
    name = body.get("name") or body.get("tool_name") or (inner if isinstance(inner, str) else None)
    arguments = None
    for key in ("arguments", "args", "input", "parameters"):
        if body.get(key) is not None:
            arguments = body[key]
            break
    return ToolCall(_id(call), name if isinstance(name, str) and name else "unknown", arguments)


def _id(item: dict[str, Any]) -> str | None:
    for key in ("call_id", "tool_call_id", "tool_use_id", "id"):
        value = item.get(key)
        if isinstance(value, str) and value:
            return value
    return None


def _result(part: dict[str, Any]) -> ToolResult:
    content = None
    for key in ("content", "output", "response", "result", "outputs"):
        if part.get(key) is not None:
            content = part[key]
            break
    error = part.get("error")
    name = part.get("name") or part.get("function")
    text = text_of(content) or ""
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        text = f"{error.get('type', 'error')} error: {error['message']}\n{text}".rstrip()
    elif isinstance(error, str) and error:
        text = f"Error: {error}\n{text}".rstrip()
    elif (part.get("is_error") is True or part.get("status") == "error") and text:
        text = text if "rror" in text[:40] else f"Error: {text}"
    return ToolResult(_id(part), name if isinstance(name, str) else None, text)


def _tool_results(item: dict[str, Any]) -> list[ToolResult]:
    ids = item.get("tool_call_ids")
    content = item.get("content", item.get("parts"))
    if isinstance(content, list):
        blocks = [
            _result(part)
            for part in content
            if isinstance(part, dict)
            and isinstance(kind := part.get("type"), str)
            and (kind.endswith("tool_result") or kind == "tool_call_response")
        ]
        if blocks:
            return blocks
    result = _result({"content": content, **item})
    if isinstance(ids, list) and ids and isinstance(ids[0], str):
        return [ToolResult(ids[0], result.name, result.text)]
    return [result if "tool_call_id" in item or "call_id" in item else result._replace(id=None)]


def _responses_item(kind: str, item: dict[str, Any]) -> Message | None:
    """Return an item of the Responses API, which has a type and no role."""
    if kind == "reasoning":
        text = text_of(item.get("summary")) or text_of(item.get("content"))
        return Message("assistant", text, _NONE, _NONE) if text else None
    if kind.endswith("_output"):
        return Message("tool", None, _NONE, [_result(item)])
    if kind.endswith("_call"):
        if item.get("name") is None and kind != "function_call":
            action = item.get("action", item.get("queries", item.get("code")))
            call = ToolCall(_id(item), kind.removesuffix("_call"), action)
        else:
            call = _call(item)
        results = []
        if kind != "function_call" and item.get("output") is not None:
            results = [_result(item)]
        return Message("assistant", None, [call], results)
    return None


def _langchain(item: dict[str, Any]) -> dict[str, Any] | None:
    """Return a LangChain message out of its serialised or dumped wrapping."""
    if isinstance(item.get("kwargs"), dict) and isinstance(item.get("id"), list):
        name = str(item["id"][-1]) if item["id"] else ""
        if name in _ROLES:
            return {**item["kwargs"], "role": _ROLES[name], "type": None}
    if isinstance(item.get("data"), dict) and item.get("type") in _ROLES:
        return {**item["data"], "role": _ROLES[item["type"]], "type": None}
    return None


_OBSERVATION = re.compile(r"\s*(?:Observation(?:\s+\d+)?|Tool (?:output|result)|Call id)\s*:\s*")
_ACTION = re.compile(r"^\s*Action(?:\s+\d+)?\s*:\s*(.+)$", re.MULTILINE)
_INPUT = re.compile(r"^\s*Action Input(?:\s+\d+)?\s*:\s*(.+)", re.MULTILINE | re.DOTALL)
_BRACKETS = re.compile(r"\s*([\w .-]{1,60}?)\s*[\[(](.*)[\])]", re.DOTALL)
_WORD = re.compile(r"[\w-]{1,60}")
_CODE = re.compile(r"```(\w*)\n(.*?)```", re.DOTALL)


def _observation(text: str | None) -> bool:
    return text is not None and _OBSERVATION.match(text) is not None


def written_call(text: str) -> ToolCall | None:
    """Return the call that a text agent wrote: ``Action: search[x]``, or a block of code."""
    if (action := _ACTION.search(text)) is not None:
        line = action.group(1).strip()
        if (given := _INPUT.search(text, action.end())) is not None:
            return ToolCall(None, line, given.group(1).strip())
        if (shaped := _BRACKETS.fullmatch(line)) is not None:
            return ToolCall(None, shaped.group(1), shaped.group(2))
        word = _WORD.match(line)
        return ToolCall(None, word.group() if word else "unknown", line)
    if (code := _CODE.search(text)) is not None:
        return ToolCall(None, code.group(1) or "code", code.group(2).strip())
    return None


def _text_agent(messages: list[Message]) -> Iterator[Message]:
    """Yield the messages of a text agent, with its written calls and observations made plain.

    A turn is a call if an observation follows it: then the agent did act, however it wrote it.
    """
    for number, message in enumerate(messages):
        following = messages[number + 1] if number + 1 < len(messages) else None
        if message.role == "user" and _observation(message.text):
            found = _OBSERVATION.match(message.text or "")
            text = (message.text or "")[found.end() if found else 0 :]
            yield Message("tool", None, _NONE, [ToolResult(None, None, text)])
        elif (
            message.role == "assistant"
            and following is not None
            and following.role == "user"
            and _observation(following.text)
        ):
            call = written_call(message.text or "") or ToolCall(None, "unknown", None)
            yield message._replace(calls=[call])
        else:
            yield message
