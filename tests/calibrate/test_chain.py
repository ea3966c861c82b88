"""Whole loops: enumeration of every hidden history is the oracle."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import betabinom

from haltwise.calibrate.chain import Chain, ChainModel
from haltwise.calibrate.em import logit
from haltwise.calibrate.votes import VoteCounts, fit_mixture
from haltwise.core.noise import NoiseModel
from haltwise.record.repair_table import UNKNOWN, RepairTable
from haltwise.simulated.repair import simulate_repair


def small_table() -> RepairTable:
    """Five loops of up to four rounds with gaps, labels and an early end."""
    rng = np.random.default_rng(3)
    accepts = rng.integers(0, 6, (5, 4))
    votes = np.full((5, 4), 5)
    votes[1, 2] = accepts[1, 2] = 0
    valid = np.full((5, 4), UNKNOWN, np.int8)
    valid[0, 1], valid[2, 0], valid[3] = 1, 0, [0, 1, 1, 0]
    length = np.array([4, 4, 3, 4, 1])
    for i, n in enumerate(length):
        accepts[i, n:] = votes[i, n:] = 0
    return RepairTable(accepts, votes, valid, length, np.arange(5), np.zeros(5, bool))


def enumerate_histories(
    table: RepairTable, noise: NoiseModel
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Posterior, expected mends and breaks, and log likelihood by summing over all histories."""
    n, columns = table.accepts.shape
    valid = np.zeros((n, columns))
    mended, broken = np.zeros((n, columns - 1)), np.zeros((n, columns - 1))
    likelihood = np.zeros(n)
    size = (1 - noise.icc) / noise.icc
    for i in range(n):
        for x in product((0, 1), repeat=int(table.length[i])):
            p = noise.valid if x[0] else 1 - noise.valid
            for k, state in enumerate(x):
                mean = 1 - noise.rho1 if state else noise.rho0
                counts = (table.accepts[i, k], table.votes[i, k])
                p *= betabinom.pmf(*counts, mean * size, (1 - mean) * size)
                p *= table.valid[i, k] in (UNKNOWN, state)
                if k:
                    change = noise.beta_at(k) if x[k - 1] else noise.alpha_at(k)
                    p *= change if state != x[k - 1] else 1 - change
            likelihood[i] += p
            for k, state in enumerate(x):
                valid[i, k] += p * state
                if k and state != x[k - 1]:
                    (mended if state else broken)[i, k - 1] += p
        valid[i] /= likelihood[i]
        mended[i] /= likelihood[i]
        broken[i] /= likelihood[i]
    return valid, mended, broken, likelihood


NOISE = NoiseModel(0.3, 0.2, 0.3, 0.15, 0.6, 0.2, (0.4, 0.3, 0.2), (0.1, 0.2, 0.25))
MODEL = ChainModel(3, 3, 0.2)
THETA = logit([0.3, 0.8, 0.6, 0.4, 0.3, 0.2, 0.1, 0.2, 0.25])[None]


def test_forward_backward_is_enumeration() -> None:
    """Posterior, transitions and likelihood ratios equal the sums over every hidden history."""
    table = small_table()
    found = Chain(table).posterior(MODEL, THETA)
    valid, mended, broken, likelihood = enumerate_histories(table, NOISE)
    inside = np.arange(table.columns) < table.length[:, None]
    np.testing.assert_allclose(found.valid[0][inside], valid[inside], atol=1e-10)
    np.testing.assert_allclose(found.mended[0], mended, atol=1e-10)
    np.testing.assert_allclose(found.broken[0], broken, atol=1e-10)
    other = NoiseModel(0.25, 0.3, 0.3, 0.15, 0.5, 0.2)
    theta = logit([0.25, 0.7, 0.5, 0.3, 0.15])[None]
    ratio = Chain(table).posterior(ChainModel(icc=0.2), theta).log_likelihood - found.log_likelihood
    expected = np.log(enumerate_histories(table, other)[3] / likelihood)
    np.testing.assert_allclose(ratio[0], expected, atol=1e-9)


@pytest.mark.parametrize("model", [MODEL, ChainModel(1, 3), ChainModel(3, 1, 0.1), ChainModel()])
def test_scores_are_derivatives(model: ChainModel) -> None:
    """Each loop's score is the derivative of its log likelihood in the logits."""
    chain = Chain(small_table())
    theta = np.linspace(-1.2, 0.9, model.size)
    h = 1e-5
    shifts = np.concatenate([np.eye(model.size), -np.eye(model.size)]) * h
    values = chain.posterior(model, theta + shifts).log_likelihood
    slopes = (values[: model.size] - values[model.size :]) / (2 * h)
    np.testing.assert_allclose(chain.scores(model, theta[None])[0], slopes.T, atol=1e-6)


def test_a_step_never_lowers_the_objective() -> None:
    """EM steps climb: from random starts, with by-round rates and correlated votes."""
    chain = Chain(small_table())
    theta = np.random.default_rng(0).normal(size=(20, MODEL.size))
    last = np.full(20, -np.inf)
    for _ in range(15):
        theta, objective = chain.step(MODEL, theta)
        assert (objective >= last - 1e-9).all()
        last = objective


def test_one_round_is_the_mixture() -> None:
    """On loops of a single plan the chain and the mixture have one maximum."""
    runs = simulate_repair(NoiseModel(0.3, 0.2, 0.2, 0.1, 0.6), 300, rounds=0, seed=2)
    mixture = fit_mixture(VoteCounts.of_first_plans(runs.accepts.T, 8))
    start = logit([[0.2, 0.7, 0.5, 0.5, 0.5]])
    fit = Chain(RepairTable.from_arrays(runs.accepts, 8)).fit(ChainModel(), start)
    expected = [mixture.rho0[0], 1 - mixture.rho1[0], mixture.valid[0]]
    np.testing.assert_allclose(expit(fit.theta[:3]), expected, atol=1e-4)


def test_recovers_what_the_loops_were_drawn_from() -> None:
    """From 2,500 unlabelled loops all five parameters come back (labels never seen).

    Tolerances are about four standard errors of 20 simulated fits of this size.
    """
    noise = NoiseModel(0.3, 0.2, 0.25, 0.1, 0.6)
    runs = simulate_repair(noise, 2_500, rounds=5, seed=4)
    start = logit([[0.2, 0.7, 0.5, 0.2, 0.2], [0.4, 0.6, 0.7, 0.1, 0.3]])
    fit = Chain(RepairTable.from_arrays(runs.accepts, 8)).fit(ChainModel(), start)
    assert fit.converged
    found, truth = expit(fit.theta), [0.3, 0.8, 0.6, 0.25, 0.1]
    assert (np.abs(found - truth) < [0.012, 0.008, 0.05, 0.03, 0.02]).all()


def test_held_parameters_stay() -> None:
    """Parameters that are held keep their start."""
    runs = simulate_repair(NoiseModel(0.3, 0.2, 0.25, 0.1, 0.6), 50, seed=1)
    start = logit([[0.2, 0.7, 0.5, 0.33, 0.07]])
    chain = Chain(RepairTable.from_arrays(runs.accepts, 8))
    fit = chain.fit(ChainModel(free=(True, True, False)), start)
    np.testing.assert_array_equal(fit.theta[3:], start[0, 3:])
    assert not np.allclose(fit.theta[:3], start[0, :3])
