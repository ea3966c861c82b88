"""The one-step rule that is told the true parameters: what calibration costs, for studies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from ..noise import NoiseModel
from .threshold import ThresholdPolicy, myopic_thresholds


@dataclass(frozen=True)
class TrueMyopic(ThresholdPolicy):
    """`VrrStop` on the noise that generated the data (TPM in the paper); studies only."""

    noise: NoiseModel
    """The true noise."""
    tau: float = 0
    """Price of a repair in units of validity, from 0 to 1."""
    rounds: int = 5
    """Repairs allowed, at least 0."""

    name: ClassVar[str] = "true_myopic"
    recall = False

    @cached_property
    def _myopic(self) -> tuple[float, ...]:
        return myopic_thresholds(self.noise, self.tau, self.rounds)

    def thresholds(self, votes: int) -> tuple[float, ...]:
        """Return ``b*`` of every round under the true noise."""
        return self._myopic
