"""How much calibration the sign of the gain needs, before anything has been recorded.

A stopping rule only uses the sign of ``G - tau``. At each decision that the one-step rule reaches,
the fitted gain is taken as normal around the true one (delta method), so the decision is wrong with
probability ``Phi(-|G - tau| / sd)``; the mean over the decisions, weighted by how often they are
reached, is P(wrong sign). METHODS section 2, "Sign identifiability".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core.noise import NoiseModel
from ..core.policies.threshold import myopic_threshold
from ..core.validity import log_odds
from .exact_chain import (
    Array,
    belief,
    prior,
    repaired_odds,
    transition,
    updated_odds,
    vote_likelihood,
    vote_ratios,
)

FITTED = ("rho0", "rho1", "valid", "alpha", "beta")
"""Parameters that calibration estimates; ``icc`` is taken as known."""
MARGINS = (0.0, 0.05, 0.1, 0.2, 0.3, 1.0)
"""Edges of the margins ``|G - tau|`` in the map."""
DISCRIMINATIONS = (0.03, 0.1, 0.15, 0.2, 0.4, 0.65, 0.8)
"""Values of J in the map."""
_MOST = 10_000_000  # more labels than this is "never"
_FOLLOWED = 20_000  # histories of a round; the less probable ones do not move a mean
_STEP = 1e-5


@dataclass(frozen=True)
class Decisions:
    """The decisions that the one-step rule reaches, and how its gain depends on the parameters."""

    reach: Array
    """Probability of reaching each, shape (n,)."""
    margin: Array
    """``|G - tau|`` at each, shape (n,)."""
    slope: Array
    """Derivative of G by each of `FITTED`, shape (n, 5)."""

    def wrong(self, covariance: Array, spread: float) -> Array:
        """Return P(wrong sign) at each decision.

        Args:
            covariance: of the estimates of `FITTED`.
            spread: largest alpha + beta: what an unknown belief can do to the gain at most.
        """
        about_belief, about_repair = self.slope[:, :3], self.slope[:, 3:]
        from scipy.special import ndtr  # a quarter of a second that `simulate` alone does not need

        first = np.einsum("ni,ij,nj->n", about_belief, covariance[:3, :3], about_belief)
        second = np.einsum("ni,ij,nj->n", about_repair, covariance[3:, 3:], about_repair)
        # A belief lies in [0, 1], so its standard deviation is at most 1/2.
        sd = np.sqrt(np.minimum(first, spread**2 / 4) + second)
        ratio = np.divide(self.margin, sd, out=np.full_like(sd, np.inf), where=sd > 0)
        return np.asarray(ndtr(-ratio), dtype=float)


def decisions(noise: NoiseModel, votes: int, rounds: int, tau: float) -> Decisions:
    """Follow the one-step rule forward and return every decision that it reaches."""
    models = [noise]
    for name in FITTED:
        models += [_moved(noise, name, _STEP), _moved(noise, name, -_STEP)]
    widths = [
        getattr(models[1 + 2 * i], name) - getattr(models[2 + 2 * i], name)
        for i, name in enumerate(FITTED)
    ]
    ratios = np.stack([vote_ratios(model, votes) for model in models])
    likelihood = vote_likelihood(noise, votes)
    odds = np.array([[log_odds(model.valid)] for model in models])
    mass = prior(noise)[None, :]
    found: list[tuple[Array, Array, Array]] = []
    for k in range(rounds):
        if k:
            mass = mass @ transition(noise, k)
            moved = [(model.alpha_at(k), model.beta_at(k)) for model in models]
            odds = np.stack([repaired_odds(row, *ab) for row, ab in zip(odds, moved, strict=True)])
        odds = np.stack([updated_odds(row, r).ravel() for row, r in zip(odds, ratios, strict=True)])
        mass = (mass[:, None, :] * likelihood).reshape(-1, 2)
        gains = np.stack(
            [_gain(model, row, k + 1) for model, row in zip(models, odds, strict=True)]
        )
        slope = ((gains[1::2] - gains[2::2]).T / np.array(widths)).astype(float)
        found.append((mass.sum(axis=1), np.abs(gains[0] - tau), slope))
        go_on = odds[0] < log_odds(myopic_threshold(noise, tau, k + 1))
        odds, mass = odds[:, go_on], mass[go_on]
        if len(mass) > _FOLLOWED:
            kept = np.argpartition(mass.sum(axis=1), -_FOLLOWED)[-_FOLLOWED:]
            odds, mass = odds[:, kept], mass[kept]
    if not found:
        return Decisions(np.zeros(0), np.zeros(0), np.zeros((0, len(FITTED))))
    reach, margin, slope = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return Decisions(reach, margin, slope)


def labelled_covariance(noise: NoiseModel, votes: int, rounds: int, labelled: float) -> Array:
    """Return the covariance of `FITTED` after ``labelled`` labelled transitions.

    The plan before each transition is labelled, too, and its votes are known. Proportions with a
    Beta(1/2, 1/2) prior; correlated votes count for less.
    """
    invalid, valid = labelled * _shares(noise, rounds)
    design = 1.0 + (votes - 1) * noise.icc
    variances = (
        _posterior_variance(noise.rho0, invalid * votes / design),
        _posterior_variance(noise.rho1, valid * votes / design),
        _posterior_variance(noise.valid, labelled),
        _posterior_variance(noise.alpha, invalid),
        _posterior_variance(noise.beta, valid),
    )
    return np.diag(variances)


def vote_information(noise: NoiseModel, votes: int, plans: float) -> Array:
    """Return the Fisher information on (rho0, rho1, pi) in the votes on ``plans`` unlabelled plans.

    Of the two-component mixture of vote counts, shape (3, 3); singular where J = 0.
    """
    chance = _mixture(noise, votes)
    slopes = np.stack(
        [
            (_mixture(up, votes) - _mixture(down, votes)) / (getattr(up, n) - getattr(down, n))
            for n in FITTED[:3]
            for up, down in [(_moved(noise, n, _STEP), _moved(noise, n, -_STEP))]
        ]
    )
    seen = chance > 0
    information: Array = plans * (slopes[:, seen] / chance[seen]) @ slopes[:, seen].T
    return information


def unlabelled_covariance(
    noise: NoiseModel, votes: int, rounds: int, plans: float, labelled: float
) -> Array:
    """Return the covariance of `FITTED` where the verifier is calibrated without labels.

    rho0, rho1 and pi come from the votes on ``plans`` plans and a flat prior on [0, 1] (precision
    12), which keeps them finite where votes say nothing; alpha and beta from ``labelled`` labelled
    transitions.
    """
    covariance = labelled_covariance(noise, votes, rounds, labelled)
    information = vote_information(noise, votes, plans)
    covariance[:3, :3] = np.linalg.inv(information + 12.0 * np.eye(3))
    return covariance


@dataclass(frozen=True)
class Plan:
    """How many labelled transitions give the sign of the gain."""

    eta: float
    """Accepted probability of a wrong sign."""
    labelled: int | None
    """Labelled transitions needed; None where no number is enough."""
    note: str
    """Why there is none, or what a reader must know."""
    p_flip: dict[int, float]
    """P(wrong sign) by number of labelled transitions."""

    def to_json(self) -> dict[str, Any]:
        """Return the plan as a JSON object."""
        return {
            "eta": self.eta,
            "labelled_transitions": self.labelled,
            "note": self.note,
            "p_flip": [{"labelled": n, "p_flip": p} for n, p in self.p_flip.items()],
        }


def plan_labels(noise: NoiseModel, *, votes: int, rounds: int, tau: float, eta: float) -> Plan:
    """Return the least number of labelled transitions with P(wrong sign) at most ``eta``."""
    reached = decisions(noise, votes, rounds, tau)
    spread = _spread(noise, rounds)

    def p_flip(labelled: float) -> float:
        if not reached.reach.sum():
            return 0.0
        wrong = reached.wrong(labelled_covariance(noise, votes, rounds, labelled), spread)
        return float(wrong @ reached.reach / reached.reach.sum())

    shown = {n: p_flip(n) for n in (30, 100, 300, 1000, 3000)}
    if p_flip(_MOST) > eta:
        note = f"not even {_MOST:,} labels: at a usual belief the gain is too close to the price"
        return Plan(eta, None, note, shown)
    low, high = 0, 1
    while p_flip(high) > eta:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if p_flip(middle) > eta else (low, middle)
    note = "normal approximation; plans and transitions labelled at random, votes as in --votes"
    return Plan(eta, high, note, shown)


@dataclass(frozen=True)
class SignMap:
    """P(wrong sign) over discrimination and margin, calibrated without labels on the verifier."""

    plans: int
    """Plans with votes, and labelled transitions, of the calibration."""
    discrimination: tuple[float, ...]
    """J of each row; rho0 and rho1 keep their proportion."""
    margin: tuple[float, ...]
    """Edges of the columns, one more than there are."""
    wrong: tuple[tuple[float | None, ...], ...]
    """P(wrong sign) by row and column; None where no decision has such a margin."""
    weak: float | None
    """P(wrong sign) at J <= .15 and margin <= .10 together."""
    strong: float | None
    """P(wrong sign) at J >= .4 or margin >= .30 together."""

    def to_json(self) -> dict[str, Any]:
        """Return the map as a JSON object."""
        return {
            "calibration": self.plans,
            "discrimination": list(self.discrimination),
            "margin": list(self.margin),
            "wrong": [list(row) for row in self.wrong],
            "weak": self.weak,
            "strong": self.strong,
            "note": "null: no decision with such a margin is reached; weak: J <= .15 and margin "
            "<= .10; strong: J >= .4 or margin >= .30; normal approximation",
        }


def sign_map(
    noise: NoiseModel,
    *,
    votes: int,
    rounds: int,
    tau: float,
    plans: int,
    discriminations: Sequence[float] = DISCRIMINATIONS,
) -> SignMap:
    """Return P(wrong sign) over J and margin, ``plans`` plans and transitions being recorded."""
    rates = noise.rho0 + noise.rho1
    first = noise.rho0 / rates if rates > 0 else 0.5
    rows, weak, strong = [], [], []
    for j in discriminations:
        model = replace(noise, rho0=(1.0 - j) * first, rho1=(1.0 - j) * (1.0 - first))
        reached = decisions(model, votes, rounds, tau)
        covariance = unlabelled_covariance(model, votes, rounds, plans, plans)
        wrong = reached.wrong(covariance, _spread(model, rounds))
        cells = np.digitize(reached.margin, MARGINS[1:-1])
        rows.append(tuple(_mean(wrong, reached.reach, cells == i) for i in range(len(MARGINS) - 1)))
        low = (reached.margin <= 0.10) & (j <= 0.15)
        high = (reached.margin >= 0.30) | (j >= 0.4)
        weak.append((wrong[low] @ reached.reach[low], reached.reach[low].sum()))
        strong.append((wrong[high] @ reached.reach[high], reached.reach[high].sum()))
    return SignMap(
        plans, tuple(discriminations), MARGINS, tuple(rows), _ratio(weak), _ratio(strong)
    )


def _moved(noise: NoiseModel, name: str, step: float) -> NoiseModel:
    """Return the model with one parameter moved, inside [0, 1]; lists by round move along."""
    changes: dict[str, Any] = {name: _inside(getattr(noise, name) + step)}
    by_round = getattr(noise, f"{name}_by_round", None)
    if by_round is not None:
        changes[f"{name}_by_round"] = tuple(_inside(value + step) for value in by_round)
    return replace(noise, **changes)


def _inside(value: float) -> float:
    return min(max(value, 0.0), 1.0)


def _gain(model: NoiseModel, odds: Array, repair: int) -> Array:
    b = belief(odds)
    return (1.0 - b) * model.alpha_at(repair) - b * model.beta_at(repair)


def _spread(noise: NoiseModel, rounds: int) -> float:
    return max([noise.alpha_at(k) + noise.beta_at(k) for k in range(1, rounds + 1)], default=0.0)


def _shares(noise: NoiseModel, rounds: int) -> Array:
    """Return the mean share of invalid and valid plans before a repair, all rounds being run."""
    share = prior(noise)
    total = share.copy()
    for k in range(1, rounds):
        share = share @ transition(noise, k)
        total = total + share
    return total / max(rounds, 1)


def _posterior_variance(rate: float, n: float) -> float:
    yes, no = rate * n + 0.5, (1.0 - rate) * n + 0.5
    return yes * no / ((yes + no) ** 2 * (yes + no + 1.0))


def _mixture(noise: NoiseModel, votes: int) -> Array:
    mixed: Array = vote_likelihood(noise, votes) @ prior(noise)
    return mixed


def _mean(values: Array, weights: Array, where: Any) -> float | None:
    return _ratio([(values[where] @ weights[where], weights[where].sum())])


def _ratio(parts: Sequence[tuple[Any, Any]]) -> float | None:
    total = sum(weight for _, weight in parts)
    return float(sum(value for value, _ in parts) / total) if total > 0 else None
