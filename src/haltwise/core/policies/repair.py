"""What the rules for verify-repair loops have in common.

Round k is the plan after k repairs, 0 the initial one. Knows nothing of how a rule decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ..decision import Action, Decision, Scalar
from ..observation import RepairObservation
from ..policy import Policy, State


class RepairPolicy(Policy):
    """Base of the repair rules: each commits one of the plans seen, at the last round in any case.

    A subclass has a field `rounds`, and a state that is a tuple with the number of plans seen
    first.
    """

    rounds: int
    """Repairs allowed, K, at least 0."""
    kind = "repair"
    sees_truth: ClassVar[bool] = False
    """Whether the rule looks at `RepairObservation.valid`: an oracle for studies."""

    def choice(self, state: State) -> int:
        """Return the index of the plan to deliver if the loop ended in ``state``: the newest."""
        if isinstance(state, Decision):
            return state.candidate or 0
        newest: int = state[0] - 1
        return newest

    def evidence(self, state: State, observation: RepairObservation) -> dict[str, Scalar]:
        """Return the numbers behind a decision, given the state after ``observation``."""
        seen: int = state[0]
        return {
            "round": seen - 1,
            "rounds": self.rounds,
            "accepts": observation.accepts,
            "votes": observation.votes,
        }

    def commit(self, reason: str, evidence: Mapping[str, Scalar], candidate: int) -> Decision:
        """Return the decision to stop and deliver plan number ``candidate``."""
        return Decision(Action.COMMIT, reason, evidence, self.expression, candidate=candidate)

    def _last(self, seen: int) -> bool:
        return seen > self.rounds

    def _no_repairs_left(self) -> str:
        return f"no repair left (limit {self.rounds})"


def share(accepts: int, votes: int) -> float:
    """Return the share of votes that accept; 0 without votes."""
    return accepts / votes if votes else 0.0
