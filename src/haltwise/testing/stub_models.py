"""A model server that never stops by itself, for tests of whatever is to stop it.

Speaks OpenAI chat, OpenAI Responses and Anthropic messages, streamed and not, and is as strict as
the real ones about histories: a call without a result, a result without a call or an empty tool
list is answered with status 400 and noted in `StubServer.complaints`.

Modes (CASES, C): ``obedient`` calls a tool whenever it may, else it answers; ``parallel`` makes
two calls a turn; ``rogue`` calls a tool even when none is offered; ``strict`` is obedient and
answers a tool history without a ``tools`` field with 400. Needs the extra ``gateway``.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, NamedTuple

from aiohttp import web

Body = dict[str, Any]
MODES = ("obedient", "parallel", "rogue", "strict")
ANSWER = "The river that flows through the capital is the Strel."
"""What the stub answers when it has to; JSON where JSON was asked for."""


class Seen(NamedTuple):
    """One request that the stub has got."""

    dialect: str
    body: Body
    headers: dict[str, str]
    """Names in lower case."""
    path: str


@dataclass
class StubServer:
    """A stub model server in a thread of its own; use it in a ``with`` block."""

    mode: str = "obedient"
    """One of `MODES`."""
    judge: str = "no"
    """The reply to a question that is to be answered with yes or no."""
    thought: str = ""
    """Text beside every tool call."""
    fault: Callable[[web.Request, Body], Any] | None = None
    """Called first with request and body; an awaitable whose result, if any, is the response."""
    missing: str | None = None
    """A path that is answered with 404."""
    requests: list[Seen] = field(default_factory=list)
    """Everything that came, oldest first."""
    complaints: list[str] = field(default_factory=list)
    """What was wrong with a request, by the real servers' rules."""

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ValueError(f"mode is one of {', '.join(MODES)}; got {self.mode!r}")

    @property
    def url(self) -> str:
        """Base URL without a path."""
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> StubServer:
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True, name="stub models")
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._done.set)
        self._thread.join()

    def _serve(self) -> None:
        asyncio.run(self._main())

    async def _main(self) -> None:
        self._loop, self._done = asyncio.get_running_loop(), asyncio.Event()
        quiet = logging.getLogger("haltwise.testing.stub_models")
        quiet.disabled = True
        runner = web.AppRunner(self.app(), access_log=None, logger=quiet, shutdown_timeout=0.2)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.port: int = runner.addresses[0][1]
        self._ready.set()
        await self._done.wait()
        await runner.cleanup()

    def app(self) -> web.Application:
        """Return the server as an aiohttp application."""
        app = web.Application(client_max_size=256 << 20)
        for path, dialect in (
            ("/chat/completions", "chat"),
            ("/responses", "responses"),
            ("/messages", "anthropic"),
        ):
            for prefix in ("", "/v1"):
                app.router.add_post(prefix + path, self._handler(dialect))
        app.router.add_route("*", "/{rest:.*}", self._other)
        return app

    async def _other(self, request: web.Request) -> web.Response:
        """Echo any other route, so that passing through can be checked byte by byte."""
        data = await request.read()
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.requests.append(Seen("other", {"data": data}, headers, request.path_qs))
        if request.path == self.missing:
            return web.Response(status=404, text=f"there is no {request.path}")
        return web.Response(body=data or b"{}", headers={"x-stub": request.method})

    def _handler(self, dialect: str) -> Callable[[web.Request], Any]:
        async def handle(request: web.Request) -> web.StreamResponse:
            headers = {name.lower(): value for name, value in request.headers.items()}
            try:
                body: Body = json.loads(await request.read())
            except ValueError:
                return _error(dialect, "the body is not JSON")
            self.requests.append(Seen(dialect, body, headers, request.path_qs))
            if self.fault is not None:
                response = await self.fault(request, body)
                if response is not None:
                    return response  # type: ignore[no-any-return]
            try:
                complaint = _complaint(dialect, body, self.mode == "strict")
            except (AttributeError, TypeError):
                complaint = "the history cannot be read"
            if complaint is not None:
                self.complaints.append(complaint)
                return _error(dialect, complaint)
            turn = self.turn(dialect, body)
            if not body.get("stream"):
                return web.json_response(_whole(dialect, turn))
            return await _streamed(request, dialect, turn)

        return handle

    def turn(self, dialect: str, body: Body) -> Turn:
        """Return what the model says to ``body``."""
        number = len(self.requests)
        offered = _offered(dialect, body)
        question = _last_text(dialect, body)
        if "yes or no" in question:
            return Turn(number, self.judge, ())
        usable = bool(offered) and _choice(body) != "none"
        if not usable and self.mode != "rogue":
            return Turn(number, _answer(body), ())
        searches = "search" in offered or not offered or self.mode == "rogue"
        name = _named(body) or ("search" if searches else "")
        name = name or next(iter(offered))
        width = 2 if self.mode == "parallel" and name == "search" else 1
        arguments = tuple(
            _filled(offered.get(name) or _QUERY, f"query {number}.{i}") for i in range(width)
        )
        return Turn(number, self.thought, tuple((name, values) for values in arguments))


class Turn(NamedTuple):
    """One reply of the stub."""

    number: int
    text: str
    calls: tuple[tuple[str, Body], ...]


_QUERY: Body = {"type": "object", "properties": {"query": {"type": "string"}}}


def _error(dialect: str, message: str) -> web.Response:
    error: Body = {"error": {"message": message, "type": "invalid_request_error"}}
    if dialect == "anthropic":
        error["type"] = "error"
    return web.json_response(error, status=400)


def _offered(dialect: str, body: Body) -> dict[str, Body]:
    tools = body.get("tools") or []
    if dialect == "chat":
        functions = [tool["function"] for tool in tools] + list(body.get("functions") or ())
        return {f["name"]: f.get("parameters") or {} for f in functions}
    key = "input_schema" if dialect == "anthropic" else "parameters"
    return {tool["name"]: tool.get(key) or {} for tool in tools}


def _choice(body: Body) -> str:
    choice = body.get("tool_choice")
    return str(choice.get("type")) if isinstance(choice, dict) else str(choice)


def _named(body: Body) -> str | None:
    choice = body.get("tool_choice")
    if not isinstance(choice, dict):
        return None
    return choice.get("name") or (choice.get("function") or {}).get("name")


def _filled(schema: Body, text: str) -> Body:
    """Return an object that fits a simple JSON schema."""
    values: Body = {}
    for name, kind in (schema.get("properties") or {}).items():
        options = [kind, *(kind.get("anyOf") or ())]
        kinds = {option.get("type") for option in options}
        if "string" in kinds or not kinds - {None}:
            values[name] = text if name == "query" else ANSWER
        elif kinds & {"integer", "number"}:
            values[name] = 1
        elif "boolean" in kinds:
            values[name] = True
        else:
            values[name] = [] if "array" in kinds else {}
    return values


def _answer(body: Body) -> str:
    wanted = body.get("response_format") or (body.get("text") or {}).get("format") or {}
    wanted = wanted or (body.get("output_config") or {}).get("format") or {}
    if wanted.get("type") not in ("json_schema", "json_object"):
        return ANSWER
    schema = wanted.get("schema") or (wanted.get("json_schema") or {}).get("schema")
    return json.dumps(_filled(schema or {"properties": {"answer": {"type": "string"}}}, ANSWER))


def _parts(content: Any) -> list[Body]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [part for part in content or () if isinstance(part, dict)]


def _last_text(dialect: str, body: Body) -> str:
    items = body["input" if dialect == "responses" else "messages"]
    if isinstance(items, str):
        return items
    content = items[-1].get("content") if items else ""
    texts = [str(part.get("text", "")) for part in _parts(content)]
    return texts[-1] if texts else ""


def _links(dialect: str, body: Body) -> Iterator[tuple[str, Any]]:
    """Yield ("call" | "result" | "turn", id) in the order of the history."""
    items = body.get("input" if dialect == "responses" else "messages")
    for item in items if isinstance(items, list) else ():
        if dialect == "responses":
            kind = str(item.get("type"))
            if kind == "function_call":
                yield "call", item.get("call_id")
            elif kind == "function_call_output":
                yield "result", item.get("call_id")
            else:
                yield "turn", None
        elif dialect == "chat":
            if item.get("role") == "tool":
                yield "result", item.get("tool_call_id")
                continue
            yield "turn", None
            for call in item.get("tool_calls") or ():
                yield "call", call.get("id")
        else:
            blocks = _parts(item.get("content"))
            if not any(block.get("type") == "tool_result" for block in blocks):
                yield "turn", None
            for block in blocks:
                if block.get("type") == "tool_use":
                    yield "call", block.get("id")
                elif block.get("type") == "tool_result":
                    yield "result", block.get("tool_use_id")


def _complaint(dialect: str, body: Body, strict: bool) -> str | None:
    if body.get("tools") == [] and dialect == "chat":
        return "tools is an empty list"
    if not body.get("tools") and body.get("tool_choice") not in (None, "none", "auto"):
        return "tool_choice is given without tools"
    open_calls: set[Any] = set()
    history = False
    for kind, identifier in _links(dialect, body):
        history = history or kind != "turn"
        if kind == "call":
            open_calls.add(identifier)
        elif kind == "result":
            if identifier not in open_calls:
                return f"a result answers no call: {identifier}"
            open_calls.discard(identifier)
        elif open_calls and dialect != "responses":
            return f"calls without results: {sorted(map(str, open_calls))}"
    if open_calls:
        return f"calls without results: {sorted(map(str, open_calls))}"
    if strict and history and not (body.get("tools") or body.get("functions")):
        return "a tools field is needed when the history holds tool calls"
    return None


def _whole(dialect: str, turn: Turn) -> Body:
    n, text, calls = turn
    if dialect == "chat":
        message: Body = {"role": "assistant", "content": text or None}
        if calls:
            message["tool_calls"] = [_chat_call(n, i, call) for i, call in enumerate(calls)]
        choice = {
            "index": 0,
            "message": message,
            "finish_reason": "tool_calls" if calls else "stop",
        }
        return {**_chat_head(n, "chat.completion"), "choices": [choice], "usage": _CHAT_USAGE}
    if dialect == "responses":
        return _response(n, list(_items(turn)), "completed")
    blocks: list[Body] = [{"type": "text", "text": text}] if text else []
    blocks += [
        {"type": "tool_use", "id": f"toolu_{n}_{i}", "name": name, "input": values}
        for i, (name, values) in enumerate(calls)
    ]
    return {**_message_head(n), "content": blocks, "stop_reason": _stop(turn)}


_CHAT_USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
_USAGE = {"input_tokens": 10, "output_tokens": 5}


def _chat_head(n: int, kind: str) -> Body:
    return {"id": f"chatcmpl-{n}", "object": kind, "created": 1_700_000_000, "model": "stub"}


def _chat_call(n: int, i: int, call: tuple[str, Body]) -> Body:
    function = {"name": call[0], "arguments": json.dumps(call[1])}
    return {"id": f"call_{n}_{i}", "type": "function", "function": function}


def _message_head(n: int) -> Body:
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


def _stop(turn: Turn) -> str:
    return "tool_use" if turn.calls else "end_turn"


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
            **_USAGE,
            "total_tokens": 15,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }


async def _streamed(request: web.Request, dialect: str, turn: Turn) -> web.StreamResponse:
    response = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await response.prepare(request)
    if dialect == "chat":
        for chunk in _chat_chunks(turn):
            await response.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        await response.write(b"data: [DONE]\n\n")
    else:
        events = _response_events(turn) if dialect == "responses" else _message_events(turn)
        for event in events:
            head = f"event: {event['type']}\ndata: ".encode()
            await response.write(head + json.dumps(event).encode() + b"\n\n")
    await response.write_eof()
    return response


def _pieces(text: str) -> list[str]:
    middle = len(text) // 2
    return [piece for piece in (text[:middle], text[middle:]) if piece]


def _chat_chunks(turn: Turn) -> Iterator[Body]:
    n, text, calls = turn
    head = _chat_head(n, "chat.completion.chunk")

    def chunk(delta: Body, finish: str | None = None) -> Body:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": "" if text or not calls else None})
    for piece in _pieces(text):
        yield chunk({"content": piece})
    for i, call in enumerate(calls):
        whole = _chat_call(n, i, call)
        function = {**whole["function"], "arguments": ""}
        yield chunk({"tool_calls": [{"index": i, **whole, "function": function}]})
        for piece in _pieces(whole["function"]["arguments"]):
            yield chunk({"tool_calls": [{"index": i, "function": {"arguments": piece}}]})
    yield chunk({}, "tool_calls" if calls else "stop")
    yield {**head, "choices": [], "usage": _CHAT_USAGE}


def _response_events(turn: Turn) -> Iterator[Body]:
    for number, event in enumerate(_response_parts(turn)):
        yield {**event, "sequence_number": number}


def _response_parts(turn: Turn) -> Iterator[Body]:
    items = list(_items(turn))
    begun = _response(turn.number, [], "in_progress")
    yield {"type": "response.created", "response": begun}
    for place, item in enumerate(items):
        where: Body = {"item_id": item["id"], "output_index": place}
        if item["type"] == "function_call":
            empty = {**item, "arguments": "", "status": "in_progress"}
            yield {"type": "response.output_item.added", "output_index": place, "item": empty}
            for piece in _pieces(item["arguments"]):
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
            for piece in _pieces(part["text"]):
                delta = {"delta": piece, "logprobs": []}
                yield {"type": "response.output_text.delta", **where, **delta}
            done = {"text": part["text"], "logprobs": []}
            yield {"type": "response.output_text.done", **where, **done}
            yield {"type": "response.content_part.done", **where, "part": part}
        yield {"type": "response.output_item.done", "output_index": place, "item": item}
    yield {"type": "response.completed", "response": _response(turn.number, items, "completed")}


def _message_events(turn: Turn) -> Iterator[Body]:
    n, text, calls = turn
    yield {"type": "message_start", "message": _message_head(n)}
    place = 0
    if text:
        start = {"type": "text", "text": ""}
        yield {"type": "content_block_start", "index": place, "content_block": start}
        for piece in _pieces(text):
            delta = {"type": "text_delta", "text": piece}
            yield {"type": "content_block_delta", "index": place, "delta": delta}
        yield {"type": "content_block_stop", "index": place}
        place += 1
    for i, (name, values) in enumerate(calls):
        use = {"type": "tool_use", "id": f"toolu_{n}_{i}", "name": name, "input": {}}
        yield {"type": "content_block_start", "index": place, "content_block": use}
        for piece in _pieces(json.dumps(values)):
            delta = {"type": "input_json_delta", "partial_json": piece}
            yield {"type": "content_block_delta", "index": place, "delta": delta}
        yield {"type": "content_block_stop", "index": place}
        place += 1
    ending = {"stop_reason": _stop(turn), "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": {"output_tokens": 5}}
    yield {"type": "message_stop"}
