"""Vote noise from single plans: EM for a mixture of two (beta-)binomials.

Works on counts of plans by (accepts, votes), which are sufficient, so a fit costs the same for 300
plans as for 300,000, and many replicates are fitted at once. Plans with a known label are clamped
to it. Knows nothing of loops; `haltwise.calibrate.chain` does. METHODS section 2, "Calibration".
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from ..core.errors import InputError
from .em import BOUND, Maximum, logit, maximise
from .emission import Counts, Floats, effective, log_choose, log_likelihood

PRIOR = 0.5
"""Default pseudo-count on each side of every probability: half a vote, half a plan.

With 300 plans of 8 votes it moves nothing where J >= .3. Where J is near 0 the likelihood is a flat
ridge; maximum likelihood (0, the published label-free system) then ends anywhere on it, with two to
four times the error of this prior: RMSE of rho0 .136 against .035 at J = .03, .152 against .072 at
J = .1 (pi = .7, 200 seeds).
"""

TINY = 1e-12
"""Keeps the logarithm of an empty tally finite."""

MIN_VOTES = 3
"""Votes per plan without which a binomial mixture is not identified (Teicher 1963)."""


@dataclass(frozen=True)
class VoteCounts:
    """Plans by their votes and label. The leading axis of the tallies is replicates."""

    accepts: Counts
    """Accepting votes of each cell, shape (cells,)."""
    votes: Counts
    """Votes of each cell, shape (cells,)."""
    unknown: Floats
    """Initial plans whose truth is not known, shape (replicates, cells)."""
    invalid: Floats
    """Plans known to be invalid, of any round, shape (replicates, cells)."""
    valid: Floats
    """Plans known to be valid, of any round, shape (replicates, cells)."""
    first_invalid: Floats
    """Initial plans known to be invalid, shape (replicates,): they enter pi."""
    first_valid: Floats
    """Initial plans known to be valid, shape (replicates,)."""

    @property
    def labelled(self) -> VoteCounts:
        """The plans with a label alone."""
        return replace(self, unknown=np.zeros_like(self.unknown))

    @property
    def unlabelled(self) -> VoteCounts:
        """The plans without a label alone."""
        none, nothing = np.zeros_like(self.unknown), np.zeros_like(self.first_valid)
        return replace(self, invalid=none, valid=none, first_invalid=nothing, first_valid=nothing)

    @classmethod
    def of_first_plans(
        cls, accepts: Counts, votes: int, valid: npt.NDArray[np.int8] | None = None
    ) -> VoteCounts:
        """Tally initial plans, each with the same number of votes.

        Args:
            accepts: accepting votes, shape (replicates, plans).
            votes: votes on every plan.
            valid: 1, 0 or -1 (not known), same shape as ``accepts``; None: none is known.
        """
        truth = np.full(accepts.shape, -1) if valid is None else valid
        cells = np.arange(votes + 1)
        tally = [
            ((accepts[:, :, None] == cells) & (truth == label)[:, :, None])
            .sum(axis=1)
            .astype(np.float64)
            for label in (-1, 0, 1)
        ]
        return cls(
            cells.astype(np.int64),
            np.full(votes + 1, votes, dtype=np.int64),
            tally[0],
            tally[1],
            tally[2],
            tally[1].sum(axis=1),
            tally[2].sum(axis=1),
        )


@dataclass(frozen=True)
class MixtureFit:
    """The maximum of each replicate; arrays of shape (replicates,)."""

    rho0: Floats
    """P(a vote accepts | invalid)."""
    rho1: Floats
    """P(a vote rejects | valid)."""
    valid: Floats
    """pi, P(an initial plan is valid)."""
    log_likelihood: Floats
    """Log likelihood of the votes, binomial coefficients included, without the prior."""
    converged: npt.NDArray[np.bool_]
    """Whether EM came to rest."""


def fit_mixture(
    counts: VoteCounts, *, icc: float = 0.0, prior: float = PRIOR, tolerance: float = 1e-5
) -> MixtureFit:
    """Fit rho0, rho1 and pi by EM; three starts a replicate, the best likelihood wins.

    Without any label the two components are told apart by J > 0; with labels, by the labels.

    Args:
        counts: the plans.
        icc: correlation of two votes on one plan, held fixed.
        prior: pseudo-count on each side of every probability; 0 is maximum likelihood.
        tolerance: largest change of a logit in one EM step at which a fit has converged.

    Raises:
        InputError: there is no label and no plan has three votes: no mixture can be told apart.
    """
    labelled = (counts.invalid.sum(axis=1) > 0) | (counts.valid.sum(axis=1) > 0)
    if not labelled.all():
        require_three(int(counts.votes.max(initial=0)))
    starts = np.stack([_start(counts, quantile) for quantile in (0.25, 0.5, 0.75)], axis=1)
    replicates = len(starts)
    maximum = maximise(
        _Step(counts, icc, prior), starts.reshape(replicates * 3, 3), tolerance=tolerance
    )
    objective = maximum.objective.reshape(replicates, 3)
    best = np.arange(replicates) * 3 + objective.argmax(axis=1)
    return _oriented(counts, icc, maximum, best, labelled)


def require_three(votes: int) -> None:
    """Refuse to calibrate without labels on fewer than three votes a plan.

    Raises:
        InputError: ``votes``, the most votes on one plan, is below 3.
    """
    if votes < MIN_VOTES:
        words = {0: "no votes", 1: "one vote per plan", 2: "two votes per plan"}
        raise InputError(
            f"{words[votes]}: label-free calibration needs at least {MIN_VOTES}; give labels"
        )


def _oriented(
    counts: VoteCounts,
    icc: float,
    maximum: Maximum,
    best: npt.NDArray[np.int64],
    labelled: npt.NDArray[np.bool_],
) -> MixtureFit:
    low, high, valid = expit(maximum.theta[best]).T
    swapped = (low > high) & ~labelled
    low, high = np.where(swapped, high, low), np.where(swapped, low, high)
    valid = np.where(swapped, 1.0 - valid, valid)
    return MixtureFit(
        low,
        1.0 - high,
        valid,
        mixture_log_likelihood(counts, low, 1.0 - high, valid, icc),
        maximum.converged[best],
    )


def mixture_log_likelihood(
    counts: VoteCounts, rho0: Floats, rho1: Floats, valid: Floats, icc: float = 0.0
) -> Floats:
    """Return the log likelihood of each replicate at its parameters, coefficients included."""
    zero, one = _emissions(counts, rho0, 1.0 - rho1, icc)
    both = np.logaddexp(np.log1p(-valid)[:, None] + zero, np.log(valid)[:, None] + one)
    coefficient = log_choose(counts.votes, counts.accepts)
    tallies = counts.unknown + counts.invalid + counts.valid
    return np.asarray(
        (counts.unknown * both + counts.invalid * zero + counts.valid * one).sum(axis=1)
        + (tallies * coefficient).sum(axis=1)
        + counts.first_invalid * np.log1p(-valid)
        + counts.first_valid * np.log(valid)
    )


def _emissions(counts: VoteCounts, low: Floats, high: Floats, icc: float) -> tuple[Floats, Floats]:
    return (
        log_likelihood(counts.accepts, counts.votes, low[:, None], icc),
        log_likelihood(counts.accepts, counts.votes, high[:, None], icc),
    )


class _Step:
    """One EM step for several (replicate, start) pairs; parameters are logits of low, high, pi."""

    def __init__(self, counts: VoteCounts, icc: float, prior: float) -> None:
        self.counts, self.icc, self.prior = counts, icc, prior

    def __call__(self, theta: Floats, fits: npt.NDArray[np.int64]) -> tuple[Floats, Floats]:
        counts, row = self.counts, fits // 3
        low, high, pi = expit(theta).T
        zero, one = _emissions(counts, low, high, self.icc)
        zero_joint, one_joint = np.log1p(-pi)[:, None] + zero, np.log(pi)[:, None] + one
        both = np.logaddexp(zero_joint, one_joint)
        unknown, invalid, valid = counts.unknown[row], counts.invalid[row], counts.valid[row]
        first_invalid, first_valid = counts.first_invalid[row], counts.first_valid[row]
        responsible = unknown * np.exp(one_joint - both)
        ones, zeros = valid + responsible, invalid + unknown - responsible
        likelihood = (
            (unknown * both + invalid * zero + valid * one).sum(axis=1)
            + first_valid * np.log(pi)
            + first_invalid * np.log1p(-pi)
        )
        prior = self.prior * (np.log(expit(theta)) + np.log(expit(-theta))).sum(axis=1)
        successes = first_valid + responsible.sum(axis=1)
        failures = first_invalid + (unknown - responsible).sum(axis=1)
        return np.stack(
            [
                self._mean(zeros, low),
                self._mean(ones, high),
                self._log_odds(successes, failures),
            ],
            axis=1,
        ), likelihood + prior

    def _mean(self, weight: Floats, mean: Floats) -> Floats:
        yes, no = effective(self.counts.accepts, self.counts.votes, mean[:, None], self.icc)
        return self._log_odds((weight * yes).sum(axis=1), (weight * no).sum(axis=1))

    def _log_odds(self, successes: Floats, failures: Floats) -> Floats:
        odds = np.log(successes + self.prior + TINY) - np.log(failures + self.prior + TINY)
        return np.asarray(np.clip(odds, -BOUND, BOUND))


def _start(counts: VoteCounts, quantile: float) -> Floats:
    """Split the plans at a quantile of their accept share; return the halves as a start."""
    voted = counts.votes > 0
    share = np.where(voted, counts.accepts / np.maximum(counts.votes, 1), 0.0)
    order = np.argsort(share, kind="stable")
    weight = ((counts.unknown + counts.invalid + counts.valid) * voted)[:, order]
    total = weight.sum(axis=1, keepdims=True)
    below = np.clip(quantile * total - (weight.cumsum(axis=1) - weight), 0.0, weight)
    above = weight - below
    low = (below * share[order]).sum(axis=1) / np.maximum(below.sum(axis=1), 1e-9)
    high = (above * share[order]).sum(axis=1) / np.maximum(above.sum(axis=1), 1e-9)
    pi = np.full(len(low), 1.0 - quantile)
    return logit(np.clip(np.stack([low, high, pi], axis=1), 0.02, 0.98))
