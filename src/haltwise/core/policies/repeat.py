"""Stop a loop that repeats itself: the same call with the same result, cycles included."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..decision import Action, Decision
from ..events import Verdict
from ..observation import SearchObservation
from ..policy import Policy, State
from .checks import whole

MEMORY = 64
"""Steps that are remembered: cycles of up to ``MEMORY / n`` different calls are seen."""


@dataclass(frozen=True)
class Repetition(Policy):
    """Demand the answer once the same call has brought the same result ``n`` times.

    The occurrences need not be consecutive, so search / fetch / search / fetch is seen. A new
    result is progress, even of the same call, and a useful result that was not seen before starts
    every count again (it stays remembered, so that two useful results in turn are a loop, too).
    Steps whose call or result is not known are passed over.
    """

    n: int
    """Occurrences at which the rule fires, at least 2."""

    name: ClassVar[str] = "repeat"
    kind = "search"

    def __post_init__(self) -> None:
        whole("repeat", "n", self.n, 2)

    def initial(self) -> State:
        """Return the fingerprints remembered: none. None among them marks a new start."""
        return ()

    def advance(
        self, state: State, observation: SearchObservation
    ) -> tuple[State, Decision | None]:
        """Remember the step's fingerprint; fire at its n-th occurrence."""
        mark = observation.fingerprint
        if mark is None:
            return state, None
        if observation.verdict is Verdict.USEFUL and mark not in state:
            return (*state[-(MEMORY - 2) :], None, mark), None
        seen = (*state[-(MEMORY - 1) :], mark)
        start = len(seen) - seen[::-1].index(None) if None in seen else 0
        count = seen[start:].count(mark)
        if count < self.n:
            return seen, None
        reason = f"the same call brought the same result {count} times (limit {self.n})"
        evidence = {"occurrences": count, "limit": self.n}
        return seen, Decision(Action.ANSWER, reason, evidence, self.expression)
