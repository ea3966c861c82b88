"""Discrete-time hazard regression from cell counts, with errors clustered.

Model: logit P(event | stratum s, covariate x) = a_s + b x, no common intercept (METHODS section 1,
"hazard slope": strata are the decision points t, x is the run length r, the event is the answer).
Everything is computed from how many observations and events each cluster has in each cell (s, x),
so that a million episodes need no rows; clusters with equal counts may be pooled. Knows nothing of
episodes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .arrays import FloatArray, cluster_counts, cluster_matrix, normal_quantile
from .estimate import Estimate, undefined

_BLOCK = 1 << 16
"""Clusters whose scores are held at a time, which bounds the memory."""

METHOD = "logit on stratum dummies and run length, errors clustered"


@dataclass(frozen=True)
class HazardFit:
    """A fitted hazard regression."""

    slope: Estimate
    """b with its normal interval; n = observations. Undefined under separation."""
    se: float
    """Clustered standard error of b; NaN when undefined."""
    strata: dict[float, float]
    """a_s by stratum: -inf or inf where none or all of the stratum's observations are events."""
    events: int
    """Number of events."""
    clusters: int
    """Number of clusters with at least one observation."""


def hazard_slope(
    strata: ArrayLike,
    covariate: ArrayLike,
    trials: ArrayLike,
    events: ArrayLike,
    *,
    counts: ArrayLike | None = None,
    level: float = 0.95,
) -> HazardFit:
    """Fit the model by maximum likelihood; sandwich errors by cluster.

    The finite-sample factor is G/(G-1) (n-1)/(n-k) with G clusters, n observations, k parameters,
    as in the default of statsmodels' ``Logit(...).fit(cov_type="cluster")``, which this equals.

    A stratum without events, or with nothing else, says nothing about the slope: its dummy is at
    infinity, where it contributes neither to the score nor to the information. The slope is
    undefined if there is no event or nothing else, if no stratum has two values of the covariate
    among both kinds, or under separation (in every stratum all events have a larger x than, or one
    equal to, all others; or a smaller one): then no finite slope maximises the likelihood.

    Args:
        strata: stratum of each cell, shape (cells,).
        covariate: x of each cell, shape (cells,).
        trials: observations, shape (clusters, cells).
        events: events among them, shape (clusters, cells).
        counts: how often each row of ``trials`` and ``events`` occurs; None: once.
        level: coverage of the interval.

    Raises:
        ValueError: shapes do not fit, or events are not between 0 and trials.
    """
    stratum = np.asarray(strata, dtype=np.float64)
    x = np.asarray(covariate, dtype=np.float64)
    n, y = cluster_matrix(trials), cluster_matrix(events)
    if n.shape != y.shape or not stratum.shape == x.shape == n.shape[1:]:
        raise ValueError(
            "strata and covariate have one value a cell, trials and events one row a cluster; got "
            f"{stratum.shape}, {x.shape}, {n.shape}, {y.shape}"
        )
    if not ((y >= 0) & (y <= n)).all():
        raise ValueError("events lie between 0 and the trials of their cluster and cell")
    z = normal_quantile(level)
    repeats = np.where(n.any(axis=1), cluster_counts(counts, len(n)), 0)
    n_cell, y_cell = ((repeats @ part).astype(np.float64) for part in (n, y))
    size, hits, clusters = int(n_cell.sum()), int(y_cell.sum()), int(repeats.sum())

    # Strata that are there, and those of them that carry information on the slope.
    levels = np.unique(stratum[n_cell > 0])
    members = stratum == levels[:, None]
    events_of, trials_of = members @ y_cell, members @ n_cell
    informative = (events_of > 0) & (events_of < trials_of)
    constants = {
        float(s): (np.inf if e else -np.inf)
        for s, e, known in zip(levels, events_of, informative, strict=True)
        if not known
    }

    def without(reason: str) -> HazardFit:
        slope = undefined(reason, n=size, method=METHOD, level=level)
        return HazardFit(slope, np.nan, {}, hits, clusters)

    if hits == 0 or hits == size:
        return without("no observations" if not size else "no events" if not hits else "all events")
    if not informative.any():
        return without("separation: no stratum has both events and other observations")
    separated = _separation(x, n_cell, y_cell, members[informative])
    if separated:
        return without(separated)

    used = members[informative].any(axis=0)
    # Centred, since far from 0 the covariate would make the information nearly singular; the slope
    # and its variance do not change.
    centre = float(n_cell @ x) / size
    design = np.column_stack([members[informative].T.astype(np.float64), x - centre])[used]
    beta, information = _newton(design, n_cell[used], y_cell[used])
    value = float(beta[-1])
    fitted = (beta[:-1] - value * centre).tolist()
    constants |= dict(zip(levels[informative].tolist(), fitted, strict=True))
    constants = dict(sorted(constants.items()))
    slope = Estimate(value, level=level, n=size, method=METHOD)
    if len(constants) > int(informative.sum()):
        slope = slope.noted("strata where none or all are events say nothing on the slope")

    parameters = len(levels) + 1
    if clusters < 2 or size <= parameters:
        reason = "one cluster" if clusters < 2 else "too few observations"
        return HazardFit(slope.noted(f"no interval: {reason}"), np.nan, constants, hits, clusters)
    # A cluster's score is linear in its counts, so the meat needs distinct rows only.
    p = _expit(design @ beta)
    meat = np.zeros((len(beta), len(beta)))
    for start in range(0, len(n), _BLOCK):
        rows = slice(start, start + _BLOCK)
        scores = (y[rows, used] - n[rows, used] * p) @ design
        meat += (scores * repeats[rows, None]).T @ scores
    factor = clusters / (clusters - 1) * (size - 1) / (size - parameters)
    bread = np.linalg.inv(information)
    se = float(np.sqrt(factor * (bread @ meat @ bread)[-1, -1]))
    slope = Estimate(value, value - z * se, value + z * se, level, size, METHOD, slope.note)
    if clusters <= parameters:
        slope = slope.noted(f"{clusters} clusters for {parameters} parameters: interval too short")
    return HazardFit(slope, se, constants, hits, clusters)


def _separation(x: FloatArray, n: FloatArray, y: FloatArray, strata: np.ndarray) -> str:
    """Return why the slope has no finite maximum, or "" if it has one.

    With a free constant in each stratum the likelihood rises for ever in direction b > 0 iff within
    every stratum the smallest x of an event is at least the largest x of another observation
    (Albert and Anderson 1984, specialised to one covariate).
    """
    rising = falling = True
    for members in strata:
        event, other = x[members & (y > 0)], x[members & (n > y)]
        rising &= bool(event.min() >= other.max())
        falling &= bool(event.max() <= other.min())
    if rising and falling:
        return "the covariate does not vary within a stratum"
    if rising or falling:
        sign = "longest" if rising else "shortest"
        return f"separation: in every stratum events happen only at the {sign} runs"
    return ""


def _newton(design: FloatArray, n: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Maximise the grouped logit likelihood, which is concave; return (beta, information)."""
    beta = np.zeros(design.shape[1])
    best = _log_likelihood(design @ beta, n, y)
    for _ in range(100):
        p = _expit(design @ beta)
        score = design.T @ (y - n * p)
        step = np.linalg.solve((design * (n * p * (1 - p))[:, None]).T @ design, score)
        size = 1.0
        while True:
            trial = beta + size * step
            reached = _log_likelihood(design @ trial, n, y)
            if reached >= best or size < 1e-10:
                break
            size /= 2
        beta, best = trial, reached
        if np.abs(size * step).max() <= 1e-12 * (1 + np.abs(beta).max()):
            break
    p = _expit(design @ beta)
    return beta, (design * (n * p * (1 - p))[:, None]).T @ design


def _log_likelihood(eta: FloatArray, n: FloatArray, y: FloatArray) -> float:
    return float(y @ eta - n @ np.logaddexp(0.0, eta))


def _expit(eta: FloatArray) -> FloatArray:
    return np.asarray(1 / (1 + np.exp(-eta)))
