"""LangGraph's ``create_react_agent``: a model and two hooks. Extra ``langchain``.

::

    rule = StopHooks("streak(5) | deadline(8)", model, tools)
    graph = create_react_agent(rule.model, tools, pre_model_hook=rule.before,
                               post_model_hook=rule.after)

LangGraph itself recommends LangChain's ``create_agent`` by now; for it see
`haltwise.adapters.langchain`. The signal ``Stated`` works there only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage

from ..core.errors import ParameterError
from ..core.policy import Policy
from ..enforce import Assessment
from .langchain import flattened, read_messages
from .rule import NOTE, Rule


class StopHooks:
    """Ends a search loop that a policy has stopped: no tools, one answer, never empty."""

    def __init__(
        self, policy: Policy | str, model: Any, tools: Sequence[Any], **options: Any
    ) -> None:
        """Take the rule, the chat model and its tools.

        ``options`` are those of `haltwise.adapters.rule.Rule`.

        Raises:
            ParameterError: the signal judges with the reply, which these hooks see too late.
        """
        self.rule = Rule(policy, **options)
        if self.rule.late:
            raise ParameterError(
                "the signal Stated needs the LangChain middleware, not these hooks"
            )
        self._plain = model
        self._bound = model.bind_tools(list(tools))

    def model(self, state: Any, runtime: Any) -> Any:
        """Return the model for the next call: without tools after the stop.

        The graph shows it what `before` has prepared: the note at its end says that it has stopped.
        """
        stopped = state["messages"][-1].content == NOTE or self._assess(state).decision.stops
        return self._plain if stopped else self._bound

    def before(self, state: Any) -> dict[str, Any]:
        """Return what the model is to see; the note and the flattened past enter no state."""
        messages = state["messages"]
        if not self._assess(state).decision.stops:
            return {"llm_input_messages": messages}
        return {"llm_input_messages": [*flattened(messages), HumanMessage(NOTE)]}

    def after(self, state: Any) -> dict[str, Any]:
        """Return the reply without calls and with an answer in it, where the loop has stopped.

        The message is replaced under its own id. (Answering a call with a tool message instead
        would lead back to the model for ever.)
        """
        reply = state["messages"][-1]
        found = self.rule.assess(read_messages(state["messages"][:-1]))
        if not found.decision.stops or not isinstance(reply, AIMessage):
            return {}
        text = self.rule.answer(found, str(reply.text))
        metadata = {**reply.response_metadata, "haltwise": found.decision.to_json()}
        return {"messages": [AIMessage(text, id=reply.id, response_metadata=metadata)]}

    def _assess(self, state: Any) -> Assessment:
        return self.rule.assess(read_messages(state["messages"]))
