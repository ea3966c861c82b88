"""Refits on resampled clusters, for votes without labels."""

from __future__ import annotations

import numpy as np
import pytest

from haltwise.calibrate.fit import fit_noise
from haltwise.calibrate.resample import VoteResampling
from haltwise.calibrate.sign import measure_sign
from haltwise.core.noise import NoiseModel
from haltwise.record.repair_table import UNKNOWN, RepairTable
from haltwise.simulated.repair import simulate_repair


def table(noise: NoiseModel, *, labelled: int = 0, rounds: int = 5, seed: int = 0) -> RepairTable:
    """300 simulated loops of which the first ones carry their truth."""
    runs = simulate_repair(noise, 300, rounds=rounds, seed=seed)
    valid = np.where(np.arange(300)[:, None] < labelled, runs.valid, UNKNOWN)
    return RepairTable.from_arrays(runs.accepts, 8, valid)


def test_agrees_with_the_covariance_where_votes_are_clear() -> None:
    """At J = .6 refits and covariance give the same standard deviations within a fifth."""
    fit = fit_noise(table(NoiseModel(0.2, 0.2, 0.2, 0.1, 0.6)), method="em")
    assert fit.votes.resampling is not None
    draws = fit.votes.resampling.draws(400, np.random.default_rng(0))
    np.testing.assert_allclose(draws.std(axis=0), np.sqrt(np.diag(fit.votes.spread)), rtol=0.2)
    np.testing.assert_allclose(draws.mean(axis=0), fit.votes.theta, atol=0.05)


def test_clusters_are_drawn_as_one() -> None:
    """Every loop four times over, as one cluster, gives the spread of the loops taken once."""
    once = table(NoiseModel(0.2, 0.2, 0.2, 0.1, 0.6), rounds=0)
    again = once.rows(np.tile(np.arange(300), 4))
    spreads = [
        VoteResampling.of(loops, 0.0).draws(300, np.random.default_rng(1)).std(axis=0)
        for loops in (once, again)
    ]
    np.testing.assert_allclose(spreads[0], spreads[1], rtol=0.15)


@pytest.mark.parametrize("seed", [14, 82])
def test_the_sign_is_not_known_from_a_flat_ridge(seed: int) -> None:
    """In the stress case label-free votes never identify the sign where they would break plans.

    On these seeds the fit believes that hardly any plan is valid and repairs all of them; the
    covariance at that maximum gives P_flip <= .04, the refits show the truth.
    """
    noise = NoiseModel(rho0=0.361, rho1=0.609, alpha=0.05, beta=0.75, valid=0.803)
    fit = fit_noise(table(noise, labelled=60, seed=seed), method="em")
    assert fit.noise.valid < fit.noise.alpha / (fit.noise.alpha + fit.noise.beta)
    draws = fit.draws(60, 5, np.random.default_rng(0))
    assert measure_sign(fit.noise, draws, 8).p_flip > 0.2
