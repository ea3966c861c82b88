"""Is the sign of the gain known? The share of decisions that another plausible fit would reverse.

A repair decision depends on the sign of ``G - tau`` alone, with ``G = (1 - b) alpha - b beta``.
Knows beliefs and draws of the parameters; ignorant of how they were estimated. METHODS section 2,
"Sign identifiability".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..core.noise import NoiseModel
from .emission import Counts, Floats, log_choose, log_likelihood
from .fit import NoiseDraws

NODES = 1_000
"""Vote histories followed in one round; more are thinned to so many, of equal probability."""


@dataclass(frozen=True)
class Sign:
    """How sure the decisions of the one-step rule are."""

    p_flip: float
    """Mean over decision nodes of the share of draws that decide otherwise, in [0, 1]."""
    decided: float
    """Share of decisions at which the interval rule of [VRR] Eq. 8 acts, in [0, 1]."""
    repairs: float
    """Expected share of decisions, by the plug-in fit, that are "repair again"."""
    exact: bool
    """Whether all vote histories were followed, none thinned out."""

    def identified(self, eta: float) -> bool:
        """Whether P_flip is at most ``eta``."""
        return self.p_flip <= eta


def measure_sign(
    noise: NoiseModel,
    draws: NoiseDraws,
    votes: int,
    *,
    rounds: int = 5,
    tau: float = 0.0,
    eta: float = 0.05,
) -> Sign:
    """Follow the plug-in one-step rule through its vote histories, with every draw beside it.

    At each node that the plug-in policy reaches, weighted by its probability under the plug-in
    model, every draw filters the same votes with its own parameters and decides; the draws that
    differ are the flips. The interval rule acts where ``G - B > tau`` or ``G + B <= tau``, with B
    the (1 - eta) quantile of ``|G_draw - G|``.

    Args:
        noise: the plug-in fit.
        draws: parameter sets that the data leave possible; alpha and beta for ``rounds`` repairs.
        votes: votes on each plan; 0 follows the prior belief alone.
        rounds: repairs allowed, at least 1.
        tau: price of a repair.
        eta: error that the interval rule may make.
    """
    plug = NoiseDraws(
        np.array([noise.rho0]),
        np.array([noise.rho1]),
        np.array([noise.valid]),
        np.array([[noise.alpha_at(k) for k in range(1, rounds + 1)]]),
        np.array([[noise.beta_at(k) for k in range(1, rounds + 1)]]),
    )
    counts = np.arange(votes + 1)
    likelihood = _likelihoods(plug, counts, votes, noise.icc)
    by_draw = _likelihoods(draws, counts, votes, noise.icc)
    valid, invalid = plug.valid.copy(), 1.0 - plug.valid  # joint with the history, one node
    beliefs = draws.valid[:, None]
    total = flipped = acted = repaired = 0.0
    exact = True
    for k in range(rounds):
        valid = (valid[:, None] * likelihood[1][0]).ravel()
        invalid = (invalid[:, None] * likelihood[0][0]).ravel()
        if len(valid) > NODES:
            exact = False
            valid, invalid, kept = _thinned(valid, invalid)
        else:
            kept = np.arange(len(valid))
        # The draws follow the kept branches alone: with many votes all of them would not fit.
        node, count = np.divmod(kept, votes + 1)
        beliefs = _updated(beliefs[:, node], by_draw[0][:, count], by_draw[1][:, count])
        reach = valid + invalid
        belief = np.divide(valid, reach, out=np.zeros_like(reach), where=reach > 0)
        gain = _gain(belief, plug.alpha[0, k], plug.beta[0, k])
        gains = _gain(beliefs, draws.alpha[:, k, None], draws.beta[:, k, None])
        go_on = gain > tau
        bound = np.quantile(np.abs(gains - gain), 1.0 - eta, axis=0)
        total += float(reach.sum())
        flipped += float(reach @ ((gains > tau) != go_on).mean(axis=0))
        acted += float(reach @ ((gain - bound > tau) | (gain + bound <= tau)))
        repaired += float(reach[go_on].sum())
        if not go_on.any():
            break
        a, b = plug.alpha[0, k], plug.beta[0, k]
        valid, invalid = valid[go_on], invalid[go_on]
        valid, invalid = (1 - b) * valid + a * invalid, b * valid + (1 - a) * invalid
        a_draw, b_draw = draws.alpha[:, k, None], draws.beta[:, k, None]
        beliefs = beliefs[:, go_on]
        beliefs = (1 - b_draw) * beliefs + a_draw * (1 - beliefs)
    return Sign(flipped / total, acted / total, repaired / total, exact)


def _thinned(valid: Floats, invalid: Floats) -> tuple[Floats, Floats, npt.NDArray[np.intp]]:
    """Draw `NODES` nodes in proportion to their probability, evenly along the belief.

    Systematic sampling: unbiased for every mean over nodes, without a random number.
    """
    reach = valid + invalid
    order = np.argsort(valid / np.maximum(reach, 1e-300), kind="stable")
    edges = reach[order].cumsum()
    places = (np.arange(NODES) + 0.5) * (edges[-1] / NODES)
    kept = order[np.searchsorted(edges, places).clip(max=len(order) - 1)]
    scale = edges[-1] / NODES / reach[kept]
    return valid[kept] * scale, invalid[kept] * scale, kept


def _gain(belief: Floats, alpha: Floats, beta: Floats) -> Floats:
    return (1.0 - belief) * alpha - belief * beta


def _likelihoods(
    draws: NoiseDraws, counts: Counts, votes: int, icc: float
) -> tuple[Floats, Floats]:
    """Return P(count | invalid) and P(count | valid), shape (draws, votes + 1) each."""
    given = np.full_like(counts, votes)
    chosen = log_choose(given, counts)
    zero = log_likelihood(counts, given, draws.rho0[:, None], icc) + chosen
    one = log_likelihood(counts, given, 1.0 - draws.rho1[:, None], icc) + chosen
    return np.exp(zero), np.exp(one)


def _updated(beliefs: Floats, zero: Floats, one: Floats) -> Floats:
    """Return beliefs after votes that have these likelihoods given an invalid and a valid plan."""
    ones = beliefs * one
    both = ones + (1.0 - beliefs) * zero
    return np.divide(ones, both, out=np.full_like(both, 0.5), where=both > 0)
