"""The rule to use unless you know better: optimal stopping on the fit, with two exceptions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from ..errors import ParameterError
from ..noise import NoiseModel
from .checks import whole
from .fixed import FixedRepairs
from .lookahead import Lookahead
from .repair import RepairPolicy
from .switching import SwitchingPolicy
from .threshold import check_noise
from .vrr_guard import VrrGuard


@dataclass(frozen=True)
class Auto(SwitchingPolicy):
    """`Lookahead` with recall on the calibrated noise, unless calibration found a reason not to.

    METHODS section 2, "Mode choice". The two exceptions rest on evidence that only calibration
    has, so it says so in ``fallback``: "guard" without any labelled transition, "none" where the
    rule, replayed on ungated labelled loops, ended below no repair.
    """

    noise: NoiseModel
    """Calibrated noise of verifier and repair."""
    tau: float = 0.01
    """Price of a repair in units of validity, from 0 to 1."""
    fallback: str | None = None
    """None: use the fit. "guard": `VrrGuard`. "none": deliver the initial plan, never repair."""
    rounds: int = 5
    """Repairs allowed, at least 0."""

    name: ClassVar[str] = "auto"

    def __post_init__(self) -> None:
        check_noise("auto", self.noise)
        whole("auto", "rounds", self.rounds, 0)
        if self.fallback not in (None, "guard", "none"):
            raise ParameterError(f'auto: fallback is "guard" or "none"; got {self.fallback!r}')
        self.rule  # noqa: B018  the chosen rule checks the remaining parameters

    @cached_property
    def rule(self) -> RepairPolicy:  # type: ignore[override]
        """`Lookahead`, or what the fallback names."""
        if self.fallback == "guard":
            return VrrGuard(rounds=self.rounds)
        if self.fallback == "none":
            return FixedRepairs(0, self.rounds)
        return Lookahead(self.noise, self.tau, rounds=self.rounds)

    @cached_property
    def why(self) -> str:  # type: ignore[override]
        """Which rule it follows, and why."""
        if self.fallback == "guard":
            return "no labelled transition to estimate repair from: guard"
        if self.fallback == "none":
            return "on labelled loops this rule ended below no repair"
        return "optimal stopping on the calibrated noise"
