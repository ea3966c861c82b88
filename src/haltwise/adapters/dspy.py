"""DSPy: ``ReAct`` and ``Refine`` with a rule. Extra ``dspy``.

::

    agent = StopReAct("question -> answer", tools=[search], policy="streak(5) | deadline(8)")
    refine = StopRefine(solver, count_accepts, votes=8, policy="vrr_guard")

DSPy's ``ReAct`` always ends with a call that extracts the answer and has no tools. After the stop
the step picker is not asked any more: the loop finishes, and that call gives the answer in the
signature's own fields.

DSPy's ``Refine`` asks a reward function once an attempt and returns the attempt with the highest
reward: under a noisy verifier the luckiest one. Here it asks for votes, a rule for repair loops
says when to stop, and the rule's own choice is delivered.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from typing import Any

import dspy

from ..core.errors import HaltwiseError, ParameterError
from ..core.loop import RepairLoop
from ..core.policy import Policy
from ..enforce import Assessment
from .rule import Call, Message, Rule, arguments_text

LOG = logging.getLogger("haltwise.adapters.dspy")
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


class StopRefine(dspy.Module):
    """Attempts with feedback until a rule stops them; returns the attempt that the rule chooses.

    Feedback between attempts is that of ``dspy.Refine``. The prediction has one more field,
    ``haltwise``: the decision as JSON. Nothing is kept from one call to the next.
    """

    def __init__(
        self,
        module: Any,
        accepts: Callable[[dict[str, Any], Any], int],
        *,
        votes: int = 8,
        policy: Policy | str = "vrr_guard",
    ) -> None:
        """Set up the module.

        Args:
            module: makes an attempt.
            accepts: takes the inputs and a prediction, and returns how many of ``votes`` votes
                accept it. Where it raises, the attempt has no votes and every belief stays.
            votes: votes asked for an attempt, at least 1.
            policy: a rule for repair loops, an expression, or the name of a policy file.

        Raises:
            ParameterError: the policy is for search loops, or ``votes`` is below 1.
            InputError: the expression or file cannot be read.
        """
        super().__init__()
        if isinstance(policy, str):
            from ..record.policy_file import load_policy

            policy = load_policy(policy)
        RepairLoop(policy)
        if votes < 1:
            raise ParameterError(f"votes is at least 1; got {votes!r}")
        self.module = module
        self.votes = votes
        self.policy = policy
        self._accepts = accepts

    def forward(self, **inputs: Any) -> Any:
        """Make attempts until the rule stops, and return the chosen one.

        Raises:
            ObservationError: the votes make no sense.
            Exception: of ``module``, when it fails twice.
        """
        loop: RepairLoop[tuple[Any, list[Any]]] = RepairLoop(self.policy)
        wrong: list[HaltwiseError] = []

        def reward(args: dict[str, Any], prediction: Any) -> float:
            """Return the share of a verifier's votes that accept the outputs."""
            accepts, votes = self._count(args, prediction)
            try:
                stops = loop.observe((prediction, list(dspy.settings.trace)), accepts, votes).stops
            except HaltwiseError as error:  # Refine would print it and go on
                wrong.append(error)
                return 1.0
            return 1.0 if stops else min(accepts / self.votes, 0.999)

        refine = dspy.Refine(self.module, N=_MOST, reward_fn=reward, threshold=1.0, fail_count=1)
        refine.reward_fn_code = _source(self._accepts)
        with dspy.context(trace=[]):
            refine(**inputs)
        if wrong:
            raise wrong[0]
        prediction, trace = loop.best
        if dspy.settings.trace is not None:
            dspy.settings.trace.extend(trace)
        prediction.haltwise = loop.decision.to_json()
        return prediction

    def _count(self, inputs: dict[str, Any], prediction: Any) -> tuple[int, int]:
        try:
            return self._accepts(inputs, prediction), self.votes
        except Exception as error:
            LOG.warning("no votes: the verifier failed: %s", type(error).__name__)
            return 0, 0


_MOST = 200
"""Attempts that DSPy may make; every rule stops long before."""


def _source(function: Callable[..., Any]) -> str:
    """Return the verifier's code, which DSPy shows to the model that gives feedback."""
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        return inspect.getdoc(function) or repr(function)


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
