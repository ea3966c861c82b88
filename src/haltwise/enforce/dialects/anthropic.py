"""Anthropic messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from ..messages import NOT_RUN, Call, Message, made, returned, user_message, written
from .protocol import Body, Dialect, Event, How, Reply, objects, text_of

_encoded = msgspec.json.Encoder(order="deterministic").encode
_USES = ("tool_use", "server_tool_use", "mcp_tool_use")


class Anthropic(Dialect):
    """The dialect of ``/v1/messages``."""

    name = "anthropic"
    default = How.NONE

    def read(self, body: Body) -> list[Message]:
        """Return the conversation; a text beside tool results is no user turn."""
        messages: list[Message] = []
        system = text_of(body.get("system"))
        if system:
            messages.append(Message("system", system))
        add = messages.append
        for item in objects(body, "messages"):
            content = item.get("content")
            if item.get("role") == "assistant":
                add(_assistant(content))
                continue
            found = False
            if type(content) is list:
                for block in content:
                    if type(block) is dict and block.get("type") == "tool_result":
                        found = True
                        add(_result(block))
            if not found:
                message = user_message(content)
                if message is not None:
                    add(message)
        return messages

    def tools(self, body: Body) -> list[str]:
        """Return the names of the tools offered."""
        choice = body.get("tool_choice")
        if isinstance(choice, dict) and choice.get("type") == "none":
            return []
        return [str(tool.get("name")) for tool in body.get("tools") or ()]

    def opaque(self, body: Body) -> str | None:
        """Return None: a messages request carries its whole history."""
        return None

    def wants_json(self, body: Body) -> bool:
        """Return whether an output format with a JSON schema is asked for."""
        wanted = body.get("output_format")
        config = body.get("output_config")
        if isinstance(config, dict):
            wanted = config.get("format") or wanted
        return isinstance(wanted, dict) and wanted.get("type") == "json_schema"

    def gate(self, body: Body, note: str, how: How, keep: frozenset[str]) -> Body:
        """Return the request with its tools off; the note follows the results of the last turn."""
        messages = _answered(objects(body, "messages"))
        gated = dict(body)
        offered = set(self.tools(body))
        if how is How.FLATTEN:
            messages = [_flattened(item) for item in messages]
        kept = sorted(offered & keep)
        if kept and not _thinks(body):
            gated["tool_choice"] = {"type": "tool", "name": kept[0]}
            if how is How.FLATTEN:
                gated["tools"] = [tool for tool in body["tools"] if tool.get("name") in keep]
        elif how is How.NONE and body.get("tools"):
            gated["tool_choice"] = {"type": "none"}
        else:
            gated.pop("tools", None)
            gated.pop("tool_choice", None)
        block = {"type": "text", "text": note}
        if messages and messages[-1].get("role") == "user":
            last = {**messages[-1], "content": [*_blocks(messages[-1].get("content")), block]}
            gated["messages"] = [*messages[:-1], last]
        else:
            gated["messages"] = [*messages, {"role": "user", "content": [block]}]
        return gated

    def reply(self, response: Body) -> Reply:
        """Return the texts and the calls among the content blocks."""
        blocks = _blocks(response.get("content"))
        return Reply(
            "\n".join([str(b.get("text")) for b in blocks if b.get("type") == "text"]),
            tuple([str(b.get("name")) for b in blocks if b.get("type") == "tool_use"]),
        )

    def scrub(self, response: Body, keep: frozenset[str]) -> Body:
        """Return the response without its calls."""
        blocks = _blocks(response.get("content"))
        left = [b for b in blocks if b.get("type") != "tool_use" or b.get("name") in keep]
        if len(left) == len(blocks):
            return response
        stopped = {} if any(b.get("type") == "tool_use" for b in left) else _END
        return {**response, "content": left, **stopped}

    def with_text(self, response: Body, text: str) -> Body:
        """Return the response with ``text`` as its only content."""
        return {
            "type": "message",
            "role": "assistant",
            **response,
            "content": [{"type": "text", "text": text}],
            **_END,
        }

    def scrubber(
        self,
        keep: frozenset[str],
        fallback: str,
        tail: str,
        tool: tuple[str, str] | None = None,
    ) -> AnthropicStream:
        """Return a filter for one stream of events."""
        return AnthropicStream(keep, fallback, tail)

    def question(self, body: Body, prompt: str) -> Body:
        """Return a short, unstreamed request on a flattened copy."""
        asked = self.gate(body, prompt, How.FLATTEN, frozenset())
        for field in ("stream", "thinking", "output_format", "output_config"):
            asked.pop(field, None)
        return {**asked, "temperature": 0, "max_tokens": 16}


_END = {"stop_reason": "end_turn"}


class AnthropicStream:
    """Filters the events of one streamed message; blocks of calls vanish, the rest closes up."""

    def __init__(self, keep: frozenset[str], fallback: str, tail: str) -> None:
        self.text = ""
        self._keep, self._fallback, self._tail = keep, fallback, tail
        self._places: dict[int, int | None] = {}
        self._next = 0
        self.kept = False

    def feed(self, event: Event) -> list[Event]:
        """Return the events to send for one that came."""
        name, data = event
        kind = data.get("type")
        if kind == "content_block_start":
            block = data.get("content_block") or {}
            use = block.get("type") == "tool_use"
            if use and block.get("name") not in self._keep:
                self._places[data.get("index") or 0] = None
                return []
            self.kept = self.kept or use
            self._places[data.get("index") or 0] = self._next
            self._next += 1
            if block.get("type") == "text":
                self.text += block.get("text") or ""
        if kind in ("content_block_start", "content_block_delta", "content_block_stop"):
            place = self._places.get(data.get("index") or 0)
            if place is None:
                return []
            delta = data.get("delta") or {}
            if delta.get("type") == "text_delta":
                self.text += delta.get("text") or ""
            return [(name, {**data, "index": place})]
        if kind == "message_delta":
            return [*self._ending(), (name, self._stopped(data))]
        return [event]

    def _stopped(self, data: Body) -> Body:
        delta = data.get("delta") or {}
        if delta.get("stop_reason") != "tool_use" or self.kept:
            return data
        return {**data, "delta": {**delta, **_END}}

    def _ending(self) -> list[Event]:
        text = self._tail if self.text.strip() else self._fallback
        if self.kept or not text:
            return []
        self.text += text
        place = self._next
        self._next += 1
        events = (
            {
                "type": "content_block_start",
                "index": place,
                "content_block": {"type": "text", "text": ""},
            },
            {
                "type": "content_block_delta",
                "index": place,
                "delta": {"type": "text_delta", "text": text},
            },
            {"type": "content_block_stop", "index": place},
        )
        return [(str(data["type"]), data) for data in events]


def _blocks(content: Any) -> list[Body]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return [block for block in content or () if isinstance(block, dict)]


def _assistant(content: Any) -> Message:
    if type(content) is not list:
        return Message("assistant", text_of(content))
    text = thought = ""
    calls: list[Call] = []
    for block in content:
        if type(block) is not dict:
            continue
        get = block.get
        kind = get("type")
        if kind == "tool_use":
            arguments = _encoded(get("input")).decode()
            calls.append(made(Call, (get("id"), str(get("name")), arguments)))
        elif kind == "text":
            text = f"{text}\n{get('text')}" if text else str(get("text"))
        elif kind == "thinking":
            thought = str(get("thinking"))
    return made(Message, ("assistant", text or thought, tuple(calls), None, False))


def _result(block: Body) -> Message:
    content = block.get("content")
    text = content if type(content) is str else text_of(content)
    failed = block.get("is_error") is True
    return made(Message, ("tool", text, (), block.get("tool_use_id"), failed))


def _thinks(body: Body) -> bool:
    thinking = body.get("thinking")
    return isinstance(thinking, dict) and thinking.get("type") != "disabled"


def _answered(messages: Sequence[Body]) -> list[Body]:
    """Give every call without a result one that says that it was not run."""
    ids = {
        block.get("tool_use_id")
        for item in messages
        for block in _blocks(item.get("content"))
        if block.get("type") == "tool_result"
    }
    out: list[Body] = []
    missing: list[Body] = []
    for item in messages:
        if missing and item.get("role") == "user":
            item = {**item, "content": [*missing, *_blocks(item.get("content"))]}
            missing = []
        out.append(item)
        if item.get("role") == "assistant":
            missing += [
                {"type": "tool_result", "tool_use_id": block.get("id"), "content": NOT_RUN}
                for block in _blocks(item.get("content"))
                if block.get("type") == "tool_use" and block.get("id") not in ids
            ]
    return [*out, {"role": "user", "content": missing}] if missing else out


def _flattened(item: Body) -> Body:
    content = item.get("content")
    if isinstance(content, str):
        return item
    blocks: list[Body] = []
    for block in _blocks(content):
        kind = block.get("type")
        if kind in _USES:
            text = written(block.get("name"), _encoded(block.get("input")).decode())
            blocks.append({"type": "text", "text": text})
        elif kind == "tool_result":
            text = returned(text_of(block.get("content")))
            blocks.append({"type": "text", "text": text})
        elif kind not in ("thinking", "redacted_thinking"):
            blocks.append(block)
    return {**item, "content": blocks or [{"type": "text", "text": "(nothing)"}]}
