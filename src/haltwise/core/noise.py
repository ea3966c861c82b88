"""The noise of a verify-repair loop: how wrong the verifier is and what repair does to a plan.

Four parameters and a prior, as in METHODS section 2 ("Model"). Knows nothing of how they are
estimated (`haltwise.calibrate`) or of what is decided with them (`haltwise.core.policies`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from .errors import ParameterError


@dataclass(frozen=True)
class NoiseModel:
    """Parameters of the two-state chain with noisy votes. All are probabilities in [0, 1]."""

    rho0: float
    """P(a vote accepts | plan invalid): false acceptance."""
    rho1: float
    """P(a vote rejects | plan valid): false rejection."""
    alpha: float
    """P(valid after a repair | invalid before)."""
    beta: float
    """P(invalid after a repair | valid before)."""
    valid: float
    """pi, P(the initial plan is valid)."""
    icc: float = 0.0
    """Correlation of two votes on one plan, in [0, 1): beta-binomial votes where above 0."""
    alpha_by_round: tuple[float, ...] | None = None
    """alpha of the 1st, 2nd, ... repair; the last one holds on. None: ``alpha`` throughout."""
    beta_by_round: tuple[float, ...] | None = None
    """beta of the 1st, 2nd, ... repair; the last one holds on. None: ``beta`` throughout."""

    def __post_init__(self) -> None:
        for name in ("rho0", "rho1", "alpha", "beta", "valid", "icc"):
            _probability(name, getattr(self, name))
        if self.icc >= 1:
            raise ParameterError(f"noise: icc is below 1; got {self.icc!r}")
        for name in ("alpha_by_round", "beta_by_round"):
            by_round = getattr(self, name)
            if by_round is None:
                continue
            if not isinstance(by_round, (list, tuple)) or not by_round:
                raise ParameterError(f"noise: {name} is a list of probabilities; got {by_round!r}")
            for value in by_round:
                _probability(name, value)
            object.__setattr__(self, name, tuple(by_round))

    @property
    def discrimination(self) -> float:
        """J = 1 - rho0 - rho1, in [-1, 1]: what a vote tells; 0 tells nothing."""
        return 1.0 - self.rho0 - self.rho1

    def alpha_at(self, repair: int) -> float:
        """Return alpha of the ``repair``-th repair, counted from 1."""
        return _at(self.alpha_by_round, self.alpha, repair)

    def beta_at(self, repair: int) -> float:
        """Return beta of the ``repair``-th repair, counted from 1."""
        return _at(self.beta_by_round, self.beta, repair)

    def to_json(self) -> dict[str, Any]:
        """Return the parameters by name, those that are not set left out."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> NoiseModel:
        """Build a model from parameters by name (a JSON object or a TOML table).

        Raises:
            ParameterError: a name is unknown or missing, or a value is out of range.
        """
        unknown = sorted(set(document) - set(cls.__dataclass_fields__))
        if unknown:
            raise ParameterError(
                f"noise: unknown parameter {unknown[0]!r}; "
                f"known: {', '.join(cls.__dataclass_fields__)}"
            )
        missing = [
            name for name in ("rho0", "rho1", "alpha", "beta", "valid") if name not in document
        ]
        if missing:
            raise ParameterError(f"noise: {', '.join(missing)} missing")
        return cls(**document)

    def __str__(self) -> str:
        """Return the model as a value inside a policy expression."""
        from .policy import print_value

        return f"noise({', '.join(f'{k}={print_value(v)}' for k, v in self._set().items())})"

    def _set(self) -> dict[str, Any]:
        return {name: value for name, value in self.to_json().items() if name != "icc" or value}


def _at(by_round: tuple[float, ...] | None, constant: float, repair: int) -> float:
    if by_round is None:
        return constant
    return by_round[min(repair, len(by_round)) - 1]


def _probability(name: str, value: Any) -> None:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or not 0 <= value <= 1:
        raise ParameterError(f"noise: {name} is a probability from 0 to 1; got {value!r}")
