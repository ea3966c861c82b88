"""Reports on verify-repair loops: what is reported against what is true, and how sure that is."""

from __future__ import annotations

import math

import numpy as np
import pytest

from haltwise.calibrate.repair import calibrate_repair
from haltwise.core.noise import NoiseModel
from haltwise.core.validity import probability, smoothed
from haltwise.record.repair_table import UNKNOWN, RepairTable
from haltwise.report import render
from haltwise.report.repair.beliefs import filtered, reliability_figure, votes_figure
from haltwise.report.repair.page import calibration_page, loops_page, study_page
from haltwise.report.repair.rounds import by_round, rounds_figure
from haltwise.report.repair.signs import sign_figure, threshold_of
from haltwise.simulated.repair import simulate_repair
from haltwise.study.repair.analysis import analyse

NOISE = NoiseModel(rho0=0.35, rho1=0.15, alpha=0.12, beta=0.55, valid=0.7, icc=0.2)


@pytest.fixture(scope="module")
def table() -> RepairTable:
    """Simulated loops with their truth."""
    return RepairTable.from_episodes(simulate_repair(NOISE, 200, seed=1).episodes())


def test_validity_and_acceptance_are_counted_by_round(table: RepairTable) -> None:
    """Each point is the plain share of the loops of that round."""
    validity, acceptance = by_round(table)
    for k in range(table.columns):
        assert validity[k].value == pytest.approx((table.valid[:, k] == 1).mean())
        most = 2 * table.accepts[:, k] > table.votes[:, k]
        assert acceptance[k].value == pytest.approx(most.mean())


def test_unknown_truth_is_undefined_not_zero(table: RepairTable) -> None:
    """Without labels there is no validity; the figure says so and draws acceptance alone."""
    blind = table.relabelled(np.full_like(table.valid, UNKNOWN))
    validity, acceptance = by_round(blind)
    assert all(math.isnan(estimate.value) for estimate in validity)
    figure = rounds_figure(validity, acceptance)
    assert {row[1] for row in figure.table.rows} == {"–"}
    assert "accepted" in figure.title


def test_the_last_belief_is_the_smoothed_one(table: RepairTable) -> None:
    """At the last round the filter has seen all votes, so it agrees with forward-backward."""
    beliefs = filtered(table, NOISE)
    for i in range(20):
        history = list(zip(table.accepts[i].tolist(), table.votes[i].tolist(), strict=True))
        assert beliefs[i, -1] == pytest.approx(probability(smoothed(NOISE, history)[-1]))


def test_true_parameters_give_reliable_beliefs(table: RepairTable) -> None:
    """Under the noise that drew the votes, classes of belief hold as many valid plans as said."""
    rows = reliability_figure(table, NOISE).table.rows
    fitted = [row for row in rows if "as fitted" in row[0]]
    assert len(fitted) >= 4
    for _, belief, share, plans in fitted:
        valid = float(share.removesuffix(" %")) / 100
        spread = math.sqrt(0.25 / int(plans.replace(",", "")))
        assert abs(valid - float(belief)) < 4 * spread


def test_expected_votes_add_up(table: RepairTable) -> None:
    """The expected shares over all counts of accepts sum to one, with and without correlation."""
    rows = [row for row in votes_figure(table, NOISE).table.rows if row[0].endswith(" valid plans")]
    for column in (2, 3):
        total = sum(float(row[column].removesuffix(" %")) for row in rows)
        assert total == pytest.approx(100, abs=2)


def test_the_threshold_of_a_repair() -> None:
    """b* = (alpha - tau) / (alpha + beta); METHODS' oracle .25 and .08 give .758."""
    assert threshold_of(0.25, 0.08) == pytest.approx(0.7576, abs=1e-4)
    assert threshold_of(0.0, 0.0) is None


def test_the_sign_map_has_the_fit_and_its_cloud(table: RepairTable) -> None:
    """The fit lies within the cloud that the data leave possible."""
    calibration = calibrate_repair(table, seed=1)
    j, star = sign_figure(calibration).table.rows[:2]
    for _, fit, cloud in (j, star):
        low, high = (float(end) for end in cloud.split(" to "))
        assert low <= float(fit) <= high


def test_the_pages_hold_together(table: RepairTable) -> None:
    """Loops, calibration and study each give a page that says what is wrong."""
    calibration = calibrate_repair(table, seed=1)
    loops = render(loops_page(table, calibration, "", None))
    assert "Repair makes plans worse" in loops
    assert "Calibration" in render(calibration_page(table, calibration, again="loops.jsonl"))
    episodes = list(simulate_repair(NOISE, 80, seed=2).episodes())
    study = analyse(episodes, ("fixed(0)", "fixed", "vrr_stop", "oracle"), replicates=50, folds=2)
    html = render(study_page(study, RepairTable.from_episodes(episodes)))
    assert "Cross-fitted on 80 problems" in html
    assert "<code>oracle</code></p>" not in html
