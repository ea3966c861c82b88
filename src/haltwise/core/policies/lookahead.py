"""Bayes-optimal stopping: repair while the rest of the loop, played well, is worth its price."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from ..noise import NoiseModel
from ..validity import vote_probability
from .threshold import ThresholdPolicy, myopic_threshold

GRID = 201
"""Points of the belief grid on which the value function is kept."""
EXPECTED_VOTES = 8
"""Votes a round that are planned with as long as none have been seen."""


@dataclass(frozen=True)
class Lookahead(ThresholdPolicy):
    """Repair while the optimal continuation exceeds delivering now.

    METHODS section 2, "Bayes-optimal stopping". With ``recall`` the plan with the largest smoothed
    posterior is delivered; the stopping thresholds are those without recall, which is within .008
    of the optimum at the default price.
    """

    noise: NoiseModel
    """Calibrated noise of verifier and repair."""
    tau: float = 0.01
    """Price of a repair in units of validity, from 0 to 1."""
    recall: bool = True
    """Whether to deliver the plan with the largest smoothed posterior instead of the newest."""
    rounds: int = 5
    """Repairs allowed, at least 0."""

    name: ClassVar[str] = "lookahead"

    @cached_property
    def _by_votes(self) -> dict[int, tuple[float, ...]]:
        return {}

    def thresholds(self, votes: int) -> tuple[float, ...]:
        """Return the belief by round from which no continuation with ``votes`` a round pays."""
        found = self._by_votes.get(votes)
        if found is None:
            found = optimal_thresholds(self.noise, votes or EXPECTED_VOTES, self.rounds, self.tau)
            self._by_votes[votes] = found
        return found


def optimal_thresholds(
    noise: NoiseModel, votes: int, rounds: int, tau: float, grid: int = GRID
) -> tuple[float, ...]:
    """Return by round, 0 to K, the belief from which delivering the newest plan is optimal.

    Backward induction ``V_r(b) = max{b, -tau + E V_{r-1}}`` without recall; the value of going on
    is convex in the belief and at most 1 at certainty, so the beliefs at which to stop are an
    interval up to 1. Never below ``b*``, and equal to it in the last round before the end and
    wherever the one-step rule is optimal.

    Args:
        noise: the noise of verifier and repair; lists by round are honoured.
        votes: votes on each plan, at least 1.
        rounds: repairs allowed, K.
        tau: price of a repair.
        grid: points of the belief grid between 0 and 1.
    """
    likelihoods = [
        (
            vote_probability(1.0 - noise.rho1, noise.icc, accepts, votes),
            vote_probability(noise.rho0, noise.icc, accepts, votes),
        )
        for accepts in range(votes + 1)
    ]
    limits = [0.0]
    value: Callable[[float], float] = float  # with no repair left a plan is worth its belief
    for repair in range(rounds, 0, -1):
        go_on = _continuation(noise, likelihoods, repair, tau, value)
        limit = _crossing(go_on, myopic_threshold(noise, tau, repair))
        limits.append(limit)
        value = _tabulated(go_on, limit, grid)
    return tuple(reversed(limits))


def _continuation(
    noise: NoiseModel,
    likelihoods: list[tuple[float, float]],
    repair: int,
    tau: float,
    value: Callable[[float], float],
) -> Callable[[float], float]:
    """Return ``b -> -tau + E value(posterior)`` for the ``repair``-th repair."""
    alpha, beta = noise.alpha_at(repair), noise.beta_at(repair)

    def go_on(belief: float) -> float:
        valid = (1.0 - beta) * belief + alpha * (1.0 - belief)
        invalid = 1.0 - valid
        total = -tau
        for if_valid, if_invalid in likelihoods:
            both = valid * if_valid
            chance = both + invalid * if_invalid
            if chance > 0.0:
                total += chance * value(both / chance)
        return total

    return go_on


def _crossing(go_on: Callable[[float], float], low: float) -> float:
    """Return the smallest belief of at least ``low`` from which going on is not better."""
    if go_on(low) <= low + 1e-12:
        return low
    high = 1.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        if go_on(middle) > middle:
            low = middle
        else:
            high = middle
    return high


def _tabulated(
    go_on: Callable[[float], float], limit: float, grid: int
) -> Callable[[float], float]:
    """Return ``max{b, go_on(b)}``: the belief from ``limit`` on, interpolated below it."""
    points = [i / (grid - 1) for i in range(grid)]
    points = [*points[: bisect_right(points, limit)], limit]
    values = [go_on(point) for point in points[:-1]] + [limit]

    def value(belief: float) -> float:
        if belief >= limit:
            return belief
        right = bisect_right(points, belief)
        left_point, left = points[right - 1], values[right - 1]
        slope = (values[right] - left) / (points[right] - left_point)
        return left + slope * (belief - left_point)

    return value
