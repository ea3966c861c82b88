"""Stop after k useless results in a row: the enforced rule of the search study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..belief import run_length
from ..decision import Action, Decision
from ..observation import SearchObservation
from ..policy import Policy, State
from .checks import whole


@dataclass(frozen=True)
class UselessStreak(Policy):
    """Demand the answer once the run of useless verdicts reaches ``k``.

    It is uselessness that counts, not sameness: nineteen reformulated searches that all come back
    useless are a run of nineteen. The known cost is a source that recovers at the k-th result or
    later; `haltwise replay` shows how often that happens.
    """

    k: int
    """Run length at which the rule fires, at least 1."""
    count_errors: bool = False
    """Whether a failed source (`Verdict.SOURCE_ERROR`) counts as a useless result."""

    name: ClassVar[str] = "streak"
    kind = "search"

    def __post_init__(self) -> None:
        whole("streak", "k", self.k, 1)

    def initial(self) -> State:
        """Return the run before any result: 0."""
        return 0

    def advance(
        self, state: State, observation: SearchObservation
    ) -> tuple[State, Decision | None]:
        """Lengthen or reset the run; fire when it reaches k."""
        run = run_length(state, observation.verdict, count_errors=self.count_errors)
        if run < self.k:
            return run, None
        reason = f"{run} useless results in a row (threshold {self.k})"
        evidence = {"run": run, "threshold": self.k}
        return run, Decision(Action.ANSWER, reason, evidence, self.expression)
