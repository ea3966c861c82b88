"""Repair while the expected gain of another repair exceeds its price: the published rule."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from ..noise import NoiseModel
from .threshold import ThresholdPolicy, myopic_thresholds


@dataclass(frozen=True)
class VrrStop(ThresholdPolicy):
    """Repair again iff ``G = (1 - b) alpha - b beta > tau`` (METHODS section 2, "VRR-Stop").

    Looks one repair ahead. Right where the noise model is; with wrong parameters it can be far
    worse than no repair, see `VrrGuard`.
    """

    noise: NoiseModel
    """Calibrated noise of verifier and repair."""
    tau: float = 0
    """Price of a repair in units of validity, from 0 to 1."""
    recall: bool = False
    """Whether to deliver the plan with the largest smoothed posterior instead of the newest."""
    rounds: int = 5
    """Repairs allowed, at least 0."""

    name: ClassVar[str] = "vrr_stop"

    @cached_property
    def _myopic(self) -> tuple[float, ...]:
        return myopic_thresholds(self.noise, self.tau, self.rounds)

    def thresholds(self, votes: int) -> tuple[float, ...]:
        """Return ``b* = (alpha - tau) / (alpha + beta)`` of every round; no vote enters it."""
        return self._myopic
