"""Exact evaluation of rules that stop at a threshold of the belief and may deliver an older plan.

When such a rule stops is evaluated by `exact_belief`; here follows what delivering the likeliest
plan instead of the newest adds. All that a rule needs to know of an older plan is a *line*:
P(plan valid | newest plan invalid) and P(plan valid | newest plan valid), given the votes so far.
Its posterior is the line at the belief in the newest plan. A repair mixes the two ends, later votes
do not move them, and a line that lies below another one at both ends is never delivered, so a few
lines are the whole memory.

Lines do not merge onto a grid as beliefs do. Beyond the limit the histories that still go on are
taken to deliver their newest plan, and what an older one could have added is the error bound.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..core.noise import NoiseModel
from ..core.policies.threshold import ThresholdPolicy
from ..core.validity import log_odds
from .exact_belief import evaluate_threshold
from .exact_chain import (
    Array,
    Tally,
    belief,
    prior,
    repaired_odds,
    transition,
    updated_odds,
    vote_likelihood,
    vote_ratios,
)

_TIE = 1e-12
_ONLY_VALID = np.array([0.0, 1.0])


@dataclass(frozen=True)
class Nodes:
    """The histories of a round, before the votes on its plan. Columns are (invalid, valid)."""

    odds: Array
    """The policy's log odds of the newest plan, shape (n,)."""
    mass: Array
    """True probability of the history with the newest plan (invalid, valid), shape (n, 2)."""
    lines: Array
    """The policy's lines of the older plans, shape (n, L, 2); -1 where there is no line."""
    valid: Array
    """True probability that the older plan is valid and the newest (invalid, valid), (n, L, 2)."""
    accepted: Array
    """The same with "most votes accepted the older plan"."""

    def __len__(self) -> int:
        return len(self.odds)

    @classmethod
    def initial(cls, own: NoiseModel, noise: NoiseModel) -> Nodes:
        """Return the one history before any vote."""
        none = np.empty((1, 0, 2))
        return cls(np.array([log_odds(own.valid)]), prior(noise)[None, :], none, none, none)

    def repaired(self, own: NoiseModel, noise: NoiseModel, repair: int) -> Nodes:
        """Return all after a repair: beliefs and lines as the policy sees them, masses truly."""
        alpha, beta = own.alpha_at(repair), own.beta_at(repair)
        move = transition(noise, repair)
        return Nodes(
            repaired_odds(self.odds, alpha, beta),
            self.mass @ move,
            self.lines[..., :1]
            + (self.lines[..., 1:] - self.lines[..., :1])
            * _before(belief(self.odds), alpha, beta)[:, None, :],
            self.valid @ move,
            self.accepted @ move,
        )

    def after_votes(self, parent: npt.NDArray[np.intp], odds: Array, likelihood: Array) -> Nodes:
        """Return the children of ``parent``, one for each, the newest plan among their lines.

        Args:
            parent: the history that each child continues, shape (n,).
            odds: log odds after the votes, shape (n,).
            likelihood: P(votes of the child | invalid, valid), shape (n, 2), and whether most of
                them accept, as a third column.
        """
        weights, majority = likelihood[:, None, :2], likelihood[:, None, 2:]
        mass = self.mass[parent] * likelihood[:, :2]
        everything = mass[:, None, :]
        line = np.broadcast_to(_ONLY_VALID, (len(parent), 1, 2))
        return Nodes(
            odds,
            mass,
            np.concatenate((self.lines[parent], line), axis=1),
            np.concatenate((self.valid[parent] * weights, everything * _ONLY_VALID), axis=1),
            np.concatenate((self.accepted[parent] * weights, everything * majority), axis=1),
        )._pruned()

    def _pruned(self) -> Nodes:
        """Drop the lines that lie below another one at both ends; of equal ones the older stays."""
        lines = self.lines
        n, many = lines.shape[:2]
        # By line rather than by node: whole columns compare several times faster than short rows.
        ends = [(lines[:, j, 0].copy(), lines[:, j, 1].copy()) for j in range(many)]
        kept_lines = [valid >= 0 for _, valid in ends]
        for j, (invalid, valid) in enumerate(ends):
            for i, (invalid_i, valid_i) in enumerate(ends):
                if i != j:
                    below = (invalid <= invalid_i) & (valid <= valid_i) & kept_lines[i]
                    if i > j:  # of equal lines the older one stays
                        below &= (invalid < invalid_i) | (valid < valid_i)
                    kept_lines[j] &= ~below
        keep = np.stack(kept_lines, axis=1)
        order = np.argsort(~keep, axis=1, kind="stable")[:, : int(keep.sum(axis=1).max(initial=0))]
        rows = np.arange(n)[:, None]
        kept = keep[rows, order][..., None]
        return replace(
            self,
            lines=np.where(kept, lines[rows, order], -1.0),
            valid=np.where(kept, self.valid[rows, order], 0.0),
            accepted=np.where(kept, self.accepted[rows, order], 0.0),
        )


def evaluate_recall(
    policy: ThresholdPolicy, noise: NoiseModel, votes: int, rounds: int, limit: int
) -> Tally:
    """Return what ``policy`` (with recall) delivers where ``noise`` is the truth.

    Args:
        policy: the rule, with the noise that it believes in.
        noise: the truth.
        votes: votes on every plan.
        rounds: repairs after which the loop ends.
        limit: histories of a round that are followed.
    """
    tally = evaluate_threshold(policy, noise, votes, rounds, limit)
    likelihood, ratios = vote_likelihood(noise, votes), vote_ratios(policy.noise, votes)
    majority = 2 * np.arange(votes + 1) > votes
    last = min(rounds, policy.rounds)
    limits = [log_odds(b) for b in policy.thresholds(votes)[:last]] + [-np.inf]
    newest_valid, stopped = tally.valid.copy(), tally.stopped.copy()
    nodes = Nodes.initial(policy.noise, noise)
    for k in range(last + 1):
        if k:
            nodes = nodes.repaired(policy.noise, noise, k)
        odds = updated_odds(nodes.odds, ratios)
        go_on = odds < limits[k]
        for s in range(votes + 1):
            _deliver(tally, k, nodes, odds[:, s], ~go_on[:, s], likelihood[s], bool(majority[s]))
        if k == last:
            break
        parent, count = np.nonzero(go_on & (nodes.mass @ likelihood.T > 0))
        if len(parent) > limit:
            # An older plan adds at most P(newest invalid); under a wrong model it may cost as well.
            tally.merged = True
            later = stopped[k + 1 :]
            gain = later - newest_valid[k + 1 :]
            tally.error += float((gain if policy.noise == noise else later).sum())
            break
        columns = np.column_stack((likelihood[count], majority[count].astype(float)))
        nodes = nodes.after_votes(parent, odds[parent, count], columns)
    return tally


def _deliver(
    tally: Tally,
    k: int,
    nodes: Nodes,
    odds: Array,
    stops: npt.NDArray[np.bool_],
    weights: Array,
    majority: bool,
) -> None:
    """Add what an older plan is better, in the histories that stop after these votes."""
    b = belief(odds)
    top = nodes.lines.max(axis=(1, 2), initial=-1.0)
    at = np.flatnonzero(stops & (top >= b - _TIE))
    lines, b = nodes.lines[at], b[at]
    if not lines.size:
        return
    posterior = lines[..., 0] + (lines[..., 1] - lines[..., 0]) * b[:, None]
    best = (posterior >= posterior.max(axis=1, keepdims=True) - _TIE).argmax(axis=1)
    older = posterior[np.arange(len(at)), best] >= b - _TIE  # of equal plans the earlier one
    at, best = at[older], best[older]
    newest = nodes.mass[at] * weights
    tally.valid[k] += (nodes.valid[at, best] @ weights).sum() - newest[:, 1].sum()
    tally.accepted[k] += (nodes.accepted[at, best] @ weights).sum() - majority * newest.sum()


def _before(b: Array, alpha: float, beta: float) -> Array:
    """Return P(plan before the repair valid | plan after it invalid, valid), shape (n, 2)."""
    valid = np.stack((beta * b, (1.0 - beta) * b), axis=-1)
    invalid = np.stack(((1.0 - alpha) * (1.0 - b), alpha * (1.0 - b)), axis=-1)
    total: Array = valid + invalid
    ratio: Array = np.divide(valid, total, out=np.full(total.shape, 0.5), where=total > 0)
    return ratio
