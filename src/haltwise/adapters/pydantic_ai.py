"""Pydantic AI: a capability of an agent. Extra ``pydantic-ai``.

::

    agent = Agent(model, tools=[search], capabilities=[StopCapability("streak(5) | deadline(8)")])

After the stop the tools are gone from the request and from the agent's own table, so that a rogue
call cannot run either. Output tools stay: a structured answer keeps its format.
"""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import CompletedStreamedResponse, Model
from pydantic_ai.models.wrapper import WrapperModel

from ..core.policy import Policy
from .rule import (
    NOTE,
    Assessment,
    Call,
    Message,
    Rule,
    arguments_text,
    returned,
    user_message,
    written,
)


class StopCapability(AbstractCapability[Any]):
    """Ends a search loop that a policy has stopped: no tools, one answer, never empty.

    The signal ``Stated`` judges with the reply: a reply that fires the rule loses its calls, and
    its text is the answer.
    """

    def __init__(self, policy: Policy | str, **options: Any) -> None:
        """Take the rule; ``options`` are those of `haltwise.adapters.rule.Rule`."""
        self.rule = Rule(policy, **options)

    async def prepare_tools(self, ctx: Any, tool_defs: list[Any]) -> list[Any]:
        """Return the tools that may be offered: after the stop those that answer."""
        if not self._assess(ctx.messages).decision.stops:
            return tool_defs
        return [tool for tool in tool_defs if tool.name in self.rule.answer_tools]

    async def before_model_request(self, ctx: Any, request_context: Any) -> Any:
        """Demand the answer in a request of a stopped loop; the note enters no history.

        Past calls are written out as text, a form that every provider takes.
        """
        if not self._assess(request_context.messages).decision.stops:
            return request_context
        note = ModelRequest(parts=[UserPromptPart(NOTE)])
        past = flattened(request_context.messages)
        return dataclasses.replace(request_context, messages=[*past, note])

    async def after_model_request(
        self, ctx: Any, *, request_context: Any, response: ModelResponse
    ) -> ModelResponse:
        """Return the reply; after a stop without calls and with an answer in it."""
        return self.cleaned(ctx.messages, response, request_context.model_request_parameters)

    def get_wrapper_model(self, model: Model) -> Model | None:
        """Return the model with streams that reach nobody before they are clean."""
        return _Streams(model, self)

    def may_clean(self, messages: Sequence[Any]) -> bool:
        """Return whether the reply to a history may have to be cleaned."""
        return self.rule.late or self._assess(messages).decision.stops

    def cleaned(
        self, history: Sequence[Any], response: ModelResponse, parameters: Any
    ) -> ModelResponse:
        """Return the reply to a history; after a stop without calls and with an answer in it."""
        messages = read_messages(history)
        found = self.rule.assess(messages)
        if not found.decision.stops and self.rule.late and response.tool_calls:
            found = self.rule.assess_reply(messages, response.text or "")
        if not found.decision.stops:
            return response
        output = {tool.name for tool in parameters.output_tools}
        kept = [
            part
            for part in response.parts
            if not isinstance(part, ToolCallPart)
            or part.tool_name in output | self.rule.answer_tools
        ]
        if any(isinstance(part, ToolCallPart) for part in kept):
            return dataclasses.replace(response, parts=kept)
        text = self.rule.answer(found, response.text)
        parts = [part for part in kept if not isinstance(part, TextPart)]
        return dataclasses.replace(response, parts=[*parts, TextPart(text)])

    def _assess(self, messages: Sequence[Any]) -> Assessment:
        return self.rule.assess(read_messages(messages))


class _Streams(WrapperModel):
    """A model whose reply is read whole and cleaned where it may not be streamed as it comes."""

    def __init__(self, wrapped: Model, capability: StopCapability) -> None:
        super().__init__(wrapped)
        self._capability = capability

    @asynccontextmanager
    async def request_stream(
        self, messages: Any, model_settings: Any, model_request_parameters: Any, run_context: Any
    ) -> AsyncIterator[Any]:
        """Stream the reply; after a stop, from what is left of the whole reply."""
        history = messages if run_context is None else run_context.messages
        request = (messages, model_settings, model_request_parameters)
        if not self._capability.may_clean(history):
            async with self.wrapped.request_stream(*request, run_context) as stream:
                yield stream
            return
        reply = await self.wrapped.request(*request)
        cleaned = self._capability.cleaned(history, reply, model_request_parameters)
        yield CompletedStreamedResponse(
            cleaned, model_request_parameters=model_request_parameters, replay_events=True
        )


def read_messages(messages: Sequence[Any]) -> list[Message]:
    """Return Pydantic AI messages in the shape that decisions are made on."""
    out: list[Message] = []
    for message in messages:
        if isinstance(message, ModelResponse):
            calls = tuple(
                Call(part.tool_call_id, part.tool_name, arguments_text(part.args))
                for part in message.parts
                if isinstance(part, ToolCallPart)
            )
            thoughts = [p.content for p in message.parts if isinstance(p, ThinkingPart)]
            out.append(Message("assistant", message.text or "\n".join(thoughts), calls))
            continue
        for part in message.parts:
            if isinstance(part, ToolReturnPart):
                failed = getattr(part, "outcome", "success") == "failed"
                text = part.model_response_str()
                out.append(Message("tool", text, (), part.tool_call_id, failed))
            elif isinstance(part, RetryPromptPart) and part.tool_name is not None:
                out.append(Message("tool", part.model_response(), (), part.tool_call_id))
            elif isinstance(part, UserPromptPart):
                read = user_message(_user(part.content))
                if read is not None:
                    out.append(read)
    return out


def flattened(messages: Sequence[Any]) -> list[Any]:
    """Return the messages with calls and results written out as text."""
    out: list[Any] = []
    for message in messages:
        parts: list[Any] = []
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                parts.append(TextPart(written(part.tool_name, arguments_text(part.args))))
            elif isinstance(part, ToolReturnPart):
                parts.append(UserPromptPart(returned(part.model_response_str())))
            elif isinstance(part, RetryPromptPart) and part.tool_name is not None:
                parts.append(UserPromptPart(returned(part.model_response())))
            else:
                parts.append(part)
        out.append(dataclasses.replace(message, parts=parts))
    return out


def _user(content: Any) -> Any:
    if isinstance(content, str):
        return content
    return [{"type": "text", "text": part} for part in content if isinstance(part, str)]
