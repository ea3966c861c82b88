"""Noise from whole loops: EM on the two-state chain with noisy votes, known labels clamped.

A loop is a hidden Markov chain: the plan is valid or not, every repair may mend or break it, the
votes of a round depend on the plan alone. Forward and backward passes run over all loops (and all
starts) at once. Where a loop ends may depend on its votes or on known truths, not on hidden ones.
METHODS section 2, "Calibration", "Whole loops".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from ..record.repair_table import RepairTable
from .em import BOUND, maximise
from .emission import Counts, Floats, effective, log_likelihood
from .votes import PRIOR, TINY

_SCOUTS = 2_000
"""Loops on which the three starts are compared; the best one goes on with all."""


@dataclass(frozen=True)
class ChainModel:
    """Which parameters a fit has, and in what order its logits stand.

    Order: rho0, 1 - rho1, pi, then alpha and beta: one each, or one a repair.
    """

    alphas: int = 1
    """1, or the number of repairs of the longest loop: alpha by round."""
    betas: int = 1
    """1, or the number of repairs of the longest loop: beta by round."""
    icc: float = 0.0
    """Correlation of two votes on one plan, held fixed."""
    free: tuple[bool, bool, bool] = (True, True, True)
    """Whether votes (rho0, rho1), pi and repair (alpha, beta) are estimated; else held."""

    @property
    def size(self) -> int:
        """Number of parameters."""
        return 3 + self.alphas + self.betas

    def split(self, theta: Floats, repairs: int) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """Return low (rho0), high (1 - rho1), pi, alpha (fits, repairs), beta (fits, repairs)."""
        p = expit(theta)
        alpha, beta = p[:, 3 : 3 + self.alphas], p[:, 3 + self.alphas :]
        shape = (len(p), repairs)
        return (
            p[:, 0],
            p[:, 1],
            p[:, 2],
            np.broadcast_to(alpha, shape) if self.alphas == 1 else alpha,
            np.broadcast_to(beta, shape) if self.betas == 1 else beta,
        )


@dataclass(frozen=True)
class ChainFit:
    """The maximum that EM found."""

    model: ChainModel
    """What was estimated."""
    theta: Floats
    """Logits in the order of the model, shape (size,)."""
    log_likelihood: float
    """Log likelihood without binomial coefficients and without the prior."""
    converged: bool
    """Whether EM came to rest."""


@dataclass(frozen=True)
class Posterior:
    """What the votes say about every plan of every loop, for several parameter sets."""

    valid: Floats
    """P(plan valid | all votes and labels of its loop), shape (fits, n, columns)."""
    mended: Floats
    """P(invalid before, valid after repair k), shape (fits, n, repairs); 0 past the end."""
    broken: Floats
    """P(valid before, invalid after repair k), shape (fits, n, repairs)."""
    log_likelihood: Floats
    """Log probability of each loop without binomial coefficients, shape (fits, n)."""


@dataclass(frozen=True)
class Chain:
    """Loops prepared for fitting: distinct vote counts are evaluated once, then looked up."""

    table: RepairTable
    """The loops."""
    prior: float = PRIOR
    """Pseudo-count on each side of every probability."""
    initial: npt.NDArray[np.bool_] | None = None
    """Whether column 0 of a loop is an initial plan, so that it tells about pi; None: in all."""
    cells: Counts = field(init=False)
    """Distinct (accepts, votes), shape (cells, 2)."""
    cell: npt.NDArray[np.intp] = field(init=False)
    """Index into ``cells``, shape (n, columns)."""
    repaired: npt.NDArray[np.bool_] = field(init=False)
    """Whether the loop made repair k + 1, shape (n, columns - 1)."""

    def __post_init__(self) -> None:
        table = self.table
        pairs = np.stack([table.accepts, table.votes], axis=-1).reshape(-1, 2)
        cells, cell = np.unique(pairs, axis=0, return_inverse=True)
        object.__setattr__(self, "cells", cells)
        object.__setattr__(self, "cell", cell.reshape(table.accepts.shape))
        later = np.arange(1, table.columns)
        object.__setattr__(self, "repaired", later < table.length[:, None])

    @property
    def repairs(self) -> int:
        """Repairs of the longest loop."""
        return self.table.columns - 1

    def posterior(self, model: ChainModel, theta: Floats) -> Posterior:
        """Return the smoothed posterior of every plan (forward-backward), labels clamped.

        Args:
            model: what the parameters are.
            theta: logits, shape (fits, size).
        """
        low, high, pi, alpha, beta = model.split(theta, self.repairs)
        zero, one, scale = self._emissions(low, high, model.icc)
        fits, n, columns = zero.shape
        ahead_one = np.empty((fits, n, columns))  # P(valid | votes so far)
        log_likelihood = scale.sum(axis=2)
        before = np.where(self._counts_for_pi > 0, pi[:, None], 0.5)
        for k in range(columns):
            if k:
                b = ahead_one[:, :, k - 1]
                moved = (1.0 - beta[:, None, k - 1]) * b + alpha[:, None, k - 1] * (1.0 - b)
                before = np.where(self.repaired[:, k - 1], moved, b)
            joint_one, joint_zero = before * one[:, :, k], (1.0 - before) * zero[:, :, k]
            both = joint_one + joint_zero
            ahead_one[:, :, k] = joint_one / both
            log_likelihood += np.log(both)
        valid = np.empty_like(ahead_one)
        valid[:, :, -1] = ahead_one[:, :, -1]
        mended = np.zeros((fits, n, self.repairs))
        broken = np.zeros((fits, n, self.repairs))
        for k in range(self.repairs - 1, -1, -1):
            b, after = ahead_one[:, :, k], valid[:, :, k + 1]
            a_k, b_k = alpha[:, None, k], beta[:, None, k]
            becomes = (1.0 - b_k) * b + a_k * (1.0 - b)
            # P(before | after): split the smoothed "after" over where it came from
            came_mended = after * a_k * (1.0 - b) / np.maximum(becomes, TINY)
            came_broken = (1.0 - after) * b_k * b / np.maximum(1.0 - becomes, TINY)
            made = self.repaired[:, k]
            mended[:, :, k] = np.where(made, came_mended, 0.0)
            broken[:, :, k] = np.where(made, came_broken, 0.0)
            valid[:, :, k] = np.where(made, after - came_mended + came_broken, after)
        return Posterior(np.clip(valid, 0.0, 1.0), mended, broken, log_likelihood)

    def scores(self, model: ChainModel, theta: Floats) -> Floats:
        """Return each loop's score in the logits, shape (fits, n, size), prior not included.

        Fisher's identity: the expected score of the complete data given what was seen.
        """
        found = self.posterior(model, theta)
        low, high, pi, alpha, beta = model.split(theta, self.repairs)
        yes, no = self._successes(found, model, theta)
        parts = [
            yes[:, :, 0] * (1 - low[:, None]) - no[:, :, 0] * low[:, None],
            yes[:, :, 1] * (1 - high[:, None]) - no[:, :, 1] * high[:, None],
            (found.valid[:, :, 0] - pi[:, None]) * self._counts_for_pi,
        ]
        scores = np.stack(parts, axis=2)
        made = np.where(self.repaired, 1.0, 0.0)
        ones = found.valid[:, :, :-1] * made
        by_alpha = found.mended - alpha[:, None, :] * (made - ones)
        by_beta = found.broken - beta[:, None, :] * ones
        if model.alphas == 1:
            by_alpha = by_alpha.sum(axis=2, keepdims=True)
        if model.betas == 1:
            by_beta = by_beta.sum(axis=2, keepdims=True)
        return np.concatenate([scores, by_alpha, by_beta], axis=2)

    def step(self, model: ChainModel, theta: Floats) -> tuple[Floats, Floats]:
        """Do one EM step; return the next logits and the objective (with prior) at ``theta``."""
        found = self.posterior(model, theta)
        yes, no = self._successes(found, model, theta)
        made = np.where(self.repaired, 1.0, 0.0)
        ones = found.valid[:, :, :-1] * made
        alpha_yes, alpha_no = _tally(found.mended, made - ones - found.mended, model.alphas)
        beta_yes, beta_no = _tally(found.broken, ones - found.broken, model.betas)
        initial = self._counts_for_pi
        first = (found.valid[:, :, 0] * initial).sum(axis=1, keepdims=True)
        yeses = np.concatenate([yes.sum(axis=1), first, alpha_yes, beta_yes], axis=1)
        noes = np.concatenate([no.sum(axis=1), initial.sum() - first, alpha_no, beta_no], axis=1)
        odds = np.log(np.maximum(yeses, 0) + self.prior + TINY)
        odds -= np.log(np.maximum(noes, 0) + self.prior + TINY)
        held = self.held(model)
        prior = self.prior * (np.log(expit(theta)) + np.log(expit(-theta)))[:, ~held].sum(axis=1)
        return (
            np.where(held, theta, np.clip(odds, -BOUND, BOUND)),
            found.log_likelihood.sum(axis=1) + prior,
        )

    def fit(self, model: ChainModel, starts: Floats) -> ChainFit:
        """Run EM from every row of ``starts`` and return the best maximum.

        Long records are scouted on their first 2,000 loops; the best start goes on with all.
        """
        if len(starts) > 1:
            scouts = self
            if len(self.table) > _SCOUTS:
                some = np.arange(_SCOUTS)
                initial = None if self.initial is None else self.initial[some]
                scouts = Chain(self.table.rows(some), self.prior, initial)
            tried = maximise(lambda theta, _: scouts.step(model, theta), starts)
            best = tried.theta[[int(tried.objective.argmax())]]
        else:
            best = starts
        found = maximise(lambda theta, _: self.step(model, theta), best)
        likelihood = self.posterior(model, found.theta).log_likelihood.sum()
        return ChainFit(model, found.theta[0], float(likelihood), bool(found.converged[0]))

    @cached_property
    def _counts_for_pi(self) -> Floats:
        if self.initial is None:
            return np.ones(len(self.table))
        return np.where(self.initial, 1.0, 0.0)

    def held(self, model: ChainModel) -> npt.NDArray[np.bool_]:
        """Return which logits are held at their start, shape (size,)."""
        votes, pi, repair = model.free
        free = [votes, votes, pi] + [repair] * (model.alphas + model.betas)
        return ~np.array(free)

    def _emissions(self, low: Floats, high: Floats, icc: float) -> tuple[Floats, Floats, Floats]:
        """Return P(votes | invalid), P(votes | valid), both over exp(scale), and the scale."""
        accepts, votes = self.cells[:, 0], self.cells[:, 1]
        zero = log_likelihood(accepts, votes, low[:, None], icc)
        one = log_likelihood(accepts, votes, high[:, None], icc)
        zero, one = zero[:, self.cell], one[:, self.cell]
        truth = self.table.valid
        # a clamped label leaves the other state impossible, and scales by the state that is there
        scale = np.where(truth == 0, zero, np.where(truth == 1, one, np.maximum(zero, one)))
        return (
            np.where(truth == 1, 0.0, np.exp(zero - scale)),
            np.where(truth == 0, 0.0, np.exp(one - scale)),
            scale,
        )

    def _successes(
        self, found: Posterior, model: ChainModel, theta: Floats
    ) -> tuple[Floats, Floats]:
        """Return expected (discounted) accepts and rejects by loop, of invalid and valid plans.

        Both of shape (fits, n, 2).
        """
        accepts, votes = self.cells[:, 0], self.cells[:, 1]
        mean = expit(theta[:, :2])
        yes, no = [], []
        for weight, p in ((1.0 - found.valid, mean[:, :1]), (found.valid, mean[:, 1:])):
            accepted, rejected = effective(accepts, votes, p, model.icc)
            accepted = np.broadcast_to(accepted, (len(theta), len(self.cells)))
            rejected = np.broadcast_to(rejected, (len(theta), len(self.cells)))
            yes.append((weight * accepted[:, self.cell]).sum(axis=2))
            no.append((weight * rejected[:, self.cell]).sum(axis=2))
        return np.stack(yes, axis=2), np.stack(no, axis=2)


def _tally(yes: Floats, no: Floats, parameters: int) -> tuple[Floats, Floats]:
    axis: tuple[int, ...] = (1, 2) if parameters == 1 else (1,)
    keep = yes.sum(axis=axis), no.sum(axis=axis)
    if parameters == 1:
        return keep[0][:, None], keep[1][:, None]
    return keep
