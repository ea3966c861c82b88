"""smolagents: a wrapper around any model. Extra ``smolagents``.

::

    model = StopModel(OpenAIServerModel("gpt-5"), "streak(5) | deadline(8)")
    agent = ToolCallingAgent(tools=[search], model=model)

A tool-calling agent ends with a call of ``final_answer``, a code agent with code that calls it: the
wrapper sees to it that the reply after the stop is exactly that, whatever the model writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from smolagents.models import (
    ChatMessage,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    MessageRole,
    Model,
)

from ..core.policy import Policy
from ..enforce.messages import joined, texts_of
from .rule import NOTE, Assessment, Message, Rule, user_message

FINAL = "final_answer"
"""The tool with which every smolagents agent answers."""
_FAILED = "Now let's retry"


class StopModel(Model):
    """A model that ends a search loop which a policy has stopped."""

    def __init__(self, inner: Model, policy: Policy | str, **options: Any) -> None:
        """Wrap ``inner``; ``options`` are those of `haltwise.adapters.rule.Rule`."""
        super().__init__(model_id=getattr(inner, "model_id", None))
        self.inner = inner
        self.rule = Rule(policy, **options)

    def generate(
        self,
        messages: list[Any],
        stop_sequences: list[str] | None = None,
        response_format: dict[str, str] | None = None,
        tools_to_call_from: list[Any] | None = None,
        **kwargs: Any,
    ) -> ChatMessage:
        """Decide, and call the model with or without its tools."""
        settings = {"stop_sequences": stop_sequences, **kwargs}
        read = read_messages(messages)
        found = self.rule.assess(read)
        if not found.decision.stops:
            reply = self.inner.generate(
                messages,
                response_format=response_format,
                tools_to_call_from=tools_to_call_from,
                **settings,
            )
            if not self.rule.late:
                return reply
            found = self.rule.assess_reply(read, _text(reply))
            if not found.decision.stops:
                return reply
        note = ChatMessage(role=MessageRole.USER, content=[{"type": "text", "text": NOTE}])
        final = [tool for tool in tools_to_call_from or () if tool.name == FINAL]
        reply = self.inner.generate([*messages, note], tools_to_call_from=final or None, **settings)
        return self._answer(reply, found, calls=tools_to_call_from is not None)

    def parse_tool_calls(self, message: ChatMessage) -> ChatMessage:
        """Let the wrapped model read calls out of its text."""
        return self.inner.parse_tool_calls(message)

    def _answer(self, reply: ChatMessage, found: Assessment, *, calls: bool) -> ChatMessage:
        given = [call for call in reply.tool_calls or () if call.function.name == FINAL]
        if given:
            reply.tool_calls = given[:1]
            return reply
        text = self.rule.answer(found, _text(reply))
        if calls:
            function = ChatMessageToolCallFunction(name=FINAL, arguments={"answer": text})
            reply.tool_calls = [
                ChatMessageToolCall(id="call_haltwise", type="function", function=function)
            ]
            reply.content = reply.content or ""
        else:
            reply.tool_calls = None
            reply.content = f"<code>\n{FINAL}({text!r})\n</code>"
        return reply


def read_messages(messages: Sequence[Any]) -> list[Message]:
    """Return smolagents messages in the shape that decisions are made on.

    Thought and call of one turn are two messages there; they become one.
    """
    out: list[Message] = []
    for message in messages:
        plain = message if isinstance(message, dict) else message.dict()
        role = str(getattr(plain["role"], "value", plain["role"]))
        text = joined(texts_of(plain.get("content")))
        if role in ("assistant", "tool-call"):
            if out and out[-1].role == "assistant":
                out[-1] = Message("assistant", joined((out[-1].text, text)))
            else:
                out.append(Message("assistant", text))
        elif role == "system":
            out.append(Message("system", text))
        elif role == "tool-response" and _FAILED in text:
            out.append(Message("tool", text))
        else:
            read = user_message(text)
            if read is not None:
                out.append(read)
    return out


def _text(reply: ChatMessage) -> str:
    return joined(texts_of(reply.content))
