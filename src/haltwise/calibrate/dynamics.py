"""What repair does to plans: alpha and beta from transitions whose two ends are labelled.

Ignorant of votes. Counts alone enter, for invalid plans (n0) and valid ones (n1) separately: beta
may rest on a handful. METHODS section 2, "Calibration".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv, betaln, xlogy

from ..record.repair_table import RepairTable
from ..stats.estimate import Estimate, undefined
from ..stats.likelihood import likelihood_ratio
from .emission import Counts, Floats

PRIOR = 0.5
"""Beta(1/2, 1/2), the Jeffreys prior, on alpha and on beta."""
BY_ROUND_LEVEL = 0.05
"""Significance at which rounds are found to differ."""
FEW = 20
"""Fewer labelled transitions than this are called a handful."""

_STRENGTHS = np.array([1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 1e9])
"""Candidates for how strongly a round is pulled to the mean of all rounds, in transitions."""


@dataclass(frozen=True)
class Transitions:
    """Labelled transitions of one kind by repair: how many, and in how many the plan changed."""

    changed: Counts
    """Transitions in which validity changed, by repair, shape (repairs,)."""
    total: Counts
    """All transitions from plans of this kind, by repair, shape (repairs,)."""

    @property
    def n(self) -> int:
        """Transitions over all repairs."""
        return int(self.total.sum())

    @property
    def x(self) -> int:
        """Changes over all repairs."""
        return int(self.changed.sum())


@dataclass(frozen=True)
class Rate:
    """alpha or beta: the posterior of the pooled rate, and rounds where they differ."""

    estimate: Estimate
    """The pooled rate for people; undefined where nothing was observed."""
    mean: float
    """The value to decide with: the posterior mean, 1/2 where nothing was observed."""
    by_round: tuple[float, ...] | None
    """Rate of the 1st, 2nd, ... repair where rounds differ, pulled to the mean; else None."""
    shape: tuple[float, float]
    """Parameters of the Beta posterior of the pooled rate."""

    def draws(self, n: int, repairs: int, rng: np.random.Generator) -> Floats:
        """Draw ``n`` rates by repair from the posterior, shape (n, repairs).

        Where rounds differ all of them move together, in log odds.
        """
        pooled = rng.beta(*self.shape, n)
        if self.by_round is None:
            return np.repeat(pooled[:, None], repairs, axis=1)
        rounds = np.array([self.by_round[min(k, len(self.by_round) - 1)] for k in range(repairs)])
        shift = np.log(pooled / (1 - pooled)) - np.log(self.mean / (1 - self.mean))
        odds = np.log(rounds / (1 - rounds)) + shift[:, None]
        return np.asarray(1.0 / (1.0 + np.exp(-odds)))


def count_transitions(table: RepairTable) -> tuple[Transitions, Transitions]:
    """Return the labelled transitions from invalid plans and from valid ones."""
    before, after = table.valid[:, :-1], table.valid[:, 1:]
    known = table.transitions
    result = []
    for kind in (0, 1):
        of_kind = known & (before == kind)
        result.append(Transitions((of_kind & (after != kind)).sum(axis=0), of_kind.sum(axis=0)))
    return result[0], result[1]


def is_gated(table: RepairTable) -> bool:
    """Whether the truth ended the loops: none goes on after a valid round, and some end at one.

    Seen in the record itself, whatever it says of itself. Such loops contain no transition from a
    valid plan, so that beta cannot be estimated from them.
    """
    known_valid = table.valid == 1
    last = table.length - 1
    ended_valid = known_valid[np.arange(len(table)), last] & (table.length > 1)
    went_on = known_valid & (np.arange(table.columns) < last[:, None])
    return bool(ended_valid.any() and not went_on.any())


def estimate_rate(
    name: str, transitions: Transitions, *, gated: bool = False, level: float = 0.95
) -> Rate:
    """Return the posterior of a rate under Beta(1/2, 1/2), pooled, or by round where rounds differ.

    Args:
        name: "alpha" or "beta", for the notes.
        transitions: labelled transitions from the plans of this kind.
        gated: whether the loops end when right (for beta).
        level: coverage of the interval.
    """
    x, n = transitions.x, transitions.n
    shape = (x + PRIOR, n - x + PRIOR)
    mean = shape[0] / (shape[0] + shape[1])
    method = "Beta(1/2, 1/2) posterior of labelled transitions"
    if n == 0:
        kind = "an invalid" if name == "alpha" else "a valid"
        why = "loops end when right" if gated else f"no labelled transition starts at {kind} plan"
        note = f"{name} not identified: {why}; decisions use the prior mean 1/2"
        return Rate(undefined(note, method=method, level=level), mean, None, shape)
    tail = (1 - level) / 2
    low, high = (float(betaincinv(*shape, q)) for q in (tail, 1 - tail))
    estimate = Estimate(mean, low, high, level, n, method)
    if n < FEW:
        estimate = estimate.noted(f"rests on {n} transitions")
    p = rounds_differ(transitions)
    if p >= BY_ROUND_LEVEL:
        return Rate(estimate, mean, None, shape)
    return Rate(estimate.noted(f"rounds differ (p = {p:.2g})"), mean, pooled(transitions), shape)


def rounds_differ(transitions: Transitions) -> float:
    """Return the p value of "one rate in every round" (likelihood ratio, chi square)."""
    seen = transitions.total > 0
    x, n = transitions.changed[seen], transitions.total[seen]
    if len(n) < 2:
        return 1.0
    one = float(_log_likelihood(x, n, x.sum() / n.sum()).sum())
    each = float(_log_likelihood(x, n, x / n).sum())
    return likelihood_ratio(one, each, len(n) - 1).p


def pooled(transitions: Transitions) -> tuple[float, ...]:
    """Return the rate of each round pulled toward the mean of all: partial pooling.

    Round k gets (x_k + s m) / (n_k + s), with m the pooled posterior mean; the strength s is the
    one of eight under which the counts are most likely (beta-binomial over rounds).
    """
    x, n = transitions.changed, transitions.total
    mean = (x.sum() + PRIOR) / (n.sum() + 2 * PRIOR)
    a, b = _STRENGTHS[:, None] * mean, _STRENGTHS[:, None] * (1 - mean)
    evidence = (betaln(x + a, n - x + b) - betaln(a, b)).sum(axis=1)
    strength = _STRENGTHS[int(evidence.argmax())]
    return tuple(((x + strength * mean) / (n + strength)).tolist())


def _log_likelihood(x: Counts, n: Counts, rate: npt.ArrayLike) -> Floats:
    p = np.asarray(rate)
    return np.asarray(xlogy(x, p) + xlogy(n - x, 1 - p))
