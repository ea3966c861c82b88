"""LangChain 1.x: a middleware for ``create_agent``. Extra ``langchain``.

::

    agent = create_agent(model, tools, middleware=[StopMiddleware("streak(5) | deadline(8)")])

Sync, async and streamed runs alike; a structured answer keeps its format.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain.agents.structured_output import ProviderStrategy
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

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


class StopMiddleware(AgentMiddleware[Any, Any]):
    """Ends a search loop that a policy has stopped: no tools, one answer, never empty."""

    def __init__(self, policy: Policy | str, **options: Any) -> None:
        """Take the rule; ``options`` are those of `haltwise.adapters.rule.Rule`."""
        super().__init__()
        self.rule = Rule(policy, **options)

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any]:
        """Decide, and call the model with or without its tools."""
        turn = _Turn(self.rule, request)
        response: ModelResponse[Any] | None
        if not turn.found.decision.stops:
            response = handler(request)
            if not turn.stopped_by(response):
                return response
        response = None
        for gated in turn.attempts():
            try:
                response = handler(gated)
            except Exception as error:
                if not turn.again(error) and response is None:
                    raise
            else:
                if turn.answers(response):
                    break
        return turn.answer(response)

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Decide, and call the model with or without its tools."""
        turn = _Turn(self.rule, request)
        response: ModelResponse[Any] | None
        if not turn.found.decision.stops:
            response = await handler(request)
            if not turn.stopped_by(response):
                return response
        response = None
        for gated in turn.attempts():
            try:
                response = await handler(gated)
            except Exception as error:
                if not turn.again(error) and response is None:
                    raise
            else:
                if turn.answers(response):
                    break
        return turn.answer(response)


class _Turn:
    """One call of the model: everything about it that needs no waiting."""

    def __init__(self, rule: Rule, request: ModelRequest[Any]) -> None:
        self.rule, self.request = rule, request
        self.messages = read_messages(request.messages)
        self.found: Assessment = rule.assess(self.messages)
        self.model = getattr(request.model, "model_name", type(request.model).__name__)
        self._flat = rule.flattens(self.model)

    def stopped_by(self, response: ModelResponse[Any]) -> bool:
        """Return whether the reply itself brings the verdict that fires the rule."""
        if not self.rule.late or not _calls(response):
            return False
        self.found = self.rule.assess_reply(self.messages, _text(response))
        return self.found.decision.stops

    def attempts(self) -> Any:
        """Yield the gated request, and once more with past calls written out as text."""
        if not self._flat:
            yield self._gated(flat=False)
        yield self._gated(flat=True)

    def _gated(self, *, flat: bool) -> ModelRequest[Any]:
        past = flattened(self.request.messages) if flat else list(self.request.messages)
        tools = [tool for tool in self.request.tools if _name(tool) in self.rule.answer_tools]
        model: Any = self.request.model if tools else _Toolless(self.request.model)
        return self.request.override(
            model=model, tools=tools, tool_choice=None, messages=[*past, HumanMessage(NOTE)]
        )

    def again(self, error: Exception) -> bool:
        """Return whether the call is worth one more try in the other form."""
        return not self._flat and self.rule.learns(self.model, error)

    def answers(self, response: ModelResponse[Any]) -> bool:
        """Return whether the response holds an answer."""
        if response.structured_response is not None or _text(response).strip():
            return True
        return any(call["name"] in self.rule.answer_tools for call in _calls(response))

    def answer(self, response: ModelResponse[Any] | None) -> ModelResponse[Any]:
        """Return the response without calls and with an answer in it."""
        if response is None:
            response = ModelResponse(result=[AIMessage("")])
        structured = response.structured_response is not None
        result: list[BaseMessage] = []
        for message in response.result:
            if isinstance(message, AIMessage):
                message = self._cleaned(message, response.result)
            result.append(message)
        if not structured and not self.answers(response):
            as_json = isinstance(self.request.response_format, ProviderStrategy)
            text = self.rule.answer(self.found, None, as_json=as_json)
            result = [_with_text(result[0] if result else AIMessage(""), text)]
        elif not structured and not _calls(replace(response, result=result)):
            as_json = self.request.response_format is not None
            text = self.rule.answer(self.found, _text(response), as_json=as_json)
            if text != _text(response):
                result = [_with_text(result[0], text), *result[1:]]
        return replace(response, result=result)

    def _cleaned(self, message: AIMessage, result: Sequence[BaseMessage]) -> AIMessage:
        answered = {m.tool_call_id for m in result if isinstance(m, ToolMessage)}
        kept = [
            call
            for call in message.tool_calls
            if call["id"] in answered or call["name"] in self.rule.answer_tools
        ]
        extra = {k: v for k, v in message.additional_kwargs.items() if k != "tool_calls"}
        content = message.content
        if isinstance(content, list):
            content = [
                part
                for part in content
                if not (
                    isinstance(part, dict) and part.get("type") in ("tool_use", "function_call")
                )
            ]
        metadata = {**message.response_metadata, "haltwise": self.found.decision.to_json()}
        return message.model_copy(
            update={
                "content": content,
                "tool_calls": kept,
                "invalid_tool_calls": [],
                "additional_kwargs": extra,
                "response_metadata": metadata,
            }
        )


class _Toolless:
    """A chat model that is never bound to an empty list of tools, which providers refuse."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def bind_tools(self, tools: Any, **settings: Any) -> Any:
        if tools:
            return self._model.bind_tools(tools, **settings)
        settings.pop("strict", None)
        settings.pop("tool_choice", None)
        return self._model.bind(**settings)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)


def read_messages(messages: Sequence[BaseMessage]) -> list[Message]:
    """Return LangChain messages in the shape that decisions are made on."""
    out = []
    for message in messages:
        if isinstance(message, ToolMessage):
            failed = message.status == "error"
            out.append(Message("tool", str(message.text), (), message.tool_call_id, failed))
        elif isinstance(message, AIMessage):
            calls = tuple(
                Call(call["id"], call["name"], arguments_text(call["args"]))
                for call in message.tool_calls
            )
            out.append(Message("assistant", str(message.text), calls))
        elif isinstance(message, HumanMessage):
            read = user_message(message.content)
            if read is not None:
                out.append(read)
        elif isinstance(message, SystemMessage):
            out.append(Message("system", str(message.text)))
    return out


def flattened(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Return the messages with calls and results written out as text."""
    out: list[BaseMessage] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            out.append(HumanMessage(returned(str(message.text))))
        elif isinstance(message, AIMessage) and message.tool_calls:
            calls = [written(c["name"], arguments_text(c["args"])) for c in message.tool_calls]
            out.append(AIMessage("\n".join(text for text in (str(message.text), *calls) if text)))
        else:
            out.append(message)
    return out


def _text(response: ModelResponse[Any]) -> str:
    return "".join(str(m.text) for m in response.result if isinstance(m, AIMessage))


def _calls(response: ModelResponse[Any]) -> list[Any]:
    return [call for m in response.result if isinstance(m, AIMessage) for call in m.tool_calls]


def _is_call(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") in ("tool_use", "function_call")


def _with_text(message: BaseMessage, text: str) -> BaseMessage:
    return message.model_copy(update={"content": text})


def _name(tool: Any) -> str | None:
    if isinstance(tool, dict):
        function = tool.get("function") or tool
        return function.get("name")
    return getattr(tool, "name", None)
