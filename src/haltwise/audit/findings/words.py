"""How findings write numbers: shares as percentages, differences as points."""

from __future__ import annotations

import math

from ...stats.estimate import Estimate


def percent(share: float) -> str:
    """Return a share as a percentage with at most three digits: 0.0034 gives "0.34 %"."""
    value = 100 * share
    digits = 0 if abs(value) >= 10 or value == 0 else 1 if abs(value) >= 1 else 2
    return f"{value:.{digits}f} %"


def interval(estimate: Estimate) -> str:
    """Return the interval of a share in brackets; empty where there is none."""
    if math.isnan(estimate.low):
        return ""
    return f" ({estimate.level:.0%} interval {percent(estimate.low)} to {percent(estimate.high)})"


def points(estimate: Estimate) -> str:
    """Return the interval of a difference of shares, in percentage points with their signs."""
    if math.isnan(estimate.low):
        return "no interval"
    return f"{estimate.level:.0%} interval {100 * estimate.low:+.1f} to {100 * estimate.high:+.1f}"
