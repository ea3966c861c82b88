"""Stop as soon as most votes accept: what repair loops do today."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..decision import Decision
from ..observation import RepairObservation
from ..policy import State
from .checks import whole
from .repair import RepairPolicy


@dataclass(frozen=True)
class Majority(RepairPolicy):
    """Commit the first plan that more than half of its votes accept, else the last one."""

    rounds: int = 5
    """Repairs allowed, at least 0."""

    name: ClassVar[str] = "majority"

    def __post_init__(self) -> None:
        whole("majority", "rounds", self.rounds, 0)

    def initial(self) -> State:
        """Return the number of plans seen: none."""
        return (0,)

    def advance(
        self, state: State, observation: RepairObservation
    ) -> tuple[State, Decision | None]:
        """Commit when most votes accept, or when no repair is left."""
        seen: int = state[0]
        state = (seen + 1,)
        accepted = 2 * observation.accepts > observation.votes
        if not accepted and seen < self.rounds:
            return state, None
        reason = (
            f"{observation.accepts} of {observation.votes} votes accept plan {seen}"
            if accepted
            else self._no_repairs_left()
        )
        return state, self.commit(reason, self.evidence(state, observation), seen)
