"""From loops to a noise model: what each method uses, how far it may be off, what it refuses."""

from __future__ import annotations

import math

import numpy as np
import pytest

from haltwise.calibrate.fit import METHODS, NoiseFit, default_method, fit_noise
from haltwise.core.errors import InputError
from haltwise.core.noise import NoiseModel
from haltwise.record.repair_table import UNKNOWN, RepairTable
from haltwise.simulated.repair import simulate_repair

TRUTH = NoiseModel(0.35, 0.25, 0.2, 0.1, 0.6)


def loops(
    noise: NoiseModel = TRUTH,
    n: int = 300,
    *,
    labelled: int = 60,
    rounds: int = 5,
    votes: int = 8,
    seed: int = 0,
) -> RepairTable:
    """Simulated loops of which the first ``labelled`` carry their truth."""
    runs = simulate_repair(noise, n, votes=votes, rounds=rounds, seed=seed)
    valid = np.where(np.arange(n)[:, None] < labelled, runs.valid, UNKNOWN)
    return RepairTable.from_arrays(runs.accepts, votes, valid)


@pytest.mark.parametrize(
    ("table", "method"),
    [
        (loops(labelled=300), "labels"),
        (loops(labelled=60), "chain"),
        (loops(labelled=0), "chain"),
        (loops(labelled=60, rounds=0), "semi"),
        (loops(labelled=0, rounds=0), "em"),
    ],
)
def test_default_method_uses_what_is_there(table: RepairTable, method: str) -> None:
    """The default is the method that uses everything in the record."""
    assert default_method(table) == method
    assert fit_noise(table).method == method


@pytest.mark.parametrize("method", METHODS)
def test_intervals_cover(method: str) -> None:
    """95 % intervals of all six parameters cover the truth in at least 86 % of the seeds.

    The intervals are asymptotic; 86 % of 60 is three binomial standard deviations below 95 %.
    """
    truth = {
        "rho0": 0.35, "rho1": 0.25, "valid": 0.6, "discrimination": 0.4, "alpha": 0.2, "beta": 0.1,
    }  # fmt: skip
    covered = dict.fromkeys(truth, 0)
    seeds = 60 if method != "chain" else 30
    for seed in range(seeds):
        fit = fit_noise(loops(labelled=60, seed=seed), method=method)
        found = {
            "rho0": fit.rho0, "rho1": fit.rho1, "valid": fit.valid,
            "discrimination": fit.discrimination,
            "alpha": fit.alpha.estimate, "beta": fit.beta.estimate,
        }  # fmt: skip
        for name, value in truth.items():
            covered[name] += found[name].low <= value <= found[name].high
    assert min(covered.values()) >= 0.86 * seeds, covered


def test_dependent_loops_widen_the_intervals() -> None:
    """Every loop four times over, as one cluster, gives the intervals of the loops taken once."""
    once = loops(n=100, labelled=100)
    again = once.rows(np.tile(np.arange(100), 4))
    clustered = fit_noise(again, method="labels")
    alone = fit_noise(once, method="labels")
    width = [fit.rho0.high - fit.rho0.low for fit in (clustered, alone)]
    assert width[0] == pytest.approx(width[1], rel=0.02)


def test_chain_uses_more_than_the_first_plan() -> None:
    """On whole loops the intervals are narrower than from initial plans alone."""
    table = loops()
    chain, semi, em = (fit_noise(table, method=m) for m in ("chain", "semi", "em"))
    widths = [fit.rho0.high - fit.rho0.low for fit in (chain, semi, em)]
    assert widths[0] < widths[1] < widths[2]


def test_gated_loops_leave_beta_unidentified() -> None:
    """Loops that end when right say nothing of beta: undefined with a note, never 0."""
    runs = simulate_repair(TRUTH, 200, seed=3)
    first = np.where(runs.valid.any(axis=1), runs.valid.argmax(axis=1), 5)
    inside = np.arange(6) <= first[:, None]
    table = RepairTable(
        np.where(inside, runs.accepts, 0),
        np.where(inside, 8, 0),
        np.where(inside, runs.valid, UNKNOWN).astype(np.int8),
        first + 1,
        np.arange(200),
        np.zeros(200, bool),
    )
    fit = fit_noise(table)
    assert fit.gated and fit.n_valid == 0 and fit.n_invalid > 50
    assert not fit.beta.estimate.defined and "beta not identified" in fit.beta.estimate.note
    assert fit.noise.beta == 0.5
    assert fit.alpha.estimate.low < 0.2 < fit.alpha.estimate.high


def test_correlated_votes_are_found_with_labels_and_not_without() -> None:
    """With labels the ICC enters the model; without it is undefined, and J is marked."""
    noise = NoiseModel(0.35, 0.35, 0.1, 0.8, 0.7, 0.3)
    with_labels = fit_noise(loops(noise, labelled=60))
    assert with_labels.noise.icc == pytest.approx(0.3, abs=0.08)
    for method in ("em", "chain"):
        fit = fit_noise(loops(noise, labelled=0), method=method)
        assert fit.noise.icc == 0 and math.isnan(fit.overdispersion.estimate.value)
        assert "not identified" in fit.overdispersion.estimate.note
        assert "independent" in fit.discrimination.note
    # METHODS: counts alone report a J far above the truth of .3
    assert fit.discrimination.value > 0.45


def test_votes_without_information_are_called_that() -> None:
    """At J = .03 the fit says so, with labels and without."""
    noise = NoiseModel(0.361, 0.609, 0.05, 0.75, 0.803)
    assert "votes carry no information" in fit_noise(loops(noise)).notes[0]
    without = fit_noise(loops(noise, labelled=0), method="em")
    assert any("one binomial explains them" in note for note in without.notes)
    assert math.isnan(without.rho0.low) and "not identified" in without.rho0.note
    assert not any("no information" in note for note in fit_noise(loops()).notes)


def test_chain_without_labels_estimates_the_repair_too() -> None:
    """Without a labelled transition the chain reads alpha and beta off the votes, and says so."""
    fit = fit_noise(loops(n=600, labelled=0, seed=5))
    for rate, value in ((fit.alpha, 0.2), (fit.beta, 0.1)):
        assert rate.estimate.low < value < rate.estimate.high
        assert "rests on the votes" in rate.estimate.note
    assert fit.n_invalid == fit.n_valid == 0
    draws = fit.draws(20_000, 5, np.random.default_rng(0))
    assert draws.beta.mean() == pytest.approx(fit.beta.mean, abs=0.003)


def test_chain_without_labels_finds_rates_that_fall_by_round() -> None:
    """alpha falling over rounds shows in the votes alone when there are enough loops."""
    noise = NoiseModel(0.2, 0.2, 0.3, 0.03, 0.45, alpha_by_round=(0.5, 0.3, 0.15, 0.08, 0.04))
    fit = fit_noise(loops(noise, n=1_500, labelled=0, seed=1))
    assert fit.alpha.by_round is not None and fit.beta.by_round is None
    np.testing.assert_allclose(fit.alpha.by_round, noise.alpha_by_round, atol=0.09)


def test_labelled_rounds_that_differ_enter_the_model() -> None:
    """alpha by round from labelled transitions is part of the noise model."""
    noise = NoiseModel(0.3, 0.2, 0.2, 0.05, 0.4, alpha_by_round=(0.5, 0.2, 0.1, 0.05, 0.03))
    fit = fit_noise(loops(noise, labelled=150))
    assert fit.noise.alpha_by_round is not None
    assert fit.noise.alpha_by_round[0] > 0.35 > 0.15 > fit.noise.alpha_by_round[3]


def test_draws_follow_the_intervals() -> None:
    """Draws are centred on the estimates and as wide as their intervals."""
    fit = fit_noise(loops())
    draws = fit.draws(20_000, 5, np.random.default_rng(1))
    for values, estimate in (
        (draws.rho0, fit.rho0),
        (draws.rho1, fit.rho1),
        (draws.valid, fit.valid),
        (draws.alpha[:, 0], fit.alpha.estimate),
    ):
        low, high = np.quantile(values, [0.025, 0.975])
        assert low == pytest.approx(estimate.low, abs=0.006)
        assert high == pytest.approx(estimate.high, abs=0.006)


def test_no_votes_at_all() -> None:
    """Truths without votes still give alpha, beta and pi; the votes are undefined."""
    table = loops(labelled=300)
    silent = RepairTable(
        table.accepts * 0, table.votes * 0, table.valid, table.length, table.cluster, table.gated
    )
    fit = fit_noise(silent)
    assert not fit.rho0.defined and "no votes" in fit.rho0.note
    assert fit.noise.discrimination == 0
    assert fit.valid.defined and fit.alpha.estimate.defined


def test_labels_of_one_kind_only() -> None:
    """With labelled plans all valid, rho0 and J are undefined under labels alone."""
    fit = fit_noise(RepairTable.from_arrays([[7], [8], [6]], 8, [[1], [1], [1]]))
    assert not fit.rho0.defined and fit.rho1.defined and not fit.discrimination.defined


def _fit(table: RepairTable, method: str | None = None) -> NoiseFit:
    return fit_noise(table, method=method)


@pytest.mark.parametrize(
    ("table", "method", "message"),
    [
        (loops(n=1).rows(np.array([], np.int64)), None, "no repair loops"),
        (loops(labelled=0), "labels", "method labels needs labels"),
        (loops(labelled=0), "semi", "use method em"),
        (loops(labelled=0, votes=2), None, "two votes per plan: .*at least 3; give labels"),
        (loops(labelled=60, votes=2), "em", "two votes per plan"),
        (loops(), "magic", "method is one of em, semi, labels, chain; got 'magic'"),
    ],
)
def test_refusals(table: RepairTable, method: str | None, message: str) -> None:
    """What cannot be calibrated is refused in one sentence that says what would do."""
    with pytest.raises(InputError, match=message):
        _fit(table, method)


def test_one_task_gives_no_interval() -> None:
    """Votes on the plans of a single loop are no sample of loops: values, but no intervals."""
    table = RepairTable.from_arrays([[4, 6, 3, 7]], [[8, 8, 8, 8]], [[0, 1, 0, 1]])
    fit = fit_noise(table, method="labels")
    assert np.isnan(fit.rho0.low)
    assert "one task" in fit.rho0.note
    assert "one task" in fit.discrimination.note
