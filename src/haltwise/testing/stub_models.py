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
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, NamedTuple

from aiohttp import web

from .stub_dialects import STUB_DIALECTS, Body, Turn, parts

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
                return web.json_response(STUB_DIALECTS[dialect].whole(turn))
            return await _streamed(request, dialect, turn)

        return handle

    def turn(self, dialect: str, body: Body) -> Turn:
        """Return what the model says to ``body``."""
        number = len(self.requests)
        offered = STUB_DIALECTS[dialect].offered(body)
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


_QUERY: Body = {"type": "object", "properties": {"query": {"type": "string"}}}


def _error(dialect: str, message: str) -> web.Response:
    error: Body = {"error": {"message": message, "type": "invalid_request_error"}}
    if dialect == "anthropic":
        error["type"] = "error"
    return web.json_response(error, status=400)


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


def _last_text(dialect: str, body: Body) -> str:
    items = body[STUB_DIALECTS[dialect].key]
    if isinstance(items, str):
        return items
    content = items[-1].get("content") if items else ""
    texts = [str(part.get("text", "")) for part in parts(content)]
    return texts[-1] if texts else ""


def _complaint(dialect: str, body: Body, strict: bool) -> str | None:
    if body.get("tools") == [] and dialect == "chat":
        return "tools is an empty list"
    if not body.get("tools") and body.get("tool_choice") not in (None, "none", "auto"):
        return "tool_choice is given without tools"
    open_calls: set[Any] = set()
    history = False
    items = body.get(STUB_DIALECTS[dialect].key)
    for kind, identifier in STUB_DIALECTS[dialect].links(items if type(items) is list else []):
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


async def _streamed(request: web.Request, dialect: str, turn: Turn) -> web.StreamResponse:
    response = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await response.prepare(request)
    for name, data in STUB_DIALECTS[dialect].events(turn):
        head = "" if name is None else f"event: {name}\n"
        await response.write(f"{head}data: {json.dumps(data)}\n\n".encode())
    if dialect == "chat":
        await response.write(b"data: [DONE]\n\n")
    await response.write_eof()
    return response
