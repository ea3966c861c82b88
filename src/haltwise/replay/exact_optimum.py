"""The best that any policy can do under a noise model, with and without recall.

Without recall the optimum is the threshold rule of `haltwise.core.policies.lookahead`; with recall
it is found on the tree of all vote histories where that is small enough. METHODS section 2,
"Bayes-optimal stopping" and "Recall".
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..core.noise import NoiseModel
from ..core.policies.lookahead import Lookahead
from .exact import Evaluation, evaluate
from .exact_belief import LIMIT
from .exact_chain import Array, updated_odds, vote_likelihood, vote_ratios
from .exact_recall import Nodes


@dataclass(frozen=True)
class Optimum:
    """What the best policy delivers."""

    validity: float
    """Probability that its plan is valid."""
    repairs: float
    """Expected number of repairs."""
    objective: float
    """validity - tau x repairs."""
    kind: str = "value"
    """"value", or "lower bound" where the best policy is not known."""

    def to_json(self) -> dict[str, Any]:
        """Return the optimum as a JSON object."""
        return asdict(self)


def optimum(noise: NoiseModel, *, votes: int = 8, rounds: int = 5, tau: float = 0.0) -> Optimum:
    """Return the optimum among policies that deliver the newest plan (recall off)."""
    best = evaluate(
        Lookahead(noise, tau, recall=False, rounds=rounds),
        noise,
        votes=votes,
        rounds=rounds,
        tau=tau,
    )
    return _taken(best, "value")


def optimum_recall(
    noise: NoiseModel,
    *,
    votes: int = 8,
    rounds: int = 5,
    tau: float = 0.0,
    limit: int = LIMIT,
) -> Optimum:
    """Return the optimum among policies that may deliver any plan.

    The value where the tree of vote histories has at most ``limit`` nodes before the last round,
    else a lower bound: what `Lookahead` with recall delivers.
    """
    if (votes + 1) ** rounds > limit:
        rule = Lookahead(noise, tau, recall=True, rounds=rounds)
        return _taken(evaluate(rule, noise, votes=votes, rounds=rounds, tau=tau), "lower bound")
    likelihood, ratios = vote_likelihood(noise, votes), vote_ratios(noise, votes)
    levels: list[tuple[Array, Array]] = []  # of each history after its votes: best plan, mass
    nodes = Nodes.initial(noise, noise)
    every = np.column_stack((likelihood, np.zeros(votes + 1)))
    for k in range(rounds + 1):
        if k:
            nodes = nodes.repaired(noise, noise, k)
        newest = nodes.mass[:, 1:] * likelihood[:, 1]
        older = np.einsum("nlx,sx->nls", nodes.valid, likelihood).max(axis=1, initial=0.0)
        levels.append((np.maximum(newest, older), nodes.mass @ likelihood.T))
        if k < rounds:
            parent = np.repeat(np.arange(len(nodes)), votes + 1)
            odds = updated_odds(nodes.odds, ratios).ravel()
            nodes = nodes.after_votes(parent, odds, np.tile(every, (len(nodes), 1)))
    valid, repairs = levels[-1][0], np.zeros_like(levels[-1][0])
    for best, mass in reversed(levels[:-1]):
        valid = valid.sum(axis=1).reshape(mass.shape)
        repairs = repairs.sum(axis=1).reshape(mass.shape) + mass
        go_on = valid - tau * repairs > best * (1 + 1e-12)  # a tie stops
        valid, repairs = np.where(go_on, valid, best), np.where(go_on, repairs, 0.0)
    validity, made = float(valid.sum()), float(repairs.sum())
    return Optimum(validity, made, validity - tau * made)


def _taken(evaluation: Evaluation, kind: str) -> Optimum:
    return Optimum(evaluation.validity, evaluation.repairs, evaluation.objective, kind)
