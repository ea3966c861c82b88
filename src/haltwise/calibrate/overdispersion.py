"""Are the votes on one plan correlated? The intra-class correlation, from labelled plans only.

Without labels correlation and discrimination are confounded: one over-dispersed component looks
like a mixture of two. METHODS section 2, "Over-dispersion".
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri

from ..stats.estimate import Estimate, undefined
from ..stats.likelihood import likelihood_ratio
from .emission import Floats, effective, log_likelihood
from .votes import PRIOR, VoteCounts

MIN_PLANS = 60
"""Labelled plans needed, ..."""
MIN_PLANS_SHARP = 30
"""... or this many where the verifier is `SHARP`."""
SHARP = 0.6
"""J from which fewer labelled plans are enough."""
LIKELIHOOD_RATIO = 2.71
"""The correlation is kept only above this: 5 % for a parameter on its boundary."""

_GRID = np.geomspace(1e-4, 0.95, 80)
_METHOD = "profile likelihood of the beta-binomial on labelled plans"


@dataclass(frozen=True)
class Overdispersion:
    """What the labelled plans say about correlated votes."""

    icc: float
    """The correlation to calibrate with; 0 where it is not identified or not significant."""
    estimate: Estimate
    """The same for people: undefined where there were too few labelled plans."""
    likelihood_ratio: float
    """Twice the gain in log likelihood over independent votes; NaN where not identified."""

    @property
    def identified(self) -> bool:
        """Whether there were enough labelled plans to tell."""
        return self.estimate.defined


def fit_overdispersion(counts: VoteCounts, *, level: float = 0.95) -> Overdispersion:
    """Fit one ICC for valid and invalid plans, with a mean for each, from the labelled plans.

    Args:
        counts: the first replicate is used; plans without a label are ignored.
        level: coverage of the interval.
    """
    several = counts.votes > 1
    tallies = np.stack([counts.invalid[0], counts.valid[0]]) * several
    plans = int(tallies.sum())
    shares = [_mean(counts, weight) for weight in tallies]
    sharp = shares[1] - shares[0] >= SHARP
    needed = MIN_PLANS_SHARP if sharp else MIN_PLANS
    if plans < needed:
        note = (
            f"not identified: {plans} labelled plans with two votes or more, needs {needed}; "
            "votes are taken as independent"
        )
        return Overdispersion(0.0, undefined(note, n=plans, method=_METHOD, level=level), math.nan)
    profile = sum(
        (_profile(counts, weight, mean) for weight, mean in zip(tallies, shares, strict=True)),
        np.zeros(len(_GRID)),
    )
    independent = sum(
        float(weight @ log_likelihood(counts.accepts, counts.votes, mean, 0))
        for weight, mean in zip(tallies, shares, strict=True)
    )
    icc, height = _top(profile)
    height = max(height, independent)
    ratio = likelihood_ratio(independent, height, boundary=True).statistic
    low, high = _inside(profile, height - _half_quantile(level))
    estimate = Estimate(icc, low, high, level, plans, _METHOD, f"likelihood ratio {ratio:.2f}")
    if ratio <= LIKELIHOOD_RATIO:
        estimate = estimate.noted(f"not above {LIKELIHOOD_RATIO}: votes are taken as independent")
        return Overdispersion(0.0, estimate, ratio)
    return Overdispersion(icc, estimate, ratio)


def _mean(counts: VoteCounts, weight: Floats) -> float:
    accepted = float((weight * counts.accepts).sum())
    return (accepted + PRIOR) / (float((weight * counts.votes).sum()) + 2 * PRIOR)


def _profile(counts: VoteCounts, weight: Floats, start: float) -> Floats:
    """Return the log likelihood of one class at every ICC of the grid, maximal over its mean."""
    mean = np.full((len(_GRID), 1), start)
    for _ in range(500):
        yes, no = effective(counts.accepts, counts.votes, mean, _GRID[:, None])
        accepted, rejected = yes @ weight + PRIOR, no @ weight + PRIOR
        moved = accepted / (accepted + rejected) - mean[:, 0]
        mean[:, 0] += moved
        if np.abs(moved).max() < 1e-6:
            break
    return log_likelihood(counts.accepts, counts.votes, mean, _GRID[:, None]) @ weight


def _top(profile: Floats) -> tuple[float, float]:
    """Return place and height of the top of the parabola (in log ICC) around the best point."""
    best = int(profile.argmax())
    if best in (0, len(_GRID) - 1):
        return float(_GRID[best]), float(profile[best])
    x = np.log(_GRID[best - 1 : best + 2])
    square, slope, _ = np.polyfit(x - x[1], profile[best - 1 : best + 2] - profile[best], 2)
    if square >= 0:
        return float(_GRID[best]), float(profile[best])
    step = float(np.clip(-slope / (2 * square), x[0] - x[1], x[2] - x[1]))
    return float(np.exp(x[1] + step)), float(profile[best] + slope * step + square * step**2)


def _inside(profile: Floats, floor: float) -> tuple[float, float]:
    """Return the ICCs between which the profile lies above ``floor``."""
    best = int(profile.argmax())
    below, above = profile[: best + 1], profile[best:][::-1]
    low = float(np.interp(floor, np.maximum.accumulate(below), _GRID[: best + 1], left=0.0))
    high = float(np.interp(floor, np.maximum.accumulate(above), _GRID[best:][::-1]))
    return low, high


def _half_quantile(level: float) -> float:
    return float(chdtri(1, 1.0 - level)) / 2
