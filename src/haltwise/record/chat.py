"""Chat messages of every dialect in one shape.

Knows how OpenAI (chat and Responses), Anthropic, Inspect, LangChain, Gemini, OTel GenAI and text
agents write a message, a tool call and a tool result. What the messages mean as a loop is the
business of `haltwise.record.turns`. Lenient: what has an unexpected type is read as absent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec.structs import replace


class ToolCall(msgspec.Struct, frozen=True, gc=False):
    """A call that the agent made."""

    id: str | None
    """Links it to its result; None in text agents."""
    name: str
    """The tool."""
    arguments: Any
    """As they were recorded: text or JSON."""


class ToolResult(msgspec.Struct, frozen=True, gc=False):
    """What came back."""

    id: str | None
    """The call that it answers; None where the format does not say."""
    name: str | None
    """The tool, where the result names it."""
    text: str
    """The result as text."""


class Message(msgspec.Struct, frozen=True, gc=False):
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


ROLES = {
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
    if item.__class__ is not dict:
        return None
    role = item.get("role")
    if role.__class__ is str:
        role = ROLES.get(role, role)
    else:
        kind = item.get("type")
        if (nested := _langchain(item)) is not None:
            return read_message(nested)
        if kind.__class__ is not str:
            return None
        if kind in ROLES or kind in ("user", "assistant", "system", "tool"):
            role = ROLES.get(kind, kind)
        else:
            return _responses_item(kind, item)
    content = item.get("content")
    if content is None and "parts" in item:
        content = item["parts"]
    if role in ("tool", "environment") or (role == "user" and "tool_call_ids" in item):
        return Message("tool", None, _NONE, _tool_results(item, content))
    if content is None or content.__class__ is str:
        text, calls, results = content, _NONE, _NONE
    else:
        calls, results = [], []
        text = _blocks(content, calls, results)
    if role != "assistant":
        return Message(role, text or None, calls, results)
    if "tool_calls" in item or "function_call" in item:
        calls = calls + _assistant_calls(item)
    if not text and ("reasoning_content" in item or "reasoning" in item):
        thought = item.get("reasoning_content") or item.get("reasoning")
        text = thought if thought.__class__ is str else None
    turn = item.get("id")
    return Message(role, text or None, calls, results, turn if turn.__class__ is str else None)


def read_messages(items: Iterable[Any]) -> list[Message]:
    """Return all messages in ``items``; text agents' observations become results."""
    return plain([message for item in items if (message := read_message(item)) is not None])


def plain(messages: list[Message]) -> list[Message]:
    """Return ``messages`` with the observations of a text agent as results."""
    for message in messages:
        if message.calls or message.results:
            return messages
    if any(message.role == "user" and _observation(message.text) for message in messages):
        return list(_text_agent(messages))
    return messages


def _blocks(content: Any, calls: list[ToolCall], results: list[ToolResult]) -> str | None:
    """Return the text of a content's blocks, and put calls and results into their lists."""
    parts = content if isinstance(content, list) else [content]
    texts = []
    for part in parts:
        if part.__class__ is dict:
            kind = part.get("type")
            name = kind if kind.__class__ is str else ""
            if name in _TEXT_BLOCKS:
                text = part.get("text", part.get("content"))
                if text.__class__ is str:
                    texts.append(str(text))
                continue
            if name in _CALL_BLOCKS:
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
    if len(texts) == 1:
        return texts[0]
    return "\n".join(texts) if texts else None


_TEXT_BLOCKS = {"text", "output_text", "input_text"}
_CALL_BLOCKS = {"tool_use", "tool_call", "server_tool_use", "mcp_tool_use"}


def _assistant_calls(item: dict[str, Any]) -> list[ToolCall]:
    calls = item.get("tool_calls")
    made = []
    if calls.__class__ is list:
        made = [_call(call) for call in calls if call.__class__ is dict]
    legacy = item.get("function_call")
    if legacy.__class__ is dict:
        made.append(_call(legacy))
    return made


def _call(call: dict[str, Any]) -> ToolCall:
    inner = call.get("function", call.get("custom"))
    body = inner if inner.__class__ is dict else call
    name = body.get("name") or body.get("tool_name") or inner
    arguments = body.get("arguments")
    if arguments is None:
        arguments = body.get("input", body.get("args", body.get("parameters")))
    return ToolCall(_id(call), name if name.__class__ is str and name else "unknown", arguments)


def _id(item: dict[str, Any]) -> str | None:
    for key in _IDS:
        if key in item:
            value = item[key]
            if value.__class__ is str and value:
                return value
    return None


_IDS = ("tool_call_id", "call_id", "tool_use_id", "id")


def _result(part: dict[str, Any]) -> ToolResult:
    content = part.get("content")
    if content is None:
        content = next((part[key] for key in _CONTENT if part.get(key) is not None), None)
    text = content if content.__class__ is str else text_of(content) or ""
    if "error" in part or "is_error" in part or "status" in part:
        text = _failed(part, text)
    name = part.get("name") or part.get("function")
    return ToolResult(_id(part), name if name.__class__ is str else None, text)


_CONTENT = ("output", "response", "result", "outputs")


def _failed(part: dict[str, Any], text: str) -> str:
    """Return a result's text, marked as an error where its format says so beside the text."""
    error = part.get("error")
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        return f"{error.get('type', 'error')} error: {error['message']}\n{text}".rstrip()
    if isinstance(error, str) and error:
        return f"Error: {error}\n{text}".rstrip()
    if text and (part.get("is_error") is True or part.get("status") == "error"):
        return text if "rror" in text[:40] else f"Error: {text}"
    return text


def _tool_results(item: dict[str, Any], content: Any) -> list[ToolResult]:
    if content.__class__ is list:
        blocks = [
            _result(part)
            for part in content
            if isinstance(part, dict)
            and isinstance(kind := part.get("type"), str)
            and (kind.endswith("tool_result") or kind == "tool_call_response")
        ]
        if blocks:
            return blocks
        item = {**item, "content": content}
    result = _result(item)
    if "tool_call_ids" in item:
        ids = item["tool_call_ids"]
        if isinstance(ids, list) and ids and isinstance(ids[0], str):
            return [replace(result, id=ids[0])]
    if "tool_call_id" in item or "call_id" in item:
        return [result]
    return [replace(result, id=None)]


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
    inner = item.get("kwargs")
    if isinstance(inner, dict) and isinstance(item.get("id"), list):
        role = ROLES.get(str(item["id"][-1]) if item["id"] else "")
        if role is not None:
            return {**inner, "role": role, "type": None}
    inner, kind = item.get("data"), item.get("type")
    if isinstance(inner, dict) and isinstance(kind, str) and kind in ROLES:
        return {**inner, "role": ROLES[kind], "type": None}
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
        return written_action(line)
    if (code := _CODE.search(text)) is not None:
        return ToolCall(None, code.group(1) or "code", code.group(2).strip())
    return None


def written_action(text: str) -> ToolCall:
    """Return the call in ``search[x]`` or ``search(x)``; a bare word has no arguments."""
    name, bracket, rest = text.partition("[")
    if bracket and rest.endswith("]") and name.isalnum() and len(name) <= 60:
        return ToolCall(None, name, rest[:-1])
    if (shaped := _BRACKETS.fullmatch(text)) is not None:
        return ToolCall(None, shaped.group(1), shaped.group(2))
    word = _WORD.match(text)
    if word is None:
        return ToolCall(None, "unknown", text or None)
    return ToolCall(None, word.group(), None if word.end() == len(text) else text)


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
            yield replace(message, calls=[call])
        else:
            yield message
