"""A policy together with its state, for people who write their own loop.

::

    loop = SearchLoop(parse_policy("streak(5) | deadline(8)"))
    while True:
        result = search(query)
        decision = loop.observe(judge(result), call=query, result=result)
        if decision.stops:
            return answer_without_tools(reason=decision.reason)
"""

from __future__ import annotations

from .decision import CONTINUE, Decision
from .errors import ParameterError
from .events import Verdict
from .observation import SearchObservation, as_verdict, fingerprint
from .policy import Policy, State


class SearchLoop:
    """Follows one search loop. Mutable, not thread-safe; one per conversation.

    Attributes:
        policy: the rule that decides.
        state: its state; plain data, see `haltwise.core.policy.state_to_json`.
        decision: the newest decision.
    """

    __slots__ = ("decision", "policy", "state")

    def __init__(self, policy: Policy, state: State = None) -> None:
        """Start a loop, or resume one from a stored ``state``.

        Raises:
            ParameterError: ``policy`` is not a policy for search loops.
        """
        if not isinstance(policy, Policy):
            raise ParameterError(
                f'SearchLoop takes a policy, as parse_policy("streak(5)") gives; got {policy!r}'
            )
        if policy.kind == "repair":
            raise ParameterError(f"{policy} is for repair loops; use RepairLoop({policy})")
        self.policy = policy
        self.state = policy.initial() if state is None else state
        self.decision = self.state if isinstance(self.state, Decision) else CONTINUE

    def observe(
        self, verdict: Verdict | str, *, call: object = None, result: object = None
    ) -> Decision:
        """Take the verdict of one tool step and return the decision.

        Sticky: after a stop, every further call returns that stop again.

        Args:
            verdict: a `Verdict` or one of the words "useless", "useful", "unknown", "unjudged",
                "source_error".
            call: the tool call, text or JSON value; needed by `repeat` only.
            result: its result, text or JSON value; needed by `repeat` only.

        Raises:
            ObservationError: ``verdict`` is something else; the loop keeps its state.
        """
        mark = None if call is None else fingerprint(call, result)
        self.state, self.decision = self.policy.step(
            self.state, SearchObservation(as_verdict(verdict), mark)
        )
        return self.decision
