"""Keep a plan until another one is clearly better voted: needs no estimates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..decision import Decision, Scalar
from ..observation import RepairObservation
from ..policy import State
from .checks import between, whole
from .scored import ScoredPolicy, better


@dataclass(frozen=True)
class VrrGuard(ScoredPolicy):
    """Make all repairs, replace the incumbent only at a clear lead, commit the incumbent.

    METHODS section 2, "VRR-Guard" and "Guard's safety". An incumbent that got no votes (verifier
    failed) counts as one that nobody accepted.
    """

    delta: float = 0.625
    """Lead in share of votes that a new plan needs, in (0, 1]: ceil(delta x votes) accepts more."""
    rounds: int = 5
    """Repairs allowed, at least 0."""

    name: ClassVar[str] = "vrr_guard"

    def __post_init__(self) -> None:
        between("vrr_guard", "delta", self.delta, 1e-6, 1)
        whole("vrr_guard", "rounds", self.rounds, 0)

    def advance(
        self, state: State, observation: RepairObservation
    ) -> tuple[State, Decision | None]:
        """Compare the new plan with the incumbent; commit when no repair is left."""
        seen, incumbent, accepts, votes = state
        new = (observation.accepts, observation.votes)
        if seen == 0 or better(new, (accepts, votes), self.delta):
            incumbent, (accepts, votes) = seen, new
        state = (seen + 1, incumbent, accepts, votes)
        if seen < self.rounds:
            return state, None
        reason = (
            f"{self._no_repairs_left()}; plan {incumbent} with {accepts} of {votes} votes has not "
            f"been beaten by {self.delta:g}"
        )
        return state, self.commit(reason, self.evidence(state, observation), incumbent)

    def evidence(self, state: State, observation: RepairObservation) -> dict[str, Scalar]:
        """Return the lead needed, beside incumbent and votes."""
        return {**super().evidence(state, observation), "threshold": self.delta}
