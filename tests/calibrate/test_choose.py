"""Which rule the evidence supports."""

from __future__ import annotations

import numpy as np
import pytest

from haltwise.calibrate.choose import choose, labelled_discrimination, replay_labelled
from haltwise.calibrate.fit import fit_noise
from haltwise.calibrate.sign import Sign
from haltwise.core.errors import ExpressionError
from haltwise.core.expression import parse_policy
from haltwise.core.noise import NoiseModel
from haltwise.core.policies import Auto, Vrr
from haltwise.record.repair_table import UNKNOWN, RepairTable
from haltwise.simulated.repair import simulate_repair

SURE = Sign(p_flip=0.01, decided=1.0, repairs=0.5, exact=True)
GOOD = NoiseModel(0.2, 0.2, 0.4, 0.05, 0.5)


def loops(noise: NoiseModel, *, labelled: int, n: int = 200, seed: int = 0) -> RepairTable:
    """Simulated loops of which the first ``labelled`` carry their truth."""
    runs = simulate_repair(noise, n, seed=seed)
    valid = np.where(np.arange(n)[:, None] < labelled, runs.valid, UNKNOWN)
    return RepairTable.from_arrays(runs.accepts, 8, valid)


def test_follows_the_fit() -> None:
    """With labelled transitions that show a gain, `auto` follows the fit and says why."""
    table = loops(GOOD, labelled=60)
    choice = choose("auto", fit_noise(table), SURE, table, eta=0.05)
    assert choice.policy == "auto" and choice.fallback is None
    assert choice.replay is not None and choice.replay.loops == 60
    assert choice.replay.delivered > choice.replay.initial + 0.2
    assert "optimal stopping" in choice.why and "60 labelled loops" in choice.why


def test_guards_without_labelled_transitions() -> None:
    """First exception: no labelled transition at all, and `auto` guards."""
    table = loops(GOOD, labelled=0)
    choice = choose("auto", fit_noise(table), SURE, table, eta=0.05)
    assert choice.policy == 'auto(fallback="guard")' and choice.fallback == "guard"
    assert choice.replay is None and choice.discrimination is None
    rule = parse_policy(choice.policy, defaults={"noise": GOOD})
    assert isinstance(rule, Auto) and rule.rule.name == "vrr_guard"


def test_delivers_the_initial_plan_where_the_rule_loses_on_the_labelled_loops() -> None:
    """Second exception: replayed on labelled loops the rule ends below no repair.

    The loops are a trap: valid first plans that every vote rejects, and repairs that look perfect
    and are not. The fit is handed over from elsewhere and says that repair works.
    """
    accepts = np.tile([0, 8, 8], (40, 1))
    valid = np.tile([1, 0, 0], (40, 1))
    table = RepairTable.from_arrays(accepts, 8, valid)
    fit = fit_noise(loops(GOOD, labelled=60))
    choice = choose("auto", fit, SURE, table, eta=0.05)
    assert choice.fallback == "none" and choice.policy == 'auto(fallback="none")'
    assert choice.replay is not None and choice.replay.delivered == 0
    gated = RepairTable(
        table.accepts, table.votes, table.valid, table.length, table.cluster, np.ones(40, bool)
    )
    assert choose("auto", fit, SURE, gated, eta=0.05).fallback is None


def test_other_rules_are_written_as_they_are() -> None:
    """A rule that was asked for is kept, with the noise filled in only to check it."""
    table = loops(GOOD, labelled=0)
    for policy in ("vrr_stop", "vrr(eta=.05) | never", "fixed(2)"):
        choice = choose(policy, fit_noise(table), SURE, table, eta=0.05)
        assert choice.policy == policy and choice.fallback is None and "asked for" in choice.why
    with pytest.raises(ExpressionError, match="there is no rule"):
        choose("vr_stop", fit_noise(table), SURE, table, eta=0.05)


def test_auto_inside_a_combination_falls_back_too() -> None:
    """Inside a combination `auto` keeps its words; the fallback goes into the evidence."""
    table = loops(GOOD, labelled=0)
    choice = choose("auto | fixed(3)", fit_noise(table), SURE, table, eta=0.05)
    assert choice.policy == "auto | fixed(3)" and choice.fallback == "guard"


def test_discrimination_of_labelled_plans() -> None:
    """J from labels is the difference of the accept shares: 13.5/17 - 4.5/17 = 9/17."""
    table = RepairTable.from_arrays([[4, 6], [0, 7]], 8, [[0, 1], [0, 1]])
    assert labelled_discrimination(table) == pytest.approx(9 / 17)
    assert labelled_discrimination(loops(GOOD, labelled=0)) is None
    choice = choose("vrr", fit_noise(table), SURE, table, eta=0.05)
    rule = parse_policy("vrr", defaults={"noise": GOOD, "discrimination": choice.discrimination})
    assert isinstance(rule, Vrr) and "0.529" in rule.why


def test_replay_takes_fully_labelled_ungated_loops() -> None:
    """Loops with an unknown round, of a single plan, or gated, are not replayed on."""
    valid = np.array([[1, 0], [1, -1], [0, 1], [0, -1]], np.int8)
    table = RepairTable(
        np.full((4, 2), 4),
        np.full((4, 2), 8),
        valid,
        np.array([2, 2, 2, 1]),
        np.arange(4),
        np.array([False, False, True, False]),
    )
    replay = replay_labelled(parse_policy("fixed(1)"), table)
    assert replay is not None and (replay.loops, replay.delivered, replay.initial) == (1, 0.0, 1.0)
