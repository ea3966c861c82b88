"""Keep the last action of the budget for the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..decision import Action, Decision
from ..observation import SearchObservation
from ..policy import Policy, State
from .checks import whole


@dataclass(frozen=True)
class Deadline(Policy):
    """Demand the answer when only the last action of the budget is left.

    An agent that spends its whole budget on searching ends without any answer; this rule turns the
    last action into one. METHODS section 1, "The known failure of a fixed k".
    """

    budget: int
    """Actions the loop may take, the final answer included; at least 2."""

    name: ClassVar[str] = "deadline"
    kind = "search"

    def __post_init__(self) -> None:
        whole("deadline", "budget", self.budget, 2)

    def initial(self) -> State:
        """Return the number of tool steps taken: 0."""
        return 0

    def advance(
        self, state: State, observation: SearchObservation
    ) -> tuple[State, Decision | None]:
        """Count the step; fire when one action is left."""
        taken: int = state + 1
        if taken < self.budget - 1:
            return taken, None
        reason = f"{taken} of {self.budget} actions taken, the last one is for the answer"
        evidence = {"steps": taken, "budget": self.budget}
        return taken, Decision(Action.ANSWER, reason, evidence, self.expression)
