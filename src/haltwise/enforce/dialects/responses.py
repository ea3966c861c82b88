"""OpenAI Responses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.errors import InputError
from ..messages import NOT_RUN, Call, Message, joined, made, returned, user_message, written
from .protocol import Body, Dialect, Event, How, Reply, objects, text_of

_CALLS = ("function_call", "custom_tool_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output")
_TOOL_FIELDS = ("tools", "tool_choice", "parallel_tool_calls", "max_tool_calls")


class Responses(Dialect):
    """The dialect of ``/responses``."""

    name = "responses"
    default = How.NONE

    def read(self, body: Body) -> list[Message]:
        """Return the conversation; calls that stand side by side are one assistant turn."""
        messages: list[Message] = []
        instructions = body.get("instructions")
        if isinstance(instructions, str):
            messages.append(Message("system", instructions))
        turn: list[Call] = []
        texts: list[str] = []
        add = messages.append
        for item in _items(body):
            get = item.get
            kind, role = get("type"), get("role")
            if kind in _CALLS:
                arguments = get("arguments", get("input", ""))
                if type(arguments) is not str:
                    arguments = str(arguments)
                turn.append(made(Call, (get("call_id"), str(get("name")), arguments)))
                continue
            if turn and (kind == "reasoning" or role == "assistant"):
                text = texts[0] if len(texts) == 1 else joined(texts)
                add(made(Message, ("assistant", text, tuple(turn), None, False)))
                turn, texts = [], []
            if kind == "reasoning":
                continue
            if role == "assistant":
                content = get("content")
                texts.append(content if type(content) is str else text_of(content))
                continue
            if turn or texts:
                text = texts[0] if len(texts) == 1 else joined(texts)
                add(made(Message, ("assistant", text, tuple(turn), None, False)))
                turn, texts = [], []
            if kind in _OUTPUTS:
                output = get("output")
                text = output if type(output) is str else text_of(output)
                add(made(Message, ("tool", text, (), get("call_id"), False)))
            elif role == "user":
                message = user_message(get("content"))
                if message is not None:
                    add(message)
            elif role in ("system", "developer"):
                add(Message("system", text_of(get("content"))))
        if turn or texts:
            add(Message("assistant", joined(texts), tuple(turn)))
        return messages

    def tools(self, body: Body) -> list[str]:
        """Return the names of the tools offered; built-in ones by their type."""
        if body.get("tool_choice") == "none":
            return []
        return [str(t.get("name") or t.get("type")) for t in body.get("tools") or ()]

    def opaque(self, body: Body) -> str | None:
        """Return why the history is out of reach: the server keeps it."""
        for field in ("previous_response_id", "conversation"):
            if body.get(field):
                return f"{field} keeps the history on the server"
        return None

    def wants_json(self, body: Body) -> bool:
        """Return whether ``text.format`` asks for JSON."""
        text = body.get("text")
        wanted = text.get("format") if isinstance(text, dict) else None
        return isinstance(wanted, dict) and wanted.get("type") in ("json_object", "json_schema")

    def gate(self, body: Body, note: str, how: How, keep: frozenset[str]) -> Body:
        """Return the request with ``tool_choice`` "none" (or without tools) and the note."""
        items = _answered(_items(body))
        if how is How.FLATTEN:
            items = [_flattened(item) for item in items if item.get("type") != "reasoning"]
        gated = dict(body)
        kept = sorted(set(self.tools(body)) & keep)
        if kept:
            gated["tool_choice"] = {"type": "function", "name": kept[0]}
            if how is How.FLATTEN:
                gated["tools"] = [tool for tool in body["tools"] if tool.get("name") in keep]
        elif how is How.NONE and body.get("tools"):
            gated["tool_choice"] = "none"
        else:
            for field in _TOOL_FIELDS:
                gated.pop(field, None)
        gated["input"] = [*items, {"role": "user", "content": note}]
        return gated

    def reply(self, response: Body) -> Reply:
        """Return the texts and the calls among the output items."""
        output = _output(response)
        return Reply(
            joined(text_of(i.get("content")) for i in output if i.get("type") == "message"),
            tuple([str(i.get("name")) for i in output if i.get("type") in _CALLS]),
        )

    def scrub(self, response: Body, keep: frozenset[str]) -> Body:
        """Return the response without its calls."""
        output = _output(response)
        left = [i for i in output if i.get("type") not in _CALLS or i.get("name") in keep]
        return response if len(left) == len(output) else {**response, "output": left}

    def with_text(self, response: Body, text: str) -> Body:
        """Return the response with ``text`` as its message."""
        left = [i for i in _output(response) if i.get("type") not in (*_CALLS, "message")]
        whole = {"object": "response", "status": "completed", **response}
        return {**whole, "output": [*left, _message("msg_haltwise", text)]}

    def scrubber(
        self,
        keep: frozenset[str],
        fallback: str,
        tail: str,
        tool: tuple[str, str] | None = None,
    ) -> ResponsesStream:
        """Return a filter for one stream of events."""
        return ResponsesStream(self, keep, fallback, tail)

    def question(self, body: Body, prompt: str) -> Body:
        """Return a short, unstreamed request on a flattened copy that is not stored."""
        asked = self.gate(body, prompt, How.FLATTEN, frozenset())
        for field in ("stream", "stream_options", "text", "background", "include"):
            asked.pop(field, None)
        return {**asked, "max_output_tokens": 16, "store": False}


class ResponsesStream:
    """Filters the events of one streamed response; items of calls vanish, the rest closes up."""

    def __init__(self, dialect: Responses, keep: frozenset[str], fallback: str, tail: str) -> None:
        self.text = ""
        self._dialect, self._keep, self._fallback, self._tail = dialect, keep, fallback, tail
        self._places: dict[int, int | None] = {}
        self._next = self._sequence = 0
        self.kept = False

    def feed(self, event: Event) -> list[Event]:
        """Return the events to send for one that came, numbered on."""
        return [(name, self._numbered(data)) for name, data in self._events(event)]

    def _numbered(self, data: Body) -> Body:
        if "sequence_number" not in data:
            return data
        self._sequence += 1
        return {**data, "sequence_number": self._sequence - 1}

    def _events(self, event: Event) -> list[Event]:
        name, data = event
        kind = str(data.get("type"))
        if kind == "response.output_text.delta":
            self.text += data.get("delta") or ""
        if kind in ("response.completed", "response.incomplete"):
            return self._completed(name, data)
        index = data.get("output_index")
        if not isinstance(index, int):
            return [event]
        if kind == "response.output_item.added":
            item = data.get("item") or {}
            call = item.get("type") in _CALLS
            dropped = call and item.get("name") not in self._keep
            self.kept = self.kept or (call and not dropped)
            self._places[index] = None if dropped else self._next
            self._next += not dropped
        place = self._places.get(index, index)
        return [] if place is None else [(name, {**data, "output_index": place})]

    def _completed(self, name: str | None, data: Body) -> list[Event]:
        response = self._dialect.scrub(data.get("response") or {}, self._keep)
        self.text = self.text or self._dialect.reply(response).text
        text = self._tail if self.text.strip() else self._fallback
        if self.kept or not text:
            return [(name, {**data, "response": response})]
        self.text += text
        added = _message("msg_haltwise", text)
        response = {**response, "output": [*_output(response), added]}
        return [*self._message(added, text), (name, {**data, "response": response})]

    def _message(self, item: Body, text: str) -> list[Event]:
        where = {"item_id": item["id"], "output_index": self._next, "content_index": 0}
        part = item["content"][0]
        empty = {**part, "text": ""}
        begun = {**item, "status": "in_progress", "content": []}
        events: list[Body] = [
            {"type": "response.output_item.added", "output_index": self._next, "item": begun},
            {"type": "response.content_part.added", **where, "part": empty},
            {"type": "response.output_text.delta", **where, "delta": text, "logprobs": []},
            {"type": "response.output_text.done", **where, "text": text, "logprobs": []},
            {"type": "response.content_part.done", **where, "part": part},
            {"type": "response.output_item.done", "output_index": self._next, "item": item},
        ]
        return [(data["type"], {**data, "sequence_number": 0}) for data in events]


def _items(body: Body) -> Sequence[Body]:
    value = body.get("input")
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    if value is None:
        raise InputError("request: input is a text or a list of objects; got nothing")
    return objects(body, "input")


def _output(response: Body) -> list[Body]:
    return [item for item in response.get("output") or () if isinstance(item, dict)]


def _message(identifier: str, text: str) -> dict[str, Any]:
    return {
        "type": "message",
        "id": identifier,
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}],
    }


def _answered(items: Sequence[Body]) -> list[Body]:
    """Give every call without an output one that says that it was not run."""
    ids = {item.get("call_id") for item in items if item.get("type") in _OUTPUTS}
    out: list[Body] = []
    for item in items:
        out.append(item)
        if item.get("type") in _CALLS and item.get("call_id") not in ids:
            kind = f"{item['type']}_output"
            out.append({"type": kind, "call_id": item.get("call_id"), "output": NOT_RUN})
    return out


def _flattened(item: Body) -> Body:
    kind = item.get("type")
    if kind in _CALLS:
        arguments = item.get("arguments", item.get("input", ""))
        return {"role": "assistant", "content": written(item.get("name"), arguments)}
    if kind in _OUTPUTS:
        return {"role": "user", "content": returned(text_of(item.get("output")))}
    return item
