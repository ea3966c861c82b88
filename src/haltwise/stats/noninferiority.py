"""Non-inferiority: is a difference surely above minus a margin? Knows an interval and a margin."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .estimate import Estimate


@dataclass(frozen=True)
class NonInferiority:
    """The verdict of a non-inferiority comparison (new minus old, more is better)."""

    noninferior: bool | None
    """Whether the lower bound lies above minus the margin; None where there is no bound."""
    bound: float
    """Lower end of the one-sided interval; NaN where there is none."""
    level: float
    """One-sided level of the bound: .975 from a two-sided interval of .95."""
    margin: float
    """The loss that would still do, above 0."""
    note: str
    """The note of the difference."""


def noninferiority(difference: Estimate, margin: float) -> NonInferiority:
    """Compare the lower bound of a difference with ``-margin`` (METHODS section 1, "Comparisons").

    The lower end of a two-sided interval of level L is the one-sided bound of level (1 + L) / 2.
    A bound of exactly ``-margin`` does not suffice.

    Raises:
        ValueError: the margin is not a positive number.
    """
    if not (math.isfinite(margin) and margin > 0):
        raise ValueError(f"margin is a positive number, the loss that would do; got {margin!r}")
    bound = difference.low
    verdict = None if math.isnan(bound) else bool(bound > -margin)
    return NonInferiority(verdict, bound, (1 + difference.level) / 2, margin, difference.note)
