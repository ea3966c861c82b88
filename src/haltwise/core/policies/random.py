"""Stop at random: the control that shows what stopping is worth without any evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..decision import Action, Decision
from ..observation import SearchObservation
from ..policy import Policy, State
from .checks import between, whole


@dataclass(frozen=True)
class RandomStop(Policy):
    """Demand the answer at each step with probability ``rate``.

    Pure: the draw at step t is a hash of (seed, t), so a replay sees the same draws. Give every
    episode a seed of its own, or all of them stop at the same step.
    """

    rate: float
    """Probability of stopping at a step, in [0, 1]."""
    seed: int = 0
    """Any whole number from 0."""

    name: ClassVar[str] = "random"
    kind = "search"

    def __post_init__(self) -> None:
        between("random", "rate", self.rate, 0, 1)
        whole("random", "seed", self.seed, 0)

    def initial(self) -> State:
        """Return the number of tool steps taken: 0."""
        return 0

    def advance(
        self, state: State, observation: SearchObservation
    ) -> tuple[State, Decision | None]:
        """Draw for this step; fire when the draw falls below the rate."""
        taken: int = state + 1
        draw = uniform(self.seed, taken)
        if draw >= self.rate:
            return taken, None
        reason = f"random stop at step {taken} (draw {draw:.4f} below rate {self.rate:g})"
        evidence = {"step": taken, "draw": draw, "rate": self.rate}
        return taken, Decision(Action.ANSWER, reason, evidence, self.expression)


def uniform(seed: int, step: int) -> float:
    """Return a number in [0, 1) that depends on seed and step alone."""
    from hashlib import blake2b

    digest = blake2b(f"{seed}:{step}".encode(), digest_size=8).digest()
    return (int.from_bytes(digest, "big") >> 11) / 2**53
