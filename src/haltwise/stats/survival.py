"""Kaplan-Meier survival in discrete time, with censoring.

Knows times, events and censoring; which event it is (always name it: the first useful result, the
answer) is the caller's affair.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .arrays import cluster_counts, normal_quantile
from .estimate import Estimate, undefined

METHOD = "Kaplan-Meier, Greenwood (log-log)"


@dataclass(frozen=True)
class SurvivalCurve:
    """P(no event up to and including t), at every time where something was observed."""

    times: tuple[float, ...]
    """Distinct times of events and of censoring, ascending."""
    at_risk: tuple[int, ...]
    """Units under observation just before each time, those censored at it included."""
    events: tuple[int, ...]
    """Events at each time; events / at_risk is the hazard."""
    survival: tuple[Estimate, ...]
    """Share without the event after each time; n = units at risk at it."""
    level: float
    """Coverage of the intervals."""

    def at(self, time: float) -> Estimate:
        """Return the share without the event after ``time``.

        It is 1, without an interval, before the first time. Past the last time it is 0 if all had
        the event, and undefined if someone was censored: nobody was watched that long.
        """
        index = bisect_right(self.times, time) - 1
        if not self.times:
            return undefined("no units", method=METHOD, level=self.level)
        if index < 0:
            return Estimate(
                1.0, level=self.level, n=self.at_risk[0], method=METHOD, note="before any event"
            )
        if time > self.times[-1] and self.survival[-1].value > 0:
            return undefined("no unit was observed that long", method=METHOD, level=self.level)
        return self.survival[index]


def kaplan_meier(
    times: ArrayLike, observed: ArrayLike, *, counts: ArrayLike | None = None, level: float = 0.95
) -> SurvivalCurve:
    """Estimate the survival curve.

    Kaplan and Meier 1958. A unit censored at t is still at risk at t: it was watched through t
    without the event. Interval: Greenwood's variance on the scale log(-log S) (Kalbfleisch and
    Prentice 1980), which stays inside 0..1; there is none while S is 1 or once it is 0.

    Args:
        times: when the event happened, or how long the unit was watched; shape (units,).
        observed: whether the event happened (1, true) or the unit was censored (0, false).
        counts: how many units each entry stands for; None: one.
        level: coverage of the intervals.

    Raises:
        ValueError: shapes differ, a time is not finite, or ``observed`` is not 0 or 1.
    """
    z = normal_quantile(level)
    when, hit = np.asarray(times, dtype=np.float64), np.asarray(observed)
    if when.shape != hit.shape or when.ndim != 1:
        raise ValueError(f"one time and one event flag a unit; got {when.shape} and {hit.shape}")
    if not (np.isfinite(when).all() and np.isin(hit, (0, 1)).all()):
        raise ValueError("times are finite numbers, observed is 0 or 1")
    repeats = cluster_counts(counts, len(when))
    kept = repeats > 0
    distinct, place = np.unique(when[kept], return_inverse=True)
    leaving = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(leaving, place, repeats[kept])
    events = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(events, place, repeats[kept] * hit[kept].astype(np.int64))
    at_risk = leaving[::-1].cumsum()[::-1]

    survival, share, greenwood = [], 1.0, 0.0
    for risk, event in zip(at_risk.tolist(), events.tolist(), strict=True):
        share *= 1 - event / risk
        greenwood += event / (risk * (risk - event)) if event < risk else math.inf
        estimate = Estimate(share, level=level, n=risk, method=METHOD)
        if 0 < share < 1:
            half = z * math.sqrt(greenwood) / abs(math.log(share))
            low, high = share ** math.exp(half), share ** math.exp(-half)
            estimate = Estimate(share, low, high, level, risk, METHOD)
        else:
            estimate = estimate.noted("no interval: " + ("no event yet" if share else "none left"))
        survival.append(estimate)
    return SurvivalCurve(
        tuple(distinct.tolist()),
        tuple(at_risk.tolist()),
        tuple(events.tolist()),
        tuple(survival),
        level,
    )
