"""The noise model as arrays, and the tally of what a policy delivers, for exact evaluation.

Columns are (invalid, valid) throughout. Knows nothing of policies.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..core.noise import NoiseModel
from ..core.validity import log_likelihood_ratio, vote_probability

Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


def vote_likelihood(noise: NoiseModel, votes: int) -> Array:
    """Return P(S accepts of ``votes`` | invalid, valid), shape (votes + 1, 2)."""
    rates = (noise.rho0, 1.0 - noise.rho1)
    return np.array(
        [[vote_probability(r, noise.icc, s, votes) for r in rates] for s in range(votes + 1)]
    )


def vote_ratios(noise: NoiseModel, votes: int) -> Array:
    """Return the log likelihood ratio of S = 0..votes accepts, shape (votes + 1,)."""
    return np.array([log_likelihood_ratio(noise, s, votes) for s in range(votes + 1)])


def transition(noise: NoiseModel, repair: int) -> Array:
    """Return P(after | before) of the ``repair``-th repair, rows before, columns after."""
    alpha, beta = noise.alpha_at(repair), noise.beta_at(repair)
    return np.array([[1.0 - alpha, alpha], [beta, 1.0 - beta]])


def prior(noise: NoiseModel) -> Array:
    """Return P(initial plan invalid, valid)."""
    return np.array([1.0 - noise.valid, noise.valid])


def repaired_odds(odds: Array, alpha: float, beta: float) -> Array:
    """Return log odds after a repair; `haltwise.core.validity.repaired` on arrays."""
    up = odds >= 0
    e = np.exp(-np.abs(odds))
    valid = np.where(up, (1.0 - beta) + alpha * e, (1.0 - beta) * e + alpha)
    invalid = np.where(up, beta + (1.0 - alpha) * e, beta * e + (1.0 - alpha))
    with np.errstate(divide="ignore"):
        return np.where(
            invalid <= 0, np.inf, np.where(valid <= 0, -np.inf, np.log(valid) - np.log(invalid))
        )


def updated_odds(odds: Array, ratios: Array) -> Array:
    """Return log odds after every possible vote count, shape (n, votes + 1)."""
    before = odds[:, None]
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(before), before, before + ratios)


def belief(odds: Array) -> Array:
    """Return probabilities of log odds."""
    e = np.exp(-np.abs(odds))
    return np.where(odds >= 0, 1.0, e) / (1.0 + e)


@dataclass
class Tally:
    """Sums over the nodes of the forward recursion, by round 0 to K."""

    rounds: int
    """Repairs that the loop can make, K."""
    stopped: Array = field(init=False)
    """Probability of delivering at round k."""
    valid: Array = field(init=False)
    """Probability of delivering at round k, and validly."""
    accepted: Array = field(init=False)
    """Probability of delivering at round k a plan that most votes accepted."""
    running_valid: Array = field(init=False)
    """Probability of going on after round k with a valid newest plan."""
    running_accepted: Array = field(init=False)
    """Probability of going on after round k with a newest plan that most votes accepted."""
    error: float = 0.0
    """Bound on the error of the validity, from merging nodes."""
    merged: bool = False
    """Whether different histories were merged, or cut off, for want of space."""
    nodes: int = 0
    """The largest number of nodes in a round."""

    def __post_init__(self) -> None:
        for name in ("stopped", "valid", "accepted", "running_valid", "running_accepted"):
            setattr(self, name, np.zeros(self.rounds + 1))

    @property
    def repairs(self) -> float:
        """Expected number of repairs."""
        return float(self.stopped @ np.arange(self.rounds + 1))

    def by_round(self, delivered: Array, running: Array) -> tuple[float, ...]:
        """Return the share by round among all tasks, stopped ones keeping what they delivered."""
        return tuple((np.cumsum(delivered) + running).tolist())
