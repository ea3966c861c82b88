"""AutoGen: a wrapper around any model client, and a termination condition. Extra ``autogen``.

::

    client = StopClient(OpenAIChatCompletionClient(model="gpt-5"), "streak(5) | deadline(8)")
    agent = AssistantAgent("researcher", client, tools=[search], max_tool_iterations=30)

A termination condition fires after an agent's whole turn and can only end the team; the client ends
the loop inside the turn, with an answer.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any

from autogen_agentchat.base import TerminatedException, TerminationCondition
from autogen_agentchat.messages import StopMessage, ToolCallExecutionEvent, ToolCallRequestEvent
from autogen_core.models import (
    AssistantMessage,
    ChatCompletionClient,
    CreateResult,
    FunctionExecutionResultMessage,
    SystemMessage,
    UserMessage,
)

from ..core.policy import Policy
from ..enforce import Assessment
from .rule import NOTE, Call, Message, Rule, returned, user_message, written


class StopClient(ChatCompletionClient):
    """A model client that ends a search loop which a policy has stopped."""

    def __init__(self, inner: ChatCompletionClient, policy: Policy | str, **options: Any) -> None:
        """Wrap ``inner``; ``options`` are those of `haltwise.adapters.rule.Rule`."""
        self.inner = inner
        self.rule = Rule(policy, **options)

    async def create(self, messages: Sequence[Any], **options: Any) -> CreateResult:
        """Decide, and call the model with or without its tools."""
        read = read_messages(messages)
        found = self.rule.assess(read)
        if not found.decision.stops:
            result = await self.inner.create(messages, **options)
            if not self.rule.late or isinstance(result.content, str):
                return result
            found = self.rule.assess_reply(read, result.thought or "")
            if not found.decision.stops:
                return result
        result = await self.inner.create(*self._gated(messages), **_toolless(options))
        return self._answer(result, found, options)

    async def create_stream(
        self, messages: Sequence[Any], **options: Any
    ) -> AsyncGenerator[str | CreateResult, None]:
        """Decide, and stream the reply; after a stop without calls.

        The signal ``Stated`` works on whole replies only.
        """
        found = self.rule.assess(read_messages(messages))
        if not found.decision.stops:
            async for piece in self.inner.create_stream(messages, **options):
                yield piece
            return
        async for piece in self.inner.create_stream(*self._gated(messages), **_toolless(options)):
            yield piece if isinstance(piece, str) else self._answer(piece, found, options)

    def _gated(self, messages: Sequence[Any]) -> tuple[list[Any]]:
        return ([*flattened(messages), UserMessage(content=NOTE, source="haltwise")],)

    def _answer(
        self, result: CreateResult, found: Assessment, options: dict[str, Any]
    ) -> CreateResult:
        text = result.content if isinstance(result.content, str) else result.thought
        as_json = bool(options.get("json_output"))
        answer = self.rule.answer(found, text, as_json=as_json)
        return result.model_copy(update={"content": answer, "finish_reason": "stop"})

    async def close(self) -> None:
        """Close the wrapped client."""
        await self.inner.close()

    def actual_usage(self) -> Any:
        """Return the usage of the wrapped client."""
        return self.inner.actual_usage()

    def total_usage(self) -> Any:
        """Return the usage of the wrapped client."""
        return self.inner.total_usage()

    def count_tokens(self, messages: Sequence[Any], **options: Any) -> int:
        """Count as the wrapped client does."""
        return int(self.inner.count_tokens(messages, **options))

    def remaining_tokens(self, messages: Sequence[Any], **options: Any) -> int:
        """Count as the wrapped client does."""
        return int(self.inner.remaining_tokens(messages, **options))

    @property
    def capabilities(self) -> Any:
        """What the wrapped client can do."""
        return self.inner.capabilities

    @property
    def model_info(self) -> Any:
        """What the wrapped client can do."""
        return self.inner.model_info


class StopTermination(TerminationCondition):
    """Ends a team once the policy has stopped the loop. Sees whole turns; gives no answer."""

    def __init__(self, policy: Policy | str, **options: Any) -> None:
        """Take the rule; ``options`` are those of `haltwise.adapters.rule.Rule`."""
        self.rule = Rule(policy, **options)
        self._messages: list[Message] = []
        self._stopped = False

    @property
    def terminated(self) -> bool:
        """Whether the condition has fired since the last `reset`."""
        return self._stopped

    async def __call__(self, messages: Sequence[Any]) -> StopMessage | None:
        """Take the messages since the last call; return a stop message where the rule fires."""
        if self._stopped:
            raise TerminatedException("the condition has fired; reset it before the next run")
        for message in messages:
            if isinstance(message, ToolCallRequestEvent):
                calls = tuple(Call(c.id, c.name, c.arguments) for c in message.content)
                self._messages.append(Message("assistant", "", calls))
            elif isinstance(message, ToolCallExecutionEvent):
                self._messages += [_result(result) for result in message.content]
            elif message.source == "user":
                self._messages.append(Message("user", message.to_text()))
        decision = self.rule.assess(self._messages).decision
        if not decision.stops:
            return None
        self._stopped = True
        return StopMessage(content=decision.reason, source="haltwise")

    async def reset(self) -> None:
        """Forget everything, for a new run."""
        self._messages, self._stopped = [], False


def read_messages(messages: Sequence[Any]) -> list[Message]:
    """Return AutoGen messages in the shape that decisions are made on."""
    out: list[Message] = []
    for message in messages:
        if isinstance(message, AssistantMessage):
            if isinstance(message.content, str):
                out.append(Message("assistant", message.content))
            else:
                calls = tuple(Call(c.id, c.name, c.arguments) for c in message.content)
                out.append(Message("assistant", message.thought or "", calls))
        elif isinstance(message, FunctionExecutionResultMessage):
            out += [_result(result) for result in message.content]
        elif isinstance(message, SystemMessage):
            out.append(Message("system", message.content))
        elif isinstance(message, UserMessage):
            read = user_message(message.content)
            if read is not None:
                out.append(read)
    return out


def flattened(messages: Sequence[Any]) -> list[Any]:
    """Return the messages with calls and results written out as text."""
    out: list[Any] = []
    for message in messages:
        if isinstance(message, FunctionExecutionResultMessage):
            texts = [returned(result.content) for result in message.content]
            out.append(UserMessage(content="\n".join(texts), source="tools"))
        elif isinstance(message, AssistantMessage) and not isinstance(message.content, str):
            texts = [written(call.name, call.arguments) for call in message.content]
            out.append(AssistantMessage(content="\n".join(texts), source=message.source))
        else:
            out.append(message)
    return out


def _result(result: Any) -> Message:
    return Message("tool", result.content, (), result.call_id, bool(result.is_error))


def _toolless(options: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in options.items() if k not in ("tools", "tool_choice")}
