"""Belief that a plan is valid, as log odds: what votes and repairs do to it.

Log odds ``log(P(valid) / P(invalid))`` add up where probabilities would round to 0 or 1; certainty
is plus or minus infinity. Formulas: METHODS section 2, "Belief", and forward-backward on the
two-state chain ("Recall"). Ignorant of what is decided with a belief.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import exp, inf, isinf, log

from .noise import NoiseModel

Votes = tuple[int, int]
"""Accepts and votes of one plan, ``0 <= accepts <= votes``."""


def log_odds(probability: float) -> float:
    """Return ``log(p / (1 - p))``; plus or minus infinity at 1 and 0."""
    if probability <= 0.0:
        return -inf
    if probability >= 1.0:
        return inf
    return log(probability / (1.0 - probability))


def probability(odds: float) -> float:
    """Return the probability in [0, 1] whose log odds are ``odds``."""
    if odds >= 0.0:
        return 1.0 / (1.0 + exp(-odds))
    e = exp(odds)
    return e / (1.0 + e)


def vote_probability(rate: float, icc: float, accepts: int, votes: int) -> float:
    """Return P(``accepts`` of ``votes`` accept) where each accepts with probability ``rate``.

    Binomial at ``icc`` = 0, else beta-binomial with that correlation between two votes.
    """
    chosen = math.comb(votes, accepts)
    weight = _log_weight(rate, icc, accepts, votes)
    return 0.0 if weight == -inf else chosen * exp(weight)


def log_likelihood_ratio(noise: NoiseModel, accepts: int, votes: int) -> float:
    """Return ``log(P(votes | plan valid) / P(votes | plan invalid))``; 0 without votes.

    Infinite where one of the two is impossible. Where both are (rates of exactly 0 or 1 that the
    votes contradict), the side that contradicts fewer votes wins: the limit of rates near 0 and 1.
    """
    if votes == 0:
        return 0.0
    if_valid = _log_weight(1.0 - noise.rho1, noise.icc, accepts, votes)
    if_invalid = _log_weight(noise.rho0, noise.icc, accepts, votes)
    if if_valid > -inf or if_invalid > -inf:
        return if_valid - if_invalid
    against_valid = _contradicted(1.0 - noise.rho1, accepts, votes)
    against_invalid = _contradicted(noise.rho0, accepts, votes)
    if against_valid == against_invalid:
        return 0.0
    return inf if against_valid < against_invalid else -inf


def updated(odds: float, ratio: float) -> float:
    """Return the log odds after evidence with log likelihood ratio ``ratio`` (Bayes' rule).

    A belief that is certain stays: evidence against it is impossible under the model.
    """
    return odds if isinf(odds) else odds + ratio


def repaired(odds: float, alpha: float, beta: float) -> float:
    """Return the log odds of the next plan: ``b' = (1 - beta) b + alpha (1 - b)``."""
    if odds >= 0.0:
        e = exp(-odds)
        valid, invalid = (1.0 - beta) + alpha * e, beta + (1.0 - alpha) * e
    else:
        e = exp(odds)
        valid, invalid = (1.0 - beta) * e + alpha, beta * e + (1.0 - alpha)
    if invalid <= 0.0:
        return inf
    return log(valid / invalid) if valid > 0.0 else -inf


def smoothed(noise: NoiseModel, history: Sequence[Votes]) -> tuple[float, ...]:
    """Return log odds of the validity of every plan given the votes on all plans, later ones too.

    Forward filter and backward message on the two-state chain; ``history[k]`` are the votes on the
    plan after k repairs.
    """
    ratios = [log_likelihood_ratio(noise, accepts, votes) for accepts, votes in history]
    forward: list[float] = []
    odds = log_odds(noise.valid)
    for repairs, ratio in enumerate(ratios):
        if repairs:
            odds = repaired(odds, noise.alpha_at(repairs), noise.beta_at(repairs))
        odds = updated(odds, ratio)
        forward.append(odds)
    message = 0.0
    posterior = forward[-1:]
    for repairs in range(len(history) - 1, 0, -1):
        message = updated(message, ratios[repairs])
        message = _before_repair(message, noise.alpha_at(repairs), noise.beta_at(repairs))
        posterior.append(updated(forward[repairs - 1], message))
    return tuple(reversed(posterior))


def best_plan(noise: NoiseModel, history: Sequence[Votes]) -> tuple[int, float]:
    """Return index and log odds of the plan with the largest smoothed posterior, earliest on ties.

    Posteriors that differ by rounding alone (1e-12 in probability) are a tie.
    """
    posterior = smoothed(noise, history)
    most = probability(max(posterior)) - 1e-12
    index = next(i for i, odds in enumerate(posterior) if probability(odds) >= most)
    return index, posterior[index]


def _before_repair(message: float, alpha: float, beta: float) -> float:
    """Carry the log ratio P(later votes | valid) / P(later votes | invalid) back over a repair."""
    if message >= 0.0:
        e = exp(-message)
        valid, invalid = (1.0 - beta) + beta * e, alpha + (1.0 - alpha) * e
    else:
        e = exp(message)
        valid, invalid = (1.0 - beta) * e + beta, alpha * e + (1.0 - alpha)
    if invalid <= 0.0:
        return inf if valid > 0.0 else 0.0
    return log(valid / invalid) if valid > 0.0 else -inf


def _log_weight(rate: float, icc: float, accepts: int, votes: int) -> float:
    """Return the log probability of one sequence with that many accepts (no binomial factor)."""
    if rate <= 0.0:
        return 0.0 if accepts == 0 else -inf
    if rate >= 1.0:
        return 0.0 if accepts == votes else -inf
    if icc <= 0.0:
        return accepts * log(rate) + (votes - accepts) * log(1.0 - rate)
    # Rising factorials rather than gamma functions, which cancel badly as icc nears 0.
    own = 1.0 - icc
    return (
        sum([log(rate * own + i * icc) for i in range(accepts)])
        + sum([log((1.0 - rate) * own + i * icc) for i in range(votes - accepts)])
        - sum([log(own + i * icc) for i in range(votes)])
    )


def _contradicted(rate: float, accepts: int, votes: int) -> int:
    """Return how many votes a rate of 0 or 1 says cannot happen."""
    return accepts if rate <= 0.0 else votes - accepts
