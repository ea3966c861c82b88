"""Inspect AI: a wrapper around any model, a bridge filter and a hook. Extra ``study``.

::

    eval(task, model=StopModel(get_model("openai/gpt-5"), "streak(5) | deadline(8)"))

    async with agent_bridge(state, filter=stop_filter("streak(5)")) as bridge: ...

    @hooks("stop", "ends search loops that find nothing")
    class Stop(StopHook):
        policy = "streak(5)"

The wrapper serves whatever asks the model (solvers, ``react``, ``generate_loop``), and the filter
agents of other frameworks behind Inspect's bridge. The hook serves tasks that name their model in
text; it changes requests and sees no replies, so that a model which calls tools that are not
offered to it needs the wrapper.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar
from uuid import uuid4

from inspect_ai.hooks import BeforeModelGenerate, Hooks
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
    GenerateInput,
    Model,
    ModelOutput,
)
from inspect_ai.tool import ToolCall, ToolDef, ToolInfo, ToolSource

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

SUBMIT = frozenset({"submit"})
"""The tool with which Inspect's own agents deliver their answer; it stays after the stop."""
_CONTINUE = "Please proceed to the next step using your best judgement."


def _rule(policy: Rule | Policy | str, options: dict[str, Any]) -> Rule:
    if isinstance(policy, Rule):
        return policy
    return Rule(policy, **{"answer_tools": SUBMIT, **options})


class StopModel(Model):
    """A model that ends a search loop which a policy has stopped: one answer, never empty.

    Where the agent takes its answer from a tool (``submit``), the answer comes as its call.
    """

    def __init__(self, inner: Model, policy: Rule | Policy | str, **options: Any) -> None:
        """Wrap ``inner``; ``options`` are those of `haltwise.adapters.rule.Rule`."""
        super().__init__(inner.api, inner.config, inner.model_args)
        self.rule = _rule(policy, options)

    async def generate(
        self,
        input: str | list[ChatMessage],
        tools: Any = (),
        tool_choice: Any = None,
        config: GenerateConfig | None = None,
        *others: Any,
        **named: Any,
    ) -> ModelOutput:
        """Decide, and call the model with or without its tools."""
        messages: list[ChatMessage] = (
            [ChatMessageUser(content=input)] if isinstance(input, str) else list(input)
        )
        config = GenerateConfig() if config is None else config
        offered = await _offered(tools)
        past = read_messages(messages)
        found = self.rule.assess(past)
        if not offered or not found.decision.stops:
            output = await super().generate(messages, tools, tool_choice, config, *others, **named)
            if not (offered and self.rule.late and output.message.tool_calls):
                return output
            found = self.rule.assess_reply(past, output.message.text)
            if not found.decision.stops:
                return output
        kept = [tool for tool in offered if tool.name in self.rule.answer_tools]
        # Inspect itself knows which providers need the tools to stay in the request.
        gate: tuple[Any, Any] = (kept, "auto") if kept else (offered, "none")
        forms = [flattened(messages)]
        if not self.rule.flattens(self.name):
            forms.insert(0, messages)
        for form in forms:
            try:
                request = [*form, ChatMessageUser(content=NOTE)]
                output = await super().generate(request, *gate, config, *others, **named)
            except Exception as error:
                if not self.rule.learns(self.name, _cause(error)):
                    raise
            else:
                if output.message.text.strip() or _calls_of(output, kept):
                    break
        return self._answer(output, found, kept, as_json=config.response_schema is not None)

    def _answer(
        self, output: ModelOutput, found: Assessment, kept: list[ToolInfo], *, as_json: bool
    ) -> ModelOutput:
        """Return the reply without calls but those that answer, and with an answer in it."""
        output = output.model_copy(deep=True)
        output.metadata = {**(output.metadata or {}), "haltwise": found.decision.to_json()}
        message = output.message
        calls = _calls_of(output, kept)
        if calls:
            message.tool_calls = calls
            return output
        text = self.rule.answer(found, message.text, as_json=as_json)
        message.content = text
        message.tool_calls = [_submitted(kept[0], text)] if kept else None
        output.choices[0].stop_reason = "tool_calls" if kept else "stop"
        output.completion = text
        return output


def stop_filter(policy: Rule | Policy | str, **options: Any) -> Any:
    """Return a filter for ``agent_bridge`` and ``sandbox_agent_bridge``.

    ``options`` are those of `haltwise.adapters.rule.Rule`. `StopModel` gives the stopped reply.
    """
    rule = _rule(policy, options)

    async def stop(
        model: Model,
        messages: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: Any,
        config: GenerateConfig,
    ) -> ModelOutput | GenerateInput | None:
        stops = rule.assess(read_messages(messages)).decision.stops
        if not tools or not (stops or rule.late):
            return None
        return await StopModel(model, rule).generate(messages, tools, tool_choice, config)

    return stop


class StopHook(Hooks):
    """Ends search loops of every model that is asked in this process. Register a subclass."""

    policy: ClassVar[Policy | str]
    """The rule: set it in the subclass."""
    options: ClassVar[dict[str, Any]] = {}
    """Those of `haltwise.adapters.rule.Rule`; not the signal ``Stated``, which judges replies."""

    def __init__(self) -> None:
        self.rule = _rule(self.policy, self.options)

    async def on_before_model_generate(self, data: BeforeModelGenerate) -> None:
        """Take the tools out of a stopped loop's request and demand the answer.

        Past calls are written out as text, a form that every provider takes. Inspect calls a hook
        anew for every retry of one request, whose messages are then changed already.
        """
        again = bool(data.input) and data.input[-1].text == NOTE
        if not again:
            if not data.tools or not self.rule.assess(read_messages(data.input)).decision.stops:
                return
            data.input[:] = [*flattened(data.input), ChatMessageUser(content=NOTE)]
        data.tools[:] = [tool for tool in data.tools if tool.name in self.rule.answer_tools]


def read_messages(messages: Sequence[ChatMessage]) -> list[Message]:
    """Return Inspect's messages in the shape that decisions are made on.

    The prompt with which ``react`` tells a silent model to go on is no turn of a user.
    """
    out: list[Message] = []
    for message in messages:
        text = message.text
        if isinstance(message, ChatMessageAssistant):
            calls = tuple(
                Call(call.id, call.function, arguments_text(call.arguments))
                for call in message.tool_calls or ()
            )
            out.append(Message("assistant", text, calls))
        elif isinstance(message, ChatMessageTool):
            failed = message.error is not None
            text = text or (message.error.message if message.error is not None else "")
            out.append(Message("tool", text, (), message.tool_call_id, failed))
        elif isinstance(message, ChatMessageSystem) or text.lstrip().startswith(_CONTINUE):
            out.append(Message("system", text))
        else:
            read = user_message(text)
            if read is not None:
                out.append(read)
    return out


def flattened(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Return the messages with calls and results written out as text."""
    out: list[ChatMessage] = []
    for message in messages:
        if isinstance(message, ChatMessageTool):
            text = message.text or (message.error.message if message.error is not None else "")
            out.append(ChatMessageUser(content=returned(text)))
        elif isinstance(message, ChatMessageAssistant) and message.tool_calls:
            calls = [
                written(call.function, arguments_text(call.arguments))
                for call in message.tool_calls
            ]
            texts = [text for text in (message.text, *calls) if text]
            out.append(ChatMessageAssistant(content="\n".join(texts)))
        else:
            out.append(message)
    return out


async def _offered(tools: Any) -> list[ToolInfo]:
    """Return the definitions of the tools of a request, those of an MCP server included."""
    sources = [tools] if isinstance(tools, ToolSource) else tools
    out: list[ToolInfo] = []
    for tool in sources:
        if isinstance(tool, ToolSource):
            out += await _offered(await tool.tools())
        elif isinstance(tool, ToolInfo):
            out.append(tool)
        else:
            known = tool if isinstance(tool, ToolDef) else ToolDef(tool)
            out.append(
                ToolInfo(
                    name=known.name,
                    description=known.description,
                    parameters=known.parameters,
                    options=known.options,
                )
            )
    return out


def _calls_of(output: ModelOutput, kept: list[ToolInfo]) -> list[ToolCall]:
    names = {tool.name for tool in kept}
    return [call for call in output.message.tool_calls or () if call.function in names]


def _submitted(tool: ToolInfo, text: str) -> ToolCall:
    parameters = tool.parameters
    name = next(iter([*parameters.required, *parameters.properties]), "answer")
    return ToolCall(id=f"call_{uuid4().hex[:12]}", function=tool.name, arguments={name: text})


def _cause(error: Exception) -> Exception:
    """Return the provider's own error, which Inspect may have wrapped."""
    return error.__cause__ if isinstance(error.__cause__, Exception) else error
