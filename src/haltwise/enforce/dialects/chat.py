"""OpenAI chat completions, and everybody who speaks like it."""

from __future__ import annotations

import json
from typing import Any

from ...core.errors import InputError
from ..messages import NOT_RUN, Call, Message, made, returned, user_message, written
from .protocol import Body, Event, How, Reply, objects, text_of

_TOOL_FIELDS = ("tools", "tool_choice", "parallel_tool_calls", "functions", "function_call")


class Chat:
    """The dialect of ``/chat/completions``."""

    name = "chat"
    default = How.STRIP

    def read(self, body: Body) -> list[Message]:
        """Return the conversation; our own notes are left out."""
        messages: list[Message] = []
        add = messages.append
        for item in objects(body, "messages"):
            get = item.get
            role, content = get("role"), get("content")
            text = content if type(content) is str else text_of(content) if content else ""
            if role == "tool" or role == "function":
                add(made(Message, ("tool", text, (), get("tool_call_id"), False)))
            elif role == "assistant":
                asked = get("tool_calls")
                calls = _calls(item) if asked or "function_call" in item else ()
                add(made(Message, ("assistant", text or _reasoning(item), calls, None, False)))
            elif role == "user":
                message = user_message(content)
                if message is not None:
                    add(message)
            else:
                add(Message("system", text))
        return messages

    def tools(self, body: Body) -> list[str]:
        """Return the names of the tools offered, legacy functions included."""
        if body.get("tool_choice") == "none":
            return []
        return [
            *(_tool_name(tool) for tool in body.get("tools") or ()),
            *(str(tool.get("name")) for tool in body.get("functions") or ()),
        ]

    def opaque(self, body: Body) -> str | None:
        """Return None: a chat request carries its whole history."""
        return None

    def wants_json(self, body: Body) -> bool:
        """Return whether ``response_format`` asks for JSON."""
        wanted = body.get("response_format")
        return isinstance(wanted, dict) and wanted.get("type") in ("json_object", "json_schema")

    def gate(self, body: Body, note: str, how: How, keep: frozenset[str]) -> Body:
        """Return the request with its tools off; never an empty ``tools`` list."""
        messages = _answered(objects(body, "messages"))
        if how is How.FLATTEN:
            messages = [flat for item in messages for flat in _flattened(item)]
        gated = dict(body)
        kept = [tool for tool in body.get("tools") or () if _tool_name(tool) in keep]
        if kept:
            gated["tools"] = kept
            choice = body.get("tool_choice")
            if isinstance(choice, dict) and _tool_name(choice) not in keep:
                gated["tool_choice"] = {
                    "type": "function",
                    "function": {"name": _tool_name(kept[0])},
                }
            gated.pop("functions", None)
            gated.pop("function_call", None)
        elif how is How.NONE and body.get("tools"):
            gated["tool_choice"] = "none"
            gated.pop("parallel_tool_calls", None)
        else:
            for field in _TOOL_FIELDS:
                gated.pop(field, None)
        gated["messages"] = [*messages, {"role": "user", "content": note}]
        return gated

    def reply(self, response: Body) -> Reply:
        """Return the first choice's text and calls."""
        choices = response.get("choices") or [{}]
        message = choices[0].get("message") or {}
        return Reply(text_of(message.get("content")), tuple(call.name for call in _calls(message)))

    def scrub(self, response: Body, keep: frozenset[str]) -> Body:
        """Return the response with the calls removed from every choice."""
        return {**response, "choices": [_scrubbed(c, keep) for c in response.get("choices") or ()]}

    def with_text(self, response: Body, text: str) -> Body:
        """Return the response with ``text`` in its first choice."""
        choices = response.get("choices") or [{"index": 0}]
        message = {k: v for k, v in (choices[0].get("message") or {}).items() if k not in _CALLS}
        message = {"role": "assistant", **message, "content": text}
        first = {**choices[0], "message": message, "finish_reason": "stop"}
        return {"object": "chat.completion", **response, "choices": [first, *choices[1:]]}

    def demanded(self, body: Body, keep: frozenset[str]) -> tuple[str, str] | None:
        """Return the kept tool and its first argument where ``tool_choice`` demands a call."""
        if body.get("tool_choice") in (None, "auto", "none"):
            return None
        for tool in body.get("tools") or ():
            if _tool_name(tool) in keep:
                schema = (tool.get("function") or {}).get("parameters") or {}
                names = [*(schema.get("required") or ()), *(schema.get("properties") or ())]
                return _tool_name(tool), str(next(iter(names), "answer"))
        return None

    def with_call(self, response: Body, tool: tuple[str, str], text: str) -> Body:
        """Return the response with ``text`` as a call in its first choice."""
        response = self.with_text(response, "")
        first, *others = response["choices"]
        message = {**first["message"], "content": None, "tool_calls": [_answering(tool, text)]}
        first = {**first, "message": message, "finish_reason": "tool_calls"}
        return {**response, "choices": [first, *others]}

    def scrubber(
        self,
        keep: frozenset[str],
        fallback: str,
        tail: str,
        tool: tuple[str, str] | None = None,
    ) -> ChatStream:
        """Return a filter for one stream of chunks."""
        return ChatStream(keep, fallback, tail, tool)

    def question(self, body: Body, prompt: str) -> Body:
        """Return a short, unstreamed request on a flattened copy."""
        asked = self.gate(body, prompt, How.FLATTEN, frozenset())
        for field in ("stream", "stream_options", "response_format", "n", "max_completion_tokens"):
            asked.pop(field, None)
        return {**asked, "temperature": 0, "max_tokens": 16}


_CALLS = ("tool_calls", "function_call")


def _answering(tool: tuple[str, str], text: str) -> Body:
    function = {"name": tool[0], "arguments": json.dumps({tool[1]: text})}
    return {"id": "call_haltwise", "type": "function", "function": function}


class ChatStream:
    """Filters the chunks of one streamed completion.

    A call of a kept tool passes; every other one is swallowed. The chunk that finishes the first
    choice is preceded by the fallback where no text has come, and by the tail.
    """

    def __init__(
        self,
        keep: frozenset[str],
        fallback: str,
        tail: str,
        tool: tuple[str, str] | None = None,
    ) -> None:
        self.text = ""
        self.kept = False
        self._keep, self._fallback, self._tail, self._tool = keep, fallback, tail, tool
        self._passing: dict[tuple[int, int], bool] = {}
        self._finished: set[int] = set()

    def feed(self, event: Event) -> list[Event]:
        """Return the chunks to send for one that came."""
        name, chunk = event
        out: list[Event] = []
        choices = []
        for choice in chunk.get("choices") or ():
            cleaned = self._choice(chunk, choice, out)
            if cleaned is not None:
                choices.append(cleaned)
        if choices or not chunk.get("choices"):
            out.append((name, {**chunk, "choices": choices} if "choices" in chunk else chunk))
        return out

    def _choice(self, chunk: Body, choice: Body, out: list[Event]) -> Body | None:
        index = choice.get("index") or 0
        delta = {k: v for k, v in (choice.get("delta") or {}).items() if k not in _CALLS}
        calls = [
            call
            for call in (choice.get("delta") or {}).get("tool_calls") or ()
            if self._passes(index, call)
        ]
        if calls:
            delta["tool_calls"] = calls
        content = delta.get("content")
        if index == 0 and isinstance(content, str):
            self.text += content
        finish = choice.get("finish_reason")
        if not finish:
            return {**choice, "delta": delta} if delta or not choice.get("delta") else None
        if index not in self._finished:
            self._finished.add(index)
            if not self._kept(index):
                finish = "stop" if finish in ("tool_calls", "function_call") else finish
                ending = (self._tail if self.text.strip() else self._fallback) if index == 0 else ""
                if ending:
                    self.text += ending
                    added = {"index": 0, "delta": {"content": ending}, "finish_reason": None}
                    out.append((None, {**chunk, "choices": [added]}))
                if index == 0 and self._tool is not None and self.text.strip():
                    call = {"index": 0, **_answering(self._tool, self.text)}
                    added = {"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None}
                    out.append((None, {**chunk, "choices": [added]}))
                    finish = "tool_calls"
        return {**choice, "delta": delta, "finish_reason": finish}

    def _passes(self, index: int, call: Body) -> bool:
        place = (index, call.get("index") or 0)
        function = call.get("function")
        name = function.get("name") if isinstance(function, dict) else None
        if name:
            self._passing[place] = name in self._keep
            self.kept = self.kept or name in self._keep
        return self._passing.get(place, False)

    def _kept(self, index: int) -> bool:
        return any(passing for place, passing in self._passing.items() if place[0] == index)


def _tool_name(tool: Any) -> str:
    if not isinstance(tool, dict):
        raise InputError(f"request: a tool is an object; got {type(tool).__name__}")
    kind = tool.get(tool.get("type") or "function")
    return str(kind.get("name") if isinstance(kind, dict) else tool.get("name"))


def _calls(message: Body) -> tuple[Call, ...]:
    calls = []
    for call in message.get("tool_calls") or ():
        kind = call.get("function") or call.get("custom") or {}
        arguments = kind.get("arguments")
        if type(arguments) is not str:
            arguments = str(kind.get("input", "") if arguments is None else arguments)
        calls.append(made(Call, (call.get("id"), str(kind.get("name")), arguments)))
    legacy = message.get("function_call")
    if legacy:
        calls.append(Call(None, str(legacy.get("name")), str(legacy.get("arguments", ""))))
    return tuple(calls)


def _reasoning(message: Body) -> str:
    for field in ("reasoning_content", "reasoning"):
        if field in message:
            reasoning = message[field]
            return reasoning if isinstance(reasoning, str) else ""
    return ""


def _scrubbed(choice: Body, keep: frozenset[str]) -> Body:
    message = choice.get("message") or {}
    if not any(message.get(field) for field in _CALLS):
        return choice
    cleaned = {k: v for k, v in message.items() if k not in _CALLS}
    kept = [call for call in message.get("tool_calls") or () if _tool_name(call) in keep]
    if kept:
        cleaned["tool_calls"] = kept
        return {**choice, "message": cleaned}
    return {**choice, "message": cleaned, "finish_reason": "stop"}


def _answered(messages: Any) -> list[Body]:
    """Give every call without a result one that says that it was not run."""
    ids = {item.get("tool_call_id") for item in messages if item.get("role") == "tool"}
    out: list[Body] = []
    missing: list[Any] = []
    for item in messages:
        if item.get("role") != "tool" and missing:
            out += [{"role": "tool", "tool_call_id": i, "content": NOT_RUN} for i in missing]
            missing = []
        out.append(item)
        missing += [
            call.get("id") for call in item.get("tool_calls") or () if call.get("id") not in ids
        ]
    return out + [{"role": "tool", "tool_call_id": i, "content": NOT_RUN} for i in missing]


def _flattened(item: Body) -> list[Body]:
    role = item.get("role")
    if role in ("tool", "function"):
        return [{"role": "user", "content": returned(text_of(item.get("content")))}]
    calls = _calls(item)
    if not calls:
        return [item]
    texts = [text_of(item.get("content")), *(written(c.name, c.arguments) for c in calls)]
    return [{"role": "assistant", "content": "\n".join(text for text in texts if text)}]
