"""Simulated repair loops carry the parameters they were drawn from."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from haltwise.core.errors import ParameterError
from haltwise.core.noise import NoiseModel
from haltwise.simulated import is_simulated, simulate_repair

NOISE = NoiseModel(rho0=0.3, rho1=0.2, alpha=0.25, beta=0.1, valid=0.6)


def test_same_seed_same_loops() -> None:
    """Equal arguments give equal loops, another seed gives others."""
    a, b = simulate_repair(NOISE, 50, seed=4), simulate_repair(NOISE, 50, seed=4)
    assert np.array_equal(a.accepts, b.accepts)
    assert np.array_equal(a.valid, b.valid)
    assert not np.array_equal(a.accepts, simulate_repair(NOISE, 50, seed=5).accepts)


def test_frequencies_match_the_parameters() -> None:
    """The share of valid plans, of each transition and of accepts lie within 5 standard errors."""
    runs = simulate_repair(NOISE, 100_000, seed=1)
    before, after = runs.valid[:, :-1].ravel(), runs.valid[:, 1:].ravel()
    share = runs.accepts / runs.votes
    for observed, expected in (
        (runs.valid[:, 0], NOISE.valid),
        (after[~before], NOISE.alpha),
        (~after[before], NOISE.beta),
        (share[~runs.valid], NOISE.rho0),
        (1 - share[runs.valid], NOISE.rho1),
    ):
        error = np.sqrt(expected * (1 - expected) / observed.size)
        assert abs(observed.mean() - expected) < 5 * error


@pytest.mark.parametrize("icc", [0.0, 0.1, 0.3])
def test_votes_follow_the_beta_binomial(icc: float) -> None:
    """Counts on valid plans match SciPy's (beta-)binomial pmf by a chi-square at p > 1e-4."""
    noise = NoiseModel(rho0=0.3, rho1=0.2, alpha=0.2, beta=0.2, valid=0.5, icc=icc)
    runs = simulate_repair(noise, 20_000, votes=8, rounds=1, seed=2)
    counts = np.bincount(runs.accepts[runs.valid], minlength=9)
    size = (1 - icc) / icc if icc else None
    law = stats.betabinom(8, 0.8 * size, 0.2 * size) if size else stats.binom(8, 0.8)
    expected = counts.sum() * law.pmf(np.arange(9))
    keep = expected >= 5
    statistic = ((counts - expected) ** 2 / expected)[keep].sum()
    assert stats.chi2.sf(statistic, keep.sum() - 1) > 1e-4


def test_repair_parameters_by_round() -> None:
    """A list by round is used in its order and its last entry holds on."""
    noise = NoiseModel(
        rho0=0.3, rho1=0.2, alpha=0.5, beta=0.0, valid=0.0, alpha_by_round=(1.0, 0.0)
    )
    assert simulate_repair(noise, 20, rounds=3).valid.tolist() == [[False, True, True, True]] * 20


def test_certain_votes_stay_certain_under_overdispersion() -> None:
    """A verifier that never errs never errs, whatever the ICC."""
    noise = NoiseModel(rho0=0.0, rho1=0.0, alpha=0.5, beta=0.5, valid=0.5, icc=0.3)
    runs = simulate_repair(noise, 200)
    assert np.array_equal(runs.accepts == runs.votes, runs.valid)


def test_episodes_say_that_they_are_simulated() -> None:
    """Every episode carries the label in its model and notes, and the arrays in its steps."""
    runs = simulate_repair(NOISE, 3, votes=5, rounds=2, seed=7)
    for i, episode in enumerate(runs.episodes()):
        assert is_simulated(episode.model)
        assert "simulated" in episode.notes[0]
        assert [step.accepts for step in episode.steps] == runs.accepts[i].tolist()
        assert [step.valid for step in episode.steps] == runs.valid[i].tolist()
        assert episode.outcome.success == runs.valid[i, -1]


def test_unlabelled_episodes_hide_the_truth() -> None:
    """Without labels neither the rounds nor the outcome carry the truth."""
    for episode in simulate_repair(NOISE, 3).episodes(labelled=False):
        assert episode.outcome.success is None
        assert {step.valid for step in episode.steps} == {None}


@pytest.mark.parametrize("wrong", [{"n": 0}, {"n": 5, "votes": 0}, {"n": 5, "rounds": -1}])
def test_sizes_out_of_range(wrong: dict[str, int]) -> None:
    """A size without meaning is refused by name."""
    with pytest.raises(ParameterError, match="at least"):
        simulate_repair(NOISE, **wrong)
