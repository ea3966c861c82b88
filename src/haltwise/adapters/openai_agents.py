"""OpenAI Agents SDK: a wrapper around any model. Extra ``openai-agents``.

::

    provider = StopProvider("streak(5) | deadline(8)")
    await Runner.run(agent, question, run_config=RunConfig(model_provider=provider))

Every agent of the run is held to the rule on its own, sub-agents and handoffs included. Where the
server keeps the history (``conversation_id``, ``previous_response_id``) only the newest items reach
a model wrapper: such calls pass undecided.
"""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from typing import Any

from agents import ModelResponse
from agents.models.interface import Model, ModelProvider
from agents.models.multi_provider import MultiProvider
from openai.types.responses import (
    ResponseContentPartAddedEvent,
    ResponseContentPartDoneEvent,
    ResponseOutputItemAddedEvent,
    ResponseOutputItemDoneEvent,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseTextDeltaEvent,
    ResponseTextDoneEvent,
)

from ..core.policy import Policy
from ..enforce import NOTE, RESPONSES, Assessment, How
from .rule import Rule

_ADDED: dict[str, Any] = {
    "response.output_item.added": ResponseOutputItemAddedEvent,
    "response.content_part.added": ResponseContentPartAddedEvent,
    "response.output_text.delta": ResponseTextDeltaEvent,
    "response.output_text.done": ResponseTextDoneEvent,
    "response.content_part.done": ResponseContentPartDoneEvent,
    "response.output_item.done": ResponseOutputItemDoneEvent,
}
"""Events of which a message of our own is made."""


class StopModel(Model):
    """A model that ends a search loop which a policy has stopped."""

    def __init__(self, inner: Model, rule: Rule | Policy | str, **options: Any) -> None:
        """Wrap ``inner``; ``options`` are those of `haltwise.adapters.rule.Rule`."""
        self.inner = inner
        self.rule = rule if isinstance(rule, Rule) else Rule(rule, **options)

    async def get_response(
        self,
        system_instructions: str | None,
        input: Any,
        model_settings: Any,
        tools: list[Any],
        output_schema: Any,
        handoffs: list[Any],
        tracing: Any,
        **server: Any,
    ) -> ModelResponse:
        """Decide, and call the model with or without its tools."""
        call = _Call(self.rule, self.inner, system_instructions, input, model_settings)
        schema = (output_schema, tracing)
        if not call.stops(tools, handoffs, server):
            response = await self.inner.get_response(
                *call.request(), tools, output_schema, handoffs, tracing, **server
            )
            if not call.stopped_by(response):
                return response
        response = None
        for how in call.ways():
            try:
                response = await self.inner.get_response(
                    *call.gated(how), [], schema[0], [], schema[1], **server
                )
            except Exception as error:
                if not self.rule.learns(call.model, error) and response is None:
                    raise
            else:
                if _text(response):
                    break
        assert response is not None
        return call.answer(response, as_json=_is_json(output_schema))

    async def stream_response(
        self,
        system_instructions: str | None,
        input: Any,
        model_settings: Any,
        tools: list[Any],
        output_schema: Any,
        handoffs: list[Any],
        tracing: Any,
        **server: Any,
    ) -> AsyncIterator[Any]:
        """Decide, and stream the model's reply; after a stop without calls.

        The signal ``Stated`` judges with the reply and therefore works on whole replies only.
        """
        call = _Call(self.rule, self.inner, system_instructions, input, model_settings)
        if not call.stops(tools, handoffs, server):
            async for event in self.inner.stream_response(
                *call.request(), tools, output_schema, handoffs, tracing, **server
            ):
                yield event
            return
        as_json = _is_json(output_schema)
        ways = call.ways()
        for how in ways:
            last = how is ways[-1]
            fallback = self.rule.answer(call.found, None, as_json=as_json) if last else ""
            scrubber = RESPONSES.scrubber(frozenset(), fallback, "")
            held: list[Any] = []
            try:
                async for event in self.inner.stream_response(
                    *call.gated(how), [], output_schema, [], tracing, **server
                ):
                    data = event.model_dump()
                    sent = scrubber.feed((event.type, data))
                    held += [event if body is data else _event(event, body) for _, body in sent]
                    if scrubber.text.strip():
                        for ready in held:
                            yield ready
                        held.clear()
            except Exception as error:
                if last or not self.rule.learns(call.model, error):
                    raise
            if scrubber.text.strip():
                return


class StopProvider(ModelProvider):
    """Gives every model of a run the same rule."""

    def __init__(
        self, policy: Policy | str, *, inner: ModelProvider | None = None, **options: Any
    ) -> None:
        """Wrap the models of ``inner``, which is the SDK's own provider where none is given."""
        self.inner = MultiProvider() if inner is None else inner
        self.rule = Rule(policy, **options)

    def get_model(self, model_name: str | None) -> Model:
        """Return the model of that name under the rule."""
        return StopModel(self.inner.get_model(model_name), self.rule)


class _Call:
    """One call of the model: everything about it that needs no waiting."""

    def __init__(
        self, rule: Rule, inner: Model, instructions: str | None, input: Any, settings: Any
    ) -> None:
        self.rule, self.instructions, self.settings = rule, instructions, settings
        self.input = input
        self.model = getattr(inner, "model", type(inner).__name__)
        items = input if isinstance(input, str) else [_plain(item) for item in input]
        self.body: dict[str, Any] = {"input": items, "instructions": instructions}
        self.messages = RESPONSES.read(self.body)
        self.found: Assessment = rule.assess(self.messages)

    def request(self) -> tuple[Any, Any, Any]:
        """Return the arguments of the call as they came."""
        return self.instructions, self.input, self.settings

    def stops(self, tools: list[Any], handoffs: list[Any], server: dict[str, Any]) -> bool:
        """Return whether the loop has stopped and could go on."""
        kept = server.get("previous_response_id") or server.get("conversation_id")
        return self.found.decision.stops and bool(tools or handoffs) and not kept

    def stopped_by(self, response: ModelResponse) -> bool:
        """Return whether the reply itself brings the verdict that fires the rule."""
        calls = [item for item in response.output if item.type == "function_call"]
        if not self.rule.late or not calls:
            return False
        self.found = self.rule.assess_reply(self.messages, _text(response))
        return self.found.decision.stops

    def ways(self) -> list[How]:
        """Return the forms in which the answer is asked for."""
        flat = self.rule.flattens(self.model)
        return [How.FLATTEN] if flat else [How.STRIP, How.FLATTEN]

    def gated(self, how: How) -> tuple[Any, Any, Any]:
        """Return the arguments of the call that demands the answer."""
        gated = RESPONSES.gate(self.body, NOTE, how, frozenset())
        settings = dataclasses.replace(self.settings, tool_choice=None, parallel_tool_calls=None)
        return self.instructions, gated["input"], settings

    def answer(self, response: ModelResponse, *, as_json: bool) -> ModelResponse:
        """Return the response with one message in it and no calls."""
        text = self.rule.answer(self.found, _text(response), as_json=as_json)
        part = ResponseOutputText(type="output_text", text=text, annotations=[])
        message = ResponseOutputMessage(
            id="msg_haltwise", type="message", role="assistant", status="completed", content=[part]
        )
        kept = [
            item
            for item in response.output
            if item.type != "message" and not item.type.endswith("_call")
        ]
        return dataclasses.replace(response, output=[*kept, message])


def _event(event: Any, body: dict[str, Any]) -> Any:
    kind = type(event) if body["type"] == event.type else _ADDED[body["type"]]
    return kind.construct(**body)


def _plain(item: Any) -> Any:
    return item if isinstance(item, dict) else item.model_dump(exclude_unset=True)


def _text(response: ModelResponse) -> str:
    texts = [
        part.text
        for item in response.output
        if item.type == "message"
        for part in item.content
        if part.type == "output_text"
    ]
    return "".join(texts).strip()


def _is_json(output_schema: Any) -> bool:
    return output_schema is not None and not output_schema.is_plain_text()
