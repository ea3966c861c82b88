"""Exact evaluation of rules that stop at a threshold of the belief and deliver the newest plan.

A node is an interval of the *policy's* log odds with the *true* probability mass of the histories
in it. Masses follow the true chain whatever the interval is, so merging nodes costs nothing unless
an interval lies across a threshold: only then do some of its histories get the wrong decision, and
their mass bounds the error. METHODS section 2, "Exact evaluation".
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..core.noise import NoiseModel
from ..core.policies.threshold import ThresholdPolicy
from ..core.validity import log_odds
from .exact_chain import (
    Array,
    Flags,
    Tally,
    prior,
    repaired_odds,
    transition,
    updated_odds,
    vote_likelihood,
    vote_ratios,
)

LIMIT = 200_000
"""Nodes of a round beyond which beliefs merge onto a grid."""
TOLERANCE = 1e-4
"""Error bound that the grid is refined for."""
_EQUAL = 1e-10  # log odds that differ by less are one belief
_CELLS = (1 << 12, 1 << 14, 1 << 16, 1 << 18)


def evaluate_threshold(
    policy: ThresholdPolicy, noise: NoiseModel, votes: int, rounds: int, limit: int = LIMIT
) -> Tally:
    """Return what ``policy`` (without recall) delivers where ``noise`` is the truth.

    The grid is refined until the error bound is at most `TOLERANCE`, or at its finest.
    """
    for cells in _CELLS:
        tally = _forward(policy, noise, votes, rounds, limit, cells)
        if tally.error <= TOLERANCE:
            break
    return tally


def _forward(
    policy: ThresholdPolicy, noise: NoiseModel, votes: int, rounds: int, limit: int, cells: int
) -> Tally:
    tally = Tally(rounds)
    likelihood, ratios = vote_likelihood(noise, votes), vote_ratios(policy.noise, votes)
    majority = 2 * np.arange(votes + 1) > votes
    limits = [log_odds(b) for b in policy.thresholds(votes)]
    low = high = np.array([log_odds(policy.noise.valid)])
    mass = prior(noise)[None, :]
    for k in range(rounds + 1):
        if k:
            mass = mass @ transition(noise, k)
            alpha, beta = policy.noise.alpha_at(k), policy.noise.beta_at(k)
            exact, ends = high is low, (low, high)
            low = high = repaired_odds(ends[0], alpha, beta)
            if not exact:
                other = repaired_odds(ends[1], alpha, beta)
                low, high = np.minimum(low, other), np.maximum(low, other)
        exact = high is low
        children = mass[:, None, :] * likelihood
        total = children.sum(axis=2)
        low = updated_odds(low, ratios)
        high = low if exact else updated_odds(high, ratios)
        threshold = limits[k] if k < min(rounds, policy.rounds) else -np.inf
        go_on = high < threshold
        if not exact:
            # Some of these histories should go on, and stop here. A rule that knows the truth only
            # goes on where that makes the plan better, so it can gain where the plan is invalid.
            unclear = children[(low < threshold) & ~go_on]
            cost = unclear[:, 0] if policy.noise == noise else unclear.max(axis=1)
            tally.error += float(cost.sum())
        accepted = np.broadcast_to(majority, go_on.shape)
        tally.stopped[k] = total[~go_on].sum()
        tally.valid[k] = children[..., 1][~go_on].sum()
        tally.accepted[k] = total[~go_on & accepted].sum()
        tally.running_valid[k] = children[..., 1][go_on].sum()
        tally.running_accepted[k] = total[go_on & accepted].sum()
        go_on &= total > 0
        low, mass = low[go_on], children[go_on]
        high = low if exact else high[go_on]
        low, high, mass = _merged(low, high, mass, limit, cells)
        tally.merged |= high is not low
        tally.nodes = max(tally.nodes, len(low))
    return tally


def _merged(
    low: Array, high: Array, mass: Array, limit: int, cells: int
) -> tuple[Array, Array, Array]:
    """Merge equal beliefs; beyond ``limit`` nodes, all beliefs of one of ``cells`` cells."""
    if len(low) < 2:
        return low, high, mass
    same = high is low
    order = np.argsort(low, kind="stable")
    low, mass = low[order], mass[order]
    high = low if same else high[order]
    first = _starts(np.diff(np.nan_to_num(low, posinf=1e9, neginf=-1e9)) > _EQUAL)
    if len(first) > limit:
        inside = np.clip(low, -40.0, 40.0)
        width = (inside[-1] - inside[0]) / cells
        first = _starts(np.diff(np.floor((inside - inside[0]) / width)) > 0)
        return low[first], np.maximum.reduceat(high, first), np.add.reduceat(mass, first, axis=0)
    if len(first) == len(low):
        return low, high, mass
    merged = low[first]
    high = merged if same else np.maximum.reduceat(high, first)
    return merged, high, np.add.reduceat(mass, first, axis=0)


def _starts(breaks: Flags) -> npt.NDArray[np.intp]:
    return np.concatenate((np.zeros(1, dtype=np.intp), np.flatnonzero(breaks) + 1))
