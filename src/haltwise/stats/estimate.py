"""The one shape of every sampled quantity: a number with its interval, its n and its method."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Estimate:
    """A sampled quantity. Undefined is NaN with a note that says why, never 0."""

    value: float
    """The point estimate; NaN when undefined."""
    low: float = math.nan
    """Lower end of the interval; NaN when there is none."""
    high: float = math.nan
    """Upper end of the interval; NaN when there is none."""
    level: float = 0.95
    """Coverage that the interval aims at, in (0, 1)."""
    n: int = 0
    """What was counted: the method says what (episodes, clusters, ...)."""
    method: str = ""
    """How value and interval were computed, in a few words."""
    note: str = ""
    """Why it is undefined, or what a reader must know; empty when there is nothing to say."""

    @property
    def defined(self) -> bool:
        """Whether there is a value."""
        return not math.isnan(self.value)

    def noted(self, note: str) -> Estimate:
        """Return the same estimate with ``note`` added to its note."""
        return replace(self, note=f"{self.note}; {note}" if self.note else note)

    def to_json(self) -> dict[str, Any]:
        """Return the estimate as a JSON object in which undefined numbers are ``null``."""
        return {
            "value": none_if_nan(self.value),
            "low": none_if_nan(self.low),
            "high": none_if_nan(self.high),
            "level": self.level,
            "n": self.n,
            "method": self.method,
            "note": self.note,
        }


def undefined(note: str, *, n: int = 0, method: str = "", level: float = 0.95) -> Estimate:
    """Return an estimate without a value; ``note`` says why there is none."""
    return Estimate(math.nan, level=level, n=n, method=method, note=note)


def none_if_nan(number: float) -> float | None:
    """Return ``number``, or None where JSON has no way to write it (NaN, infinities)."""
    return float(number) if math.isfinite(number) else None
