"""The cross-fitted analysis against known noise: it recovers it, and its table is the exact one."""

from __future__ import annotations

import asyncio
import json

import pytest

from haltwise import InputError, NoiseModel
from haltwise.core.expression import parse_policy
from haltwise.record.episode import RepairEpisode
from haltwise.replay.exact import evaluate
from haltwise.study.repair.analysis import RepairStudy, analyse
from haltwise.study.repair.crossfit import POLICIES
from haltwise.study.repair.loop import Setting, play
from haltwise.study.repair.scripted import scripted, scripted_task

STRESS = NoiseModel(rho0=0.2, rho1=0.3, alpha=0.15, beta=0.7, valid=0.7)
WEAK = NoiseModel(rho0=0.45, rho1=0.5, alpha=0.05, beta=0.7, valid=0.75)
LOOPS, VOTES, ROUNDS = 600, 8, 5


def record(noise: NoiseModel, loops: int = LOOPS) -> list[RepairEpisode]:
    """Run the study's own loop on scripted models, every round of it."""
    task = scripted_task(loops)
    setting = Setting(task, "haltwise/scripted", votes=VOTES, rounds=ROUNDS)

    async def all_of_them() -> list[RepairEpisode]:
        return [await play(problem, setting, scripted(noise)) for problem in task.problems]

    return asyncio.run(all_of_them())


@pytest.fixture(scope="module")
def stress() -> RepairStudy:
    """The stress setting: a discriminating verifier, a repairer that ruins good plans."""
    return analyse(record(STRESS), replicates=1000, seed=1)


@pytest.fixture(scope="module")
def weak() -> RepairStudy:
    """A verifier that tells next to nothing."""
    return analyse(record(WEAK), replicates=1000, seed=1)


def success(study: RepairStudy, policy: str) -> float:
    """Return the share of valid plans that a policy delivers."""
    found = {entry.policy: entry.success.value for entry in study.crossfit.summary.policies}
    return found[policy]


@pytest.mark.parametrize("name", ["rho0", "rho1", "alpha", "beta", "valid"])
def test_the_study_recovers_the_noise(stress: RepairStudy, name: str) -> None:
    """The truth lies in the interval of the estimate, widened to four standard errors."""
    for calibration in (stress.estimated, stress.labelled):
        estimate = calibration.estimates[name]
        half = (estimate.high - estimate.low) / 2
        assert abs(estimate.value - getattr(STRESS, name)) < 2.05 * half, estimate


@pytest.mark.parametrize("policy", ["fixed(0)", "fixed(5)", "majority", "vrr_guard", "vrr_stop"])
def test_the_table_is_the_exact_one(stress: RepairStudy, policy: str) -> None:
    """Each rule ends where exact evaluation under the true noise says, within 4 s.e. of 600 loops.

    ``vrr_stop`` is decided with fitted parameters, which are close enough to the truth here.
    """
    rule = parse_policy(policy, defaults={"noise": STRESS, "rounds": ROUNDS})
    exact = evaluate(rule, STRESS, votes=VOTES, rounds=ROUNDS)
    name = "fixed" if policy == "fixed(5)" else policy
    error = (exact.validity * (1 - exact.validity) / LOOPS) ** 0.5
    assert abs(success(stress, name) - exact.validity) < 4 * error


def test_stress_is_reproduced_in_kind(stress: RepairStudy) -> None:
    """Five fixed repairs collapse, and the stopping rules do not lose to no repair."""
    none = success(stress, "fixed(0)")
    assert success(stress, "fixed") < none - 0.3
    for policy in ("vrr_stop", "vrr", "auto"):
        assert success(stress, policy) > none - 0.02


def test_acceptance_rises_while_validity_falls() -> None:
    """A verifier that likes repaired plans reports progress where there is ruin.

    Votes that accept every wreck: rho0 = .8, and good plans rejected half the time: rho1 = .5.
    """
    noise = NoiseModel(rho0=0.8, rho1=0.5, alpha=0.1, beta=0.8, valid=0.7)
    study = analyse(record(noise, 300), ["fixed(0)", "fixed"], folds=2, replicates=200)
    validity = [estimate.value for estimate in study.validity_by_round]
    acceptance = [estimate.value for estimate in study.acceptance_by_round]
    assert validity[-1] < validity[0] - 0.4
    assert acceptance[-1] > acceptance[0] + 0.1


def test_low_discrimination_sends_vrr_to_the_guard(weak: RepairStudy) -> None:
    """At J = .05 `vrr` guards in every fold; `auto` acts on pi, alpha and beta; neither loses."""
    none = success(weak, "fixed(0)")
    assert weak.otherwise.guarded == weak.otherwise.folds == 5
    assert success(weak, "vrr") > none - 0.02
    assert success(weak, "auto") > none - 0.02


def test_the_document_is_complete(stress: RepairStudy) -> None:
    """The JSON document has every key of the schema and no NaN."""
    document = json.loads(json.dumps(stress.to_json(), allow_nan=False))
    assert document["schema"] == "haltwise.repair-study/1"
    assert len(document["validity_by_round"]) == len(document["acceptance_by_round"]) == 6
    assert {p["policy"] for p in document["policies"]} == set(POLICIES)
    assert len(document["comparisons"]) == len(POLICIES) * (len(POLICIES) - 1) // 2
    assert set(document["noise"]) == {"estimated", "labelled"}
    assert len(document["folds"]) == 5


def test_a_problem_is_never_judged_by_a_rule_that_saw_it(stress: RepairStudy) -> None:
    """Every loop is held out exactly once, and calibrated on by the other folds alone."""
    sizes = [fold.loops for fold in stress.crossfit.folds]
    assert sum(sizes) == LOOPS
    assert [fold.calibration.loops for fold in stress.crossfit.folds] == [
        LOOPS - size for size in sizes
    ]


def test_several_arms_and_missing_truth_are_refused() -> None:
    """One arm at a time, every round graded; the error says which arms came."""
    import msgspec

    loops = record(STRESS, 12)
    other = msgspec.structs.replace(loops[0], arm="other")
    with pytest.raises(InputError, match="one arm is analysed at a time"):
        analyse([*loops, other])
    step = msgspec.structs.replace(loops[0].steps[0], valid=None)
    blind = msgspec.structs.replace(loops[0], steps=[step, *loops[0].steps[1:]])
    with pytest.raises(InputError, match="a round has no truth"):
        analyse([blind, *loops[1:]])
    with pytest.raises(InputError, match="cannot be cross-fitted in 5 folds"):
        analyse(loops[:4])
