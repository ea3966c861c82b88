"""The published system: the one-step rule where calibration can be trusted, else the guard."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from ..errors import ParameterError
from ..noise import NoiseModel
from .checks import between, whole
from .repair import RepairPolicy
from .switching import SwitchingPolicy
from .threshold import check_noise
from .vrr_guard import VrrGuard
from .vrr_stop import VrrStop

J_MIN = 0.15
"""Discrimination below which the published system does not trust its calibration."""


@dataclass(frozen=True)
class Vrr(SwitchingPolicy):
    """`VrrStop` where the calibration can be trusted, else `VrrGuard`.

    Two triggers are published, and one of them is used: the discrimination J is below ``j_min``
    (default .15), or, with ``eta`` given, the sign of the gain is not identified, that is
    ``p_flip > eta``. METHODS section 2, "Mode choice" and "Sign identifiability".
    """

    noise: NoiseModel
    """Calibrated noise of verifier and repair."""
    j_min: float | None = None
    """Smallest J to trust, in [0, 1]; None: .15 unless ``eta`` is given."""
    eta: float | None = None
    """Largest probability of a wrong sign to accept, in (0, 1)."""
    p_flip: float | None = None
    """Probability of a wrong sign, from calibration (policy file, [evidence]); ``eta`` needs it."""
    discrimination: float | None = None
    """J from labelled plans, from calibration; None: that of ``noise``."""
    delta: float = 0.625
    """Lead that the guard asks for, as a share of votes."""
    tau: float = 0
    """Price of a repair in units of validity, for the one-step rule."""
    rounds: int = 5
    """Repairs allowed, at least 0."""

    name: ClassVar[str] = "vrr"

    def __post_init__(self) -> None:
        check_noise("vrr", self.noise)
        if self.j_min is not None and self.eta is not None:
            raise ParameterError("vrr: give one trigger, j_min or eta; got both")
        if self.j_min is not None:
            between("vrr", "j_min", self.j_min, 0, 1)
        if self.eta is not None:
            between("vrr", "eta", self.eta, 0, 1)
            if self.p_flip is None:
                raise ParameterError(
                    "vrr: eta needs p_flip, which a policy file carries; type vrr("
                    '"policy.toml", eta=.05) or give p_flip'
                )
        if self.p_flip is not None:
            between("vrr", "p_flip", self.p_flip, 0, 1)
        if self.discrimination is not None:
            between("vrr", "discrimination", self.discrimination, -1, 1)
        whole("vrr", "rounds", self.rounds, 0)
        self.rule  # noqa: B018  the chosen rule checks the remaining parameters

    @property
    def trusted(self) -> bool:
        """Whether the calibration passes the trigger."""
        if self.eta is not None and self.p_flip is not None:
            return self.p_flip <= self.eta
        return self._j >= (J_MIN if self.j_min is None else self.j_min)

    @property
    def _j(self) -> float:
        known = self.discrimination
        return self.noise.discrimination if known is None else known

    @cached_property
    def rule(self) -> RepairPolicy:  # type: ignore[override]
        """`VrrStop` or `VrrGuard`."""
        if self.trusted:
            return VrrStop(self.noise, self.tau, rounds=self.rounds)
        return VrrGuard(self.delta, self.rounds)

    @cached_property
    def why(self) -> str:  # type: ignore[override]
        """The trigger with its numbers."""
        sign = "passes" if self.trusted else "fails"
        if self.eta is not None:
            return f"calibration {sign}: P(wrong sign) {self.p_flip:.3f}, accepted {self.eta:g}"
        needed = J_MIN if self.j_min is None else self.j_min
        return f"calibration {sign}: J {self._j:.3f}, needed {needed:g}"
