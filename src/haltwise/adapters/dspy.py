"""DSPy: ``ReAct`` with a rule. Extra ``dspy``.

::

    agent = StopReAct("question -> answer", tools=[search], policy="streak(5) | deadline(8)")

DSPy's ``ReAct`` always ends with a call that extracts the answer and has no tools. After the stop
the step picker is not asked any more: the loop finishes, and that call gives the answer in the
signature's own fields.
"""

from __future__ import annotations

from typing import Any

import dspy

from ..core.policy import Policy
from ..enforce import Assessment
from .rule import Call, Message, Rule, arguments_text

FINISH = "finish"
"""The tool with which DSPy's loop ends."""


class StopReAct(dspy.ReAct):
    """A ReAct agent that ends its search loop where a policy stops it."""

    def __init__(
        self,
        signature: Any,
        tools: list[Any],
        max_iters: int = 20,
        *,
        policy: Policy | str,
        **options: Any,
    ) -> None:
        """Set up the agent; ``options`` are those of `haltwise.adapters.rule.Rule`."""
        super().__init__(signature, tools, max_iters)
        self.rule = Rule(policy, **options)

    def _call_with_potential_trajectory_truncation(
        self, module: Any, trajectory: dict[str, Any], **inputs: Any
    ) -> Any:
        found = self._stopped(module, trajectory, inputs)
        if found is not None:
            return _finish(found)
        picked = super()._call_with_potential_trajectory_truncation(module, trajectory, **inputs)
        return self._checked(module, trajectory, inputs, picked)

    async def _async_call_with_potential_trajectory_truncation(
        self, module: Any, trajectory: dict[str, Any], **inputs: Any
    ) -> Any:
        found = self._stopped(module, trajectory, inputs)
        if found is not None:
            return _finish(found)
        picked = await super()._async_call_with_potential_trajectory_truncation(
            module, trajectory, **inputs
        )
        return self._checked(module, trajectory, inputs, picked)

    def _stopped(
        self, module: Any, trajectory: dict[str, Any], inputs: dict[str, Any]
    ) -> Assessment | None:
        if module is not self.react:
            return None
        found = self.rule.assess(read_trajectory(trajectory, inputs))
        return found if found.decision.stops else None

    def _checked(
        self, module: Any, trajectory: dict[str, Any], inputs: dict[str, Any], picked: Any
    ) -> Any:
        """Drop a pick whose own thought brings the verdict that fires the rule."""
        if module is not self.react or not self.rule.late or picked.next_tool_name == FINISH:
            return picked
        messages = read_trajectory(trajectory, inputs)
        found = self.rule.assess_reply(messages, str(picked.next_thought))
        return _finish(found) if found.decision.stops else picked


def read_trajectory(trajectory: dict[str, Any], inputs: dict[str, Any]) -> list[Message]:
    """Return a trajectory in the shape that decisions are made on.

    A trajectory that DSPy has truncated begins later than with step 0.
    """
    question = "\n".join(str(value) for value in inputs.values())
    messages = [Message("user", question)]
    steps = sorted(
        int(name.rpartition("_")[2]) for name in trajectory if name.startswith("observation_")
    )
    for i in steps:
        arguments = arguments_text(trajectory.get(f"tool_args_{i}", {}))
        call = Call(str(i), str(trajectory.get(f"tool_name_{i}")), arguments)
        messages += [
            Message("assistant", str(trajectory.get(f"thought_{i}", "")), (call,)),
            Message("tool", str(trajectory[f"observation_{i}"]), (), str(i)),
        ]
    return messages


def _finish(found: Assessment) -> Any:
    thought = f"The search has ended: {found.decision.reason}."
    return dspy.Prediction(next_thought=thought, next_tool_name=FINISH, next_tool_args={})
