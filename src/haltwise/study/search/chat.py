"""Sends the study's requests to a model through Inspect AI. The only file of the loop that does.

Text protocols send results as user turns that begin with "Observation:" (tags for search-r1);
the protocol native uses tool calls and tool messages. Ignorant of arms and regimes.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
)
from inspect_ai.tool import ToolCall, ToolInfo, ToolParams
from inspect_ai.util import JSONSchema

from ...enforce.messages import Call
from ..provider import INFORMATION, OBSERVATION
from . import prompts
from .conversation import Entry, Request
from .protocols import Protocol, Response

_SWITCHED = ("vllm", "sglang", "openai-api", "hf")
"""Providers whose chat template takes ``enable_thinking``."""
_THINKING_TOKENS = 4096


_FLAT: set[str] = set()
"""Models whose servers refused a tool history without tools, in this process."""


class Chat:
    """A model as the study's loop sees it. One per episode: it remembers converted messages."""

    def __init__(self, model: Model, protocol: Protocol, reasoning: str | None = None) -> None:
        self._model, self._native = model, protocol.name == "native"
        self._tagged = protocol.name == "search-r1"
        self._bound = str(model) == "haltwise/embedded"
        self._reasoning = reasoning
        self._converted: dict[int, tuple[Entry, ChatMessage]] = {}
        self._configs: dict[tuple[Any, ...], GenerateConfig] = {}

    async def ask(self, request: Request) -> Response:
        """Send one request and return what came back."""
        messages = [self.message(entry) for entry in request.history]
        config = self._config(request)
        if self._native and request.tools:
            tools = [_tool(name) for name in request.tools]
            output = await self._model.generate(messages, tools, "auto", config)
        elif self._native:
            output = await self._without_tools(request, messages, config)
        else:
            output = await self._model.generate(messages, config=config)
        response = _response(output)
        return replace(response, text=_closed(response.text)) if self._tagged else response

    async def _without_tools(
        self, request: Request, messages: list[ChatMessage], config: GenerateConfig
    ) -> ModelOutput:
        """Send a request whose history has tool calls and which may make none.

        Some servers refuse a tool history without tools; for them it is told as text from then on.
        """
        name = str(self._model)
        if name not in _FLAT:
            try:
                tools = [_tool(tool) for tool in self._known_tools(request)]
                return await self._model.generate(messages, tools, "none", config)
            except Exception as error:
                if "tool" not in str(error):
                    raise
                _FLAT.add(name)
        return await self._model.generate(
            [_flat(entry) for entry in request.history], config=config
        )

    def message(self, entry: Entry) -> ChatMessage:
        """Return an entry as an Inspect message; the same entry gives the same message."""
        known = self._converted.get(id(entry))
        if known is not None:
            return known[1]
        converted = self._convert(entry)
        self._converted[id(entry)] = (entry, converted)  # the entry is held: its id stays its own
        return converted

    def _convert(self, entry: Entry) -> ChatMessage:
        message = entry.message
        if message.role == "system":
            return ChatMessageSystem(content=message.text)
        if message.role == "user":
            return ChatMessageUser(content=message.text)
        if message.role == "assistant":
            calls = [
                ToolCall(id=call.id or "", function=call.name, arguments=json.loads(call.arguments))
                for call in message.calls
            ]
            return ChatMessageAssistant(content=message.text, tool_calls=calls or None)
        text = f"{message.text}\n{entry.below}" if entry.below else message.text
        if self._native:
            return ChatMessageTool(content=text, tool_call_id=message.call_id)
        if self._tagged:
            return ChatMessageUser(content=f"{INFORMATION}{text}</information>")
        return ChatMessageUser(content=OBSERVATION + text)

    def _config(self, request: Request) -> GenerateConfig:
        told = self._bound and request.yes_no
        key = (request.max_tokens, request.stop, request.grammar, told)
        config = self._configs.get(key)
        if config is None:
            body: dict[str, Any] = {}
            tokens = request.max_tokens
            effort: Any = None
            if self._bound and request.grammar:
                body["grammar"] = request.grammar
            if self._reasoning is not None:
                on = self._reasoning == "on"
                tokens = tokens + _THINKING_TOKENS if on else tokens
                if str(self._model).split("/")[0] in _SWITCHED:
                    body["chat_template_kwargs"] = {"enable_thinking": on}
                elif not on:
                    effort = "none"
            config = GenerateConfig(
                temperature=0.0,
                max_tokens=tokens,
                stop_seqs=list(request.stop) or None,
                extra_body=body or None,
                reasoning_effort=effort,
                logprobs=True if told else None,
            )
            self._configs[key] = config
        return config

    def _known_tools(self, request: Request) -> tuple[str, ...]:
        """Return the tools that were called so far: some APIs want them declared to the end."""
        called = [call.name for entry in request.history for call in entry.message.calls]
        return tuple(name for name in prompts.TOOLS if name in called)


def _flat(entry: Entry) -> ChatMessage:
    """Return an entry as plain text: calls and results told instead of linked."""
    message = entry.message
    if message.role == "system":
        return ChatMessageSystem(content=message.text)
    if message.role == "assistant":
        calls = "\n".join(f"(called {call})" for call in message.calls)
        return ChatMessageAssistant(content=f"{message.text}\n{calls}".strip())
    prefix = OBSERVATION if message.role == "tool" else ""
    return ChatMessageUser(content=prefix + message.text)


def _tool(name: str) -> ToolInfo:
    what = JSONSchema(type="string", description="a title or words")
    parameters = ToolParams(properties={"query": what}, required=["query"])
    return ToolInfo(name=name, description=prompts.TOOLS[name], parameters=parameters)


def _closed(text: str) -> str:
    """Return the text with the tag closed at which generation was told to end."""
    for name in ("search", "answer"):
        if f"<{name}>" in text and f"</{name}>" not in text:
            return f"{text}</{name}>"
    return text


def _yes(output: ModelOutput) -> float | None:
    logprobs = output.choices[0].logprobs if output.choices else None
    if logprobs is None or not logprobs.content:
        return None
    mass = {"yes": 0.0, "no": 0.0}
    for entry in logprobs.content[0].top_logprobs or ():
        word = entry.token.strip().lower()
        if word in mass:
            mass[word] += math.exp(entry.logprob)
    total = sum(mass.values())
    return mass["yes"] / total if total else None


def _response(output: ModelOutput) -> Response:
    message = output.message
    calls = tuple(
        Call(call.id, call.function, json.dumps(call.arguments))
        for call in message.tool_calls or ()
    )
    usage = output.usage
    cached = ((usage.input_tokens_cache_read or 0) if usage else 0) + (
        (usage.input_tokens_cache_write or 0) if usage else 0
    )
    return Response(
        text=message.text,
        calls=calls,
        truncated=output.stop_reason in ("max_tokens", "model_length"),
        input_tokens=usage.input_tokens + cached if usage else None,
        output_tokens=usage.output_tokens if usage else None,
        yes=_yes(output),
    )
