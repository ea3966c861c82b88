"""How reports write numbers. The only place that rounds; undefined is a dash, never 0."""

from __future__ import annotations

import math

from ..audit.findings.words import percent
from ..stats.estimate import Estimate

DASH = "–"
"""Stands for an undefined number."""

__all__ = [
    "DASH",
    "count",
    "fixed",
    "interval",
    "percent",
    "percent_or_dash",
    "points",
    "replayed",
    "signed",
]


def count(number: int, word: str) -> str:
    """Return "1 episode", "1,500 episodes"."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def fixed(value: float, digits: int = 3) -> str:
    """Return a number with a fixed number of digits."""
    return DASH if math.isnan(value) else f"{value:.{digits}f}"


def signed(value: float, digits: int = 3) -> str:
    """Return a number with its sign."""
    return DASH if math.isnan(value) else f"{value:+.{digits}f}".replace("-", "−")


def percent_or_dash(share: float) -> str:
    """Return a share as a percentage."""
    return DASH if math.isnan(share) else percent(share)


def points(difference: float) -> str:
    """Return a difference of shares in percentage points, with its sign."""
    return f"{100 * difference:+.1f}".replace("-", "−")


def interval(estimate: Estimate, digits: int = 3) -> str:
    """Return "[0.430, 0.484]", or a dash where there is none."""
    if math.isnan(estimate.low):
        return DASH
    low, high = f"{estimate.low:.{digits}f}", f"{estimate.high:.{digits}f}"
    return f"[{low}, {high}]".replace("-", "−")


def replayed(estimate: Estimate, digits: int = 4) -> str:
    """Return an estimate as ``haltwise replay`` prints it: "0.4600 [0.4133, 0.5033]"."""
    if not estimate.defined:
        return DASH
    text = f"{estimate.value:.{digits}f}"
    if math.isnan(estimate.low):
        return text
    return f"{text} [{estimate.low:.{digits}f}, {estimate.high:.{digits}f}]"
