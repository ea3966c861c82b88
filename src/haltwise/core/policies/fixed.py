"""A fixed number of repairs, whatever the votes say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..decision import Decision
from ..observation import RepairObservation
from ..policy import State
from .checks import whole
from .repair import RepairPolicy


@dataclass(frozen=True)
class FixedRepairs(RepairPolicy):
    """Commit the plan after ``n`` repairs; ``fixed(0)`` is no repair at all."""

    n: int
    """Repairs to make, at least 0; no more than ``rounds`` of them are made."""
    rounds: int = 5
    """Repairs allowed, at least 0."""

    name: ClassVar[str] = "fixed"

    def __post_init__(self) -> None:
        whole("fixed", "n", self.n, 0)
        whole("fixed", "rounds", self.rounds, 0)

    def initial(self) -> State:
        """Return the number of plans seen: none."""
        return (0,)

    def advance(
        self, state: State, observation: RepairObservation
    ) -> tuple[State, Decision | None]:
        """Count the plan; commit the n-th."""
        seen: int = state[0]
        state = (seen + 1,)
        if seen < min(self.n, self.rounds):
            return state, None
        made = f"{seen} of {self.n} repairs made" if self.n else "no repair wanted"
        reason = made if seen == self.n else self._no_repairs_left()
        return state, self.commit(reason, self.evidence(state, observation), seen)
