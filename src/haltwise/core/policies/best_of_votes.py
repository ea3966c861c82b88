"""Stop at a majority, deliver the best-voted plan of the whole trajectory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..decision import Decision
from ..observation import RepairObservation
from ..policy import State
from .checks import whole
from .scored import ScoredPolicy, better


@dataclass(frozen=True)
class BestOfVotes(ScoredPolicy):
    """Repair until most votes accept; commit the most accepted plan, earliest on ties.

    Best-of-trajectory in METHODS section 2, "Baselines".
    """

    rounds: int = 5
    """Repairs allowed, at least 0."""

    name: ClassVar[str] = "best_of_votes"

    def __post_init__(self) -> None:
        whole("best_of_votes", "rounds", self.rounds, 0)

    def advance(
        self, state: State, observation: RepairObservation
    ) -> tuple[State, Decision | None]:
        """Compare with the best; commit it at a majority, or when no repair is left."""
        seen, best, accepts, votes = state
        new = (observation.accepts, observation.votes)
        if seen == 0 or better(new, (accepts, votes)):
            best, (accepts, votes) = seen, new
        state = (seen + 1, best, accepts, votes)
        majority = 2 * new[0] > new[1]
        if not majority and seen < self.rounds:
            return state, None
        stop = f"{new[0]} of {new[1]} votes accept" if majority else self._no_repairs_left()
        reason = f"{stop}; plan {best} is the most accepted ({accepts} of {votes})"
        return state, self.commit(reason, self.evidence(state, observation), best)
