"""A plain cap on tool calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..decision import Action, Decision
from ..observation import SearchObservation
from ..policy import Policy, State
from .checks import whole


@dataclass(frozen=True)
class CallBudget(Policy):
    """Demand the answer after ``n`` tool steps, whatever they brought."""

    n: int
    """Tool steps allowed, at least 1; parallel calls of one turn are one step."""

    name: ClassVar[str] = "calls"
    kind = "search"

    def __post_init__(self) -> None:
        whole("calls", "n", self.n, 1)

    def initial(self) -> State:
        """Return the number of tool steps taken: 0."""
        return 0

    def advance(
        self, state: State, observation: SearchObservation
    ) -> tuple[State, Decision | None]:
        """Count the step; fire at the n-th."""
        taken: int = state + 1
        if taken < self.n:
            return taken, None
        reason = f"{taken} tool steps taken (limit {self.n})"
        evidence = {"steps": taken, "limit": self.n}
        return taken, Decision(Action.ANSWER, reason, evidence, self.expression)
