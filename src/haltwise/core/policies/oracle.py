"""The best that could be done with the plans of a loop, for studies: it sees the truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..decision import Decision
from ..observation import RepairObservation
from ..policy import State
from .checks import whole
from .repair import RepairPolicy


@dataclass(frozen=True)
class Oracle(RepairPolicy):
    """Commit the first valid plan, with as few repairs as possible; else the last plan.

    A plan whose truth is not known does not count as valid.
    """

    rounds: int = 5
    """Repairs allowed, at least 0."""

    name: ClassVar[str] = "oracle"
    sees_truth: ClassVar[bool] = True

    def __post_init__(self) -> None:
        whole("oracle", "rounds", self.rounds, 0)

    def initial(self) -> State:
        """Return the number of plans seen: none."""
        return (0,)

    def advance(
        self, state: State, observation: RepairObservation
    ) -> tuple[State, Decision | None]:
        """Commit a valid plan, or when no repair is left."""
        seen: int = state[0]
        state = (seen + 1,)
        if not observation.valid and seen < self.rounds:
            return state, None
        reason = f"plan {seen} is valid" if observation.valid else self._no_repairs_left()
        return state, self.commit(reason, self.evidence(state, observation), seen)
