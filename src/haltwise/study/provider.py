"""The Inspect AI provider ``haltwise``: ``haltwise/embedded`` and ``haltwise/scripted:NAME``.

Importing this file registers it; Inspect finds it by the entry point of the package as well. The
embedded model is small: where a request carries a grammar (in ``extra_body``) or tools, its output
is bound to them. Knows nothing of studies.

Model arguments of ``haltwise/embedded``: ``slots`` (sequences decoded together, 1 by default: only
then are runs reproducible), ``context`` (tokens a sequence), ``threads`` (threads that read
prompts, 2 by default; 1 on a busy machine) and ``reuse_prefix`` (take the common beginning with the
last prompt from the cache, True by default).
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    GenerateConfig,
    Logprob,
    Logprobs,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    StopReason,
    TopLogprob,
    modelapi,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolInfo

from ..core.errors import InputError
from ..enforce.messages import Call, Message
from ..judges.embedded import EmbeddedModel, Reply
from ..judges.weights import fetch_weights
from .search.conversation import Entry, Request, Role
from .search.scripted import scripted

T = TypeVar("T")
YES_NO = ("yes", "no")
OBSERVATION = "Observation: "
"""Begins a result for a model that has no tool messages."""
INFORMATION = "<information>"
"""Begins a result in the protocol search-r1."""


@modelapi(name="haltwise")
class HaltwiseAPI(ModelAPI):
    """Models that run in this process."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 - as Inspect's own providers
        *,
        slots: int = 1,
        context: int = 8192,
        threads: int = 2,
        reuse_prefix: bool = True,
    ) -> None:
        """Prepare the model; its weights are loaded at the first request.

        Raises:
            InputError: there is no such model.
        """
        super().__init__(model_name, base_url, api_key, [], config)
        self.slots, self.context, self.threads = slots, context, threads
        self.reuse_prefix = reuse_prefix
        self.script = None
        self._known: dict[str, Any] = {}
        self._embedded_model: EmbeddedModel | None = None
        self._loading = threading.Lock()
        if model_name.startswith("scripted:"):
            self.script = scripted(model_name.removeprefix("scripted:"))
        elif model_name != "embedded":
            raise InputError(
                f"there is no model haltwise/{model_name}; there are haltwise/embedded and "
                "haltwise/scripted:never_stops"
            )

    def max_connections(self) -> int:
        """As many requests at once as there are slots."""
        return self.slots if self.script is None else 10

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        """Answer the conversation."""
        if self.script is not None:
            return self._scripted(input, tools)
        import anyio.to_thread

        return await anyio.to_thread.run_sync(self._embedded, input, tools, config)

    def _scripted(self, input: list[ChatMessage], tools: list[ToolInfo]) -> ModelOutput:
        assert self.script is not None
        history = tuple(Entry(canonical(message)) for message in input)
        response = self.script(Request(Role.AGENT, history, tuple(tool.name for tool in tools)))
        usage = (response.input_tokens or 0, response.output_tokens or 0)
        return self._output(response.text, response.calls, "stop", usage)

    def _embedded(
        self, input: list[ChatMessage], tools: list[ToolInfo], config: GenerateConfig
    ) -> ModelOutput:
        model = self._own()
        messages = plain(input)
        if config.logprobs and not tools:
            return self._told(model, messages)
        schema = None
        if tools:
            messages = _told(messages, tools)
            schema = _call_schema(tools)
        elif config.response_schema is not None:
            schema = config.response_schema.json_schema.model_dump(exclude_none=True)
        if (config.num_choices or 1) > 1 and self.slots > 1:
            return self._several(model, messages, config, schema)
        reply = self._ask(model, messages, config, schema)
        usage = (reply.input_tokens, reply.output_tokens)
        if not tools:
            return self._output(reply.text, (), reply.finish, usage)
        text, calls = _call_in(reply.text, f"call-{len(input)}")
        return self._output(text, calls, reply.finish, usage)

    def _own(self) -> EmbeddedModel:
        """Return the model of this object alone, loaded at the first request.

        What the prefix cache holds moves probabilities in the second digit; a cache that another
        run has filled would make the second of two equal runs another one.
        """
        with self._loading:
            if self._embedded_model is None:
                self._embedded_model = EmbeddedModel(
                    fetch_weights(), slots=self.slots, context=self.context, threads=self.threads
                )
        return self._embedded_model

    def _told(self, model: EmbeddedModel, messages: list[dict[str, Any]]) -> ModelOutput:
        """Answer yes or no, with the probability of each as log probabilities of one token."""
        shares, reply = self._remembered(
            json.dumps(messages),
            lambda: model.probabilities(messages, YES_NO, reuse_prefix=self.reuse_prefix),
        )
        output = self._output(reply.text, (), "stop", (reply.input_tokens, reply.output_tokens))
        logged = [
            TopLogprob(token=word, logprob=math.log(max(share, 1e-30)))
            for word, share in shares.items()
        ]
        first = Logprob(token=reply.text, logprob=logged[0].logprob, top_logprobs=logged)
        output.choices[0].logprobs = Logprobs(content=[first])
        return output

    def _remembered(self, key: str, ask: Callable[[], T]) -> T:
        """Return the answer to a request that came before, else ask.

        Regimes of a question share the beginning of their episodes, so a third of the requests of a
        study come again word for word; in one slot the same request has the same answer.
        """
        if self.slots > 1:
            return ask()
        if key not in self._known:
            self._known[key] = ask()
        found: T = self._known[key]
        return found

    def _ask(
        self,
        model: EmbeddedModel,
        messages: list[dict[str, Any]],
        config: GenerateConfig,
        schema: dict[str, Any] | None,
    ) -> Reply:
        asked = _asked(config, schema)
        return self._remembered(
            json.dumps([messages, asked]),
            lambda: model.chat(messages, reuse_prefix=self.reuse_prefix, **asked)[0],
        )

    def _several(
        self,
        model: EmbeddedModel,
        messages: list[dict[str, Any]],
        config: GenerateConfig,
        schema: dict[str, Any] | None,
    ) -> ModelOutput:
        """Return several answers, at most one a slot: the prompt is read once."""
        n = min(config.num_choices or 1, self.slots)
        replies = model.chat(
            messages, n=n, reuse_prefix=self.reuse_prefix, **_asked(config, schema)
        )
        usage = (replies[0].input_tokens, sum(reply.output_tokens for reply in replies))
        output = self._output(replies[0].text, (), replies[0].finish, usage)
        for reply in replies[1:]:
            output.choices += self._output(reply.text, (), reply.finish, usage).choices
        return output

    def _output(
        self, text: str, calls: Sequence[Call], finish: str, usage: tuple[int, int]
    ) -> ModelOutput:
        message = ChatMessageAssistant(
            content=text,
            source="generate",
            model=self.model_name,
            tool_calls=[
                ToolCall(
                    id=call.id or "call", function=call.name, arguments=json.loads(call.arguments)
                )
                for call in calls
            ]
            or None,
        )
        stop: StopReason = "max_tokens" if finish == "length" else "tool_calls" if calls else "stop"
        return ModelOutput(
            model=self.model_name,
            choices=[ChatCompletionChoice(message=message, stop_reason=stop)],
            usage=ModelUsage(
                input_tokens=usage[0], output_tokens=usage[1], total_tokens=sum(usage)
            ),
        )


def _asked(config: GenerateConfig, schema: dict[str, Any] | None) -> dict[str, Any]:
    return {
        "max_tokens": config.max_tokens or 512,
        "temperature": config.temperature or 0.0,
        "seed": config.seed or 0,
        "schema": schema,
        "grammar": None if schema else (config.extra_body or {}).get("grammar"),
        "stop": config.stop_seqs or (),
    }


def canonical(message: ChatMessage) -> Message:
    """Return an Inspect message in the one shape that haltwise reads."""
    if message.role == "assistant":
        calls = tuple(
            Call(call.id, call.function, json.dumps(call.arguments))
            for call in message.tool_calls or ()
        )
        return Message("assistant", message.text, calls)
    if message.role == "tool":
        return Message(
            "tool", message.text, call_id=message.tool_call_id, failed=message.error is not None
        )
    if message.role == "user" and message.text.startswith((OBSERVATION, INFORMATION)):
        text = message.text.removeprefix(OBSERVATION).removeprefix(INFORMATION)
        return Message("tool", text.removesuffix("</information>"))
    return Message(message.role, message.text)


def plain(input: Sequence[ChatMessage]) -> list[dict[str, Any]]:
    """Return the conversation for a model without tool messages: calls and results as text."""
    messages = []
    for message in input:
        text = message.text
        if message.role == "assistant" and message.tool_calls:
            call = message.tool_calls[0]
            argument = next(iter(call.arguments.values()), "")
            text = json.dumps({"thought": text, "action": call.function, "argument": argument})
        if message.role == "tool":
            messages.append({"role": "user", "content": OBSERVATION + text})
        else:
            messages.append({"role": message.role, "content": text})
    return messages


def _told(messages: list[dict[str, Any]], tools: Sequence[ToolInfo]) -> list[dict[str, Any]]:
    lines = [f"- {tool.name}: {tool.description}" for tool in tools]
    lines += ["- answer: end the task with the answer as the argument"]
    told = "Reply as JSON with thought, action and argument. Actions:\n" + "\n".join(lines)
    if messages and messages[0]["role"] == "system":
        first = {**messages[0], "content": f"{messages[0]['content']}\n{told}"}
        return [first, *messages[1:]]
    return [{"role": "system", "content": told}, *messages]


def _call_schema(tools: Sequence[ToolInfo]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "thought": {"type": "string", "maxLength": 200},
            "action": {"type": "string", "enum": [*(tool.name for tool in tools), "answer"]},
            "argument": {"type": "string", "maxLength": 80},
        },
        "required": ["thought", "action", "argument"],
        "additionalProperties": False,
    }


def _call_in(text: str, id: str) -> tuple[str, tuple[Call, ...]]:
    try:
        said = json.loads(text)
    except ValueError:  # cut off by the limit of tokens
        return text, ()
    if said["action"] == "answer":
        return str(said["argument"]), ()
    arguments = json.dumps({"query": said["argument"]})
    return str(said["thought"]), (Call(id, said["action"], arguments),)
