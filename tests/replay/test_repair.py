"""Repair replay: the same stops and plans as the online loop, and what they are worth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from haltwise.core.expression import parse_policy
from haltwise.core.loop import RepairLoop
from haltwise.core.noise import NoiseModel
from haltwise.core.policies import Lookahead, VrrStop
from haltwise.core.policy import Policy
from haltwise.record.repair_table import RepairTable
from haltwise.replay.firing import NEVER
from haltwise.replay.outcome import repair_outcomes
from haltwise.replay.repair import repair_firing
from haltwise.simulated.repair import simulate_repair

from .loops import noise_models, repair_policies, repair_tables

TRUTH = {1: True, 0: False, -1: None}


def online(policy: Policy, table: RepairTable, i: int) -> tuple[int, int]:
    """Return the round at which the online loop stops, or `NEVER`, and the plan it delivers."""
    loop: RepairLoop[int] = RepairLoop(policy)
    for k in range(int(table.length[i])):
        accepts, votes = int(table.accepts[i, k]), int(table.votes[i, k])
        if loop.observe(k, accepts, votes, valid=TRUTH[int(table.valid[i, k])]).stops:
            return k, loop.best
    return int(NEVER), loop.best


def replayed(policy: Policy, table: RepairTable) -> list[tuple[int, int]]:
    """Return rounds and plans of the replay; a rule without an opinion delivers the newest."""
    firing = repair_firing(policy, table)
    newest = np.minimum(firing.step, table.length - 1)
    plans = np.where(firing.candidate < 0, newest, firing.candidate)
    return list(zip(firing.step.tolist(), plans.tolist(), strict=True))


@settings(max_examples=150)
@given(repair_tables(), repair_policies())
def test_replay_stops_where_the_online_loop_stops(table: RepairTable, policy: Policy) -> None:
    """Every rule, alone and in every combination: the same round and the same plan."""
    assert replayed(policy, table) == [online(policy, table, i) for i in range(len(table))]


@settings(max_examples=20)
@given(noise_models(), noise_models(), st.sampled_from([0.0, 0.01]), st.integers(0, 99))
def test_belief_rules_agree_on_many_simulated_loops(
    truth: NoiseModel, belief: NoiseModel, tau: float, seed: int
) -> None:
    """Loops drawn from one noise, rules that believe in another: no loop differs."""
    runs = simulate_repair(truth, 40, votes=5, rounds=4, seed=seed)
    table = RepairTable.from_arrays(runs.accepts, 5, runs.valid)
    for policy in (VrrStop(belief, tau), Lookahead(belief, tau, rounds=4)):
        assert replayed(policy, table) == [online(policy, table, i) for i in range(len(table))]


def test_a_belief_exactly_at_its_threshold_is_left_to_the_online_rule() -> None:
    """A tie in exact arithmetic: b* = .5 and 4 of 8 votes under a symmetric verifier at pi = .5."""
    noise = NoiseModel(rho0=0.3, rho1=0.3, alpha=0.2, beta=0.2, valid=0.5)
    table = RepairTable.from_arrays([[4, 4, 4]] * 3, 8)
    policy = VrrStop(noise)
    assert replayed(policy, table) == [online(policy, table, i) for i in range(3)]


@given(repair_tables(), repair_policies(), st.sampled_from([0.0, 0.01]))
def test_outcomes_are_those_of_the_delivered_plan(
    table: RepairTable, policy: Policy, price: float
) -> None:
    """Truth of the plan, repairs and votes until the stop, best of all plans; unknown is NaN."""
    found = repair_outcomes(table, repair_firing(policy, table), price)
    for i in range(len(table)):
        stop, plan = online(policy, table, i)
        last = int(table.length[i]) - 1
        made = min(stop, last)
        truths = [math.nan if v < 0 else float(v) for v in table.valid[i, : last + 1].tolist()]
        success = truths[plan]
        known = [(v, k) for k, v in enumerate(truths) if not math.isnan(v)]
        assert found.steps[i] == made
        assert found.votes[i] == table.votes[i, : made + 1].sum()
        np.testing.assert_equal(found.success[i], success)
        if math.isnan(success):
            assert math.isnan(found.miss[i]) and math.isnan(found.regret[i])
            continue
        assert found.miss[i] == (max(v for v, _ in known) > success)
        best = max(v - price * k for v, k in known)
        assert found.regret[i] == pytest.approx(best - (success - price * made))


def test_a_graded_outcome_stands_for_the_truth_of_the_last_plan() -> None:
    """A loop whose rounds were not labelled but whose end was: no repair is unknown, the end is."""
    table = RepairTable.from_arrays([[1, 8]], 8)
    last = repair_outcomes(table, repair_firing(parse_policy("never"), table), 0, np.array([1.0]))
    first = repair_outcomes(
        table, repair_firing(parse_policy("fixed(0)"), table), 0, np.array([1.0])
    )
    assert last.success.tolist() == [1] and last.open_ends == 1
    assert np.isnan(first.success).all() and first.unknown_stops == 1


def test_miss_sees_later_and_earlier_plans() -> None:
    """A better plan that came later, and one that was passed over, are both misses."""
    table = RepairTable.from_arrays([[8, 0, 0], [8, 0, 0]], 8, [[0, 1, 0], [1, 0, 0]])
    found = repair_outcomes(table, repair_firing(parse_policy("fixed(2)"), table), 0.01)
    assert found.miss.tolist() == [1, 1]
    stopped = repair_outcomes(table, repair_firing(parse_policy("majority"), table), 0.01)
    assert stopped.miss.tolist() == [1, 0]
    assert stopped.regret.tolist() == pytest.approx([0.99, 0])
