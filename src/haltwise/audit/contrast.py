"""The time-matched contrast: does a run of nothing but useless results make an answer likelier?

METHODS section 1, "Time-matched contrast (delta)". At the same decision point t, agents whose
results were all useless are compared with agents that saw something else before.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..stats.bootstrap import poisson_resample
from ..stats.estimate import Estimate, undefined
from ..stats.ratios import pooled_risk_difference
from .scope import scope
from .tally import Sample
from .trajectories import Bools, Trajectories
from .verdicts import NO_VERDICTS, any_verdict

METHOD = "Mantel-Haenszel risk difference over decision points"


@dataclass(frozen=True, slots=True)
class Stratum:
    """The four counts of one decision point."""

    t: int
    """Decision point: results seen so far."""
    n1: int
    """Decisions after nothing but useless results (r_t = t)."""
    x1: int
    """Answers among them."""
    n0: int
    """Decisions after a useless result with something else before (1 <= r_t <= t - 2)."""
    x0: int
    """Answers among them."""


@dataclass(frozen=True)
class Contrast:
    """The contrast with the counts that it comes from."""

    estimate: Estimate
    """Difference in the probability of answering next, in [-1, 1]; n = clusters."""
    strata: tuple[Stratum, ...]
    """Counts of every decision point from 3 to budget - 2."""

    def to_json(self) -> dict[str, Any]:
        """Return the estimate as a JSON object with ``strata`` added."""
        return {**self.estimate.to_json(), "strata": [asdict(s) for s in self.strata]}


def contrast(sample: Sample, *, level: float, replicates: int, seed: int) -> Contrast:
    """Return the contrast with a percentile interval over clusters.

    Clusters are resampled by the Poisson bootstrap, whose result does not depend on shards.
    Undefined where no decision point has both groups; the note then says what is missing.
    """
    keep, note = scope(sample)
    points = range(3, sample.budget - 1)
    rows, counts = sample.pooled(sample.values(lambda rows: cells(rows, sample.budget)), keep)
    used = rows.any(axis=1)
    rows, counts = rows[used], counts[used]
    totals = (counts @ rows).reshape(4, len(points))
    strata = tuple(Stratum(t, *column) for t, column in zip(points, totals.T.tolist(), strict=True))
    missing = _missing(strata, sample.budget) if any_verdict(sample) else NO_VERDICTS
    if missing:
        empty = undefined(missing, n=int(counts.sum()), method=METHOD, level=level)
        return Contrast(empty.noted(note) if note else empty, strata)
    n1, x1, n0, x0 = np.arange(4 * len(points)).reshape(4, len(points)).tolist()
    resamples = poisson_resample(rows, counts=counts, replicates=replicates, seed=seed)
    found = resamples.estimate(pooled_risk_difference(n1, x1, n0, x0), level=level)
    notes = "; ".join(text for text in (found.note, note) if text)
    method = f"{METHOD}; {found.method}"
    estimate = Estimate(found.value, found.low, found.high, level, found.n, method, notes)
    return Contrast(estimate, strata)


def cells(trajectories: Trajectories, budget: int) -> Bools:
    """Return n1, x1, n0, x0 of each outline by decision point, shape (m, 4 x points)."""
    t = np.arange(3, budget - 1)
    columns = slice(2, max(2, budget - 2))
    run = trajectories.run[:, columns]
    here = (trajectories.decision & trajectories.useless)[:, columns]
    here &= t <= trajectories.limit[:, None] - 2
    answers = trajectories.answers_next[:, columns]
    all_useless = here & (run == t)
    mixed = here & (run >= 1) & (run <= t - 2)
    return np.hstack([all_useless, all_useless & answers, mixed, mixed & answers])


def _missing(strata: tuple[Stratum, ...], budget: int) -> str:
    """Return why the contrast is undefined, or "" if it is not."""
    if not strata:
        return f"a budget of {budget} leaves no decision point from 3 to budget - 2; it needs 5"
    if any(s.n1 and s.n0 for s in strata):
        return ""
    if not any(s.n1 or s.n0 for s in strata):
        return f"no result was called useless at a decision point from 3 to {budget - 2}"
    if not any(s.n1 for s in strata):
        return "no episode had nothing but useless results up to a third decision point"
    if not any(s.n0 for s in strata):
        return "no episode had a useless result after one of another kind two steps or more before"
    return "no decision point has both kinds of episodes"
