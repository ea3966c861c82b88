"""Stop after some rounds without a better-voted plan: early stopping as in training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..decision import Decision, Scalar
from ..observation import RepairObservation
from ..policy import State
from .checks import whole
from .scored import ScoredPolicy, better


@dataclass(frozen=True)
class Patience(ScoredPolicy):
    """Commit the best-voted plan after ``n`` rounds in a row without a new best one.

    Earliest on ties. A round without votes says nothing and is not counted.
    """

    n: int
    """Rounds without a new best score, at least 1."""
    rounds: int = 5
    """Repairs allowed, at least 0."""

    name: ClassVar[str] = "patience"

    def __post_init__(self) -> None:
        whole("patience", "n", self.n, 1)
        whole("patience", "rounds", self.rounds, 0)

    def initial(self) -> State:
        """Return no plans, no incumbent, no rounds without a new best."""
        return (0, 0, 0, 0, 0)

    def advance(
        self, state: State, observation: RepairObservation
    ) -> tuple[State, Decision | None]:
        """Compare with the best; commit it when patience or repairs run out."""
        seen, best, accepts, votes, stale = state
        new = (observation.accepts, observation.votes)
        if seen == 0 or better(new, (accepts, votes)):
            best, (accepts, votes), stale = seen, new, 0
        elif new[1] > 0:
            stale += 1
        state = (seen + 1, best, accepts, votes, stale)
        if stale < self.n and seen < self.rounds:
            return state, None
        reason = (
            f"{stale} rounds without a better plan than {best} (patience {self.n})"
            if stale >= self.n
            else self._no_repairs_left()
        )
        return state, self.commit(reason, self.evidence(state, observation), best)

    def evidence(self, state: State, observation: RepairObservation) -> dict[str, Scalar]:
        """Return the rounds without a new best and the limit, beside incumbent and votes."""
        return {
            **super().evidence(state, observation),
            "stale": state[4],
            "threshold": self.n,
        }
