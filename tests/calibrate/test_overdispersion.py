"""The correlation of votes on one plan, from labelled plans."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import betabinom

from haltwise.calibrate.overdispersion import fit_overdispersion
from haltwise.calibrate.votes import VoteCounts
from haltwise.core.noise import NoiseModel
from haltwise.simulated.repair import simulate_repair


def labelled(icc: float, n: int, *, rho: float = 0.35, seed: int = 0, votes: int = 8) -> VoteCounts:
    """Return counts of ``n`` labelled plans."""
    noise = NoiseModel(rho, rho, 0.1, 0.8, 0.7, icc)
    runs = simulate_repair(noise, n, votes=votes, rounds=0, seed=seed)
    return VoteCounts.of_first_plans(runs.accepts.T, votes, runs.valid.T.astype(np.int8))


def test_maximum_likelihood() -> None:
    """The estimate is where SciPy's beta-binomial likelihood has its maximum."""
    counts = labelled(0.2, 300)

    def loss(theta: np.ndarray) -> float:
        low, high, icc = 1 / (1 + np.exp(-theta))
        size = (1 - icc) / icc
        total = 0.0
        for weight, mean in ((counts.invalid[0], low), (counts.valid[0], high)):
            logs = betabinom.logpmf(counts.accepts, counts.votes, mean * size, (1 - mean) * size)
            total -= float(weight @ logs)
        return total

    best = minimize(loss, [-0.5, 0.5, -1.5], method="Nelder-Mead", options={"xatol": 1e-6})
    found = fit_overdispersion(counts)
    assert found.icc == pytest.approx(1 / (1 + math.exp(-best.x[2])), abs=0.003)


@pytest.mark.parametrize("icc", [0.1, 0.3])
def test_recovers_the_correlation(icc: float) -> None:
    """With 150 labelled plans the interval covers the truth in at least 36 of 40 seeds."""
    fits = [fit_overdispersion(labelled(icc, 150, seed=seed)) for seed in range(40)]
    assert sum(fit.estimate.low <= icc <= fit.estimate.high for fit in fits) >= 36
    assert np.mean([fit.icc for fit in fits]) == pytest.approx(icc, abs=0.02)


def test_independent_votes_stay_independent() -> None:
    """A correlation is kept only above a likelihood ratio of 2.71: at most 5 of 40 false finds."""
    fits = [fit_overdispersion(labelled(0, 150, seed=seed)) for seed in range(40)]
    assert sum(fit.icc > 0 for fit in fits) <= 5
    dropped = next(fit for fit in fits if fit.icc == 0)
    assert dropped.identified and "independent" in dropped.estimate.note


@pytest.mark.parametrize(
    ("n", "rho", "identified"),
    [(59, 0.35, False), (60, 0.35, True), (40, 0.1, True), (29, 0.1, False)],
)
def test_labels_needed(n: int, rho: float, identified: bool) -> None:
    """Sixty labelled plans are needed, thirty where J is at least .6; else undefined, not 0."""
    fit = fit_overdispersion(labelled(0.3, n, rho=rho))
    assert fit.identified is identified
    if not identified:
        assert math.isnan(fit.estimate.value) and "not identified" in fit.estimate.note
        assert fit.icc == 0


def test_without_labels_it_is_not_identified() -> None:
    """Votes without labels never identify the correlation, however many there are."""
    runs = simulate_repair(NoiseModel(0.3, 0.2, 0.1, 0.1, 0.7, 0.3), 3_000, rounds=0)
    fit = fit_overdispersion(VoteCounts.of_first_plans(runs.accepts.T, 8))
    assert not fit.identified and fit.icc == 0


def test_one_vote_says_nothing_about_correlation() -> None:
    """Plans with a single vote do not count."""
    assert not fit_overdispersion(labelled(0.3, 300, votes=1)).identified
