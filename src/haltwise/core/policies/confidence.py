"""Stop at a fixed share of accepting votes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..decision import Decision
from ..observation import RepairObservation
from ..policy import State
from .checks import between, whole
from .repair import RepairPolicy


@dataclass(frozen=True)
class Confidence(RepairPolicy):
    """Commit the first plan whose share of accepting votes reaches ``c``, else the last one."""

    c: float
    """Share of votes needed, in (0, 1]."""
    rounds: int = 5
    """Repairs allowed, at least 0."""

    name: ClassVar[str] = "confidence"

    def __post_init__(self) -> None:
        between("confidence", "c", self.c, 1e-9, 1)
        whole("confidence", "rounds", self.rounds, 0)

    def initial(self) -> State:
        """Return the number of plans seen: none."""
        return (0,)

    def advance(
        self, state: State, observation: RepairObservation
    ) -> tuple[State, Decision | None]:
        """Commit when the share is reached, or when no repair is left."""
        seen: int = state[0]
        state = (seen + 1,)
        accepts, votes = observation.accepts, observation.votes
        reached = votes > 0 and accepts >= self.c * votes - 1e-9  # .3 * 10 is above 3
        if not reached and seen < self.rounds:
            return state, None
        reason = (
            f"{accepts} of {votes} votes accept plan {seen} (threshold {self.c:g})"
            if reached
            else self._no_repairs_left()
        )
        evidence = {**self.evidence(state, observation), "threshold": self.c}
        return state, self.commit(reason, evidence, seen)
