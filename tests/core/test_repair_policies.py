"""The repair rules: first the laws that every rule keeps, then where each of them stops."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from haltwise import (
    Action,
    Auto,
    BestOfVotes,
    Confidence,
    Decision,
    ExpressionError,
    FixedRepairs,
    Lookahead,
    Majority,
    Never,
    NoiseModel,
    Oracle,
    ParameterError,
    Patience,
    Policy,
    RepairObservation,
    TrueMyopic,
    Vrr,
    VrrGuard,
    VrrStop,
    fold,
    parse_policy,
)
from haltwise.core.policies.lookahead import optimal_thresholds
from haltwise.core.policies.repair import RepairPolicy
from haltwise.testing import check_combination, check_monotone, check_policy, stop_step

NOISE = NoiseModel(0.3, 0.2, 0.25, 0.1, 0.6)
STRESS = NoiseModel(0.35, 0.35, 0.1, 0.8, 0.7)

rates = st.floats(0.01, 0.99)
noises = st.builds(
    NoiseModel,
    *([rates] * 5),
    st.sampled_from([0.0, 0.3]),
    st.none() | st.lists(rates, min_size=1, max_size=3),
) | st.builds(NoiseModel, *([st.sampled_from([0.0, 0.3, 1.0])] * 5))
prices = st.sampled_from([0, 0.01, 0.05])
rounds = st.integers(0, 6)
rules = st.one_of(
    st.builds(VrrStop, noises, prices, st.booleans(), rounds),
    st.builds(Lookahead, noises, prices, st.booleans(), rounds),
    st.builds(TrueMyopic, noises, prices, rounds),
    st.builds(Vrr, noises, st.none() | st.floats(0, 1), rounds=rounds),
    st.builds(Vrr, noises, eta=st.floats(0, 1), p_flip=st.floats(0, 1), rounds=rounds),
    st.builds(Auto, noises, prices, st.sampled_from([None, "guard", "none"]), rounds),
    st.builds(VrrGuard, st.floats(0.05, 1), rounds),
    st.builds(FixedRepairs, st.integers(0, 7), rounds),
    st.builds(Majority, rounds),
    st.builds(Confidence, st.floats(0.05, 1), rounds),
    st.builds(Patience, st.integers(1, 4), rounds),
    st.builds(BestOfVotes, rounds),
    st.builds(Oracle, rounds),
)
policies = st.recursive(
    rules | st.just(Never()),
    lambda inner: st.builds(Policy.__or__, inner, inner) | st.builds(Policy.__and__, inner, inner),
    max_leaves=3,
)
observation_lists = st.lists(
    st.integers(0, 4).flatmap(
        lambda votes: st.builds(
            RepairObservation,
            st.integers(0, votes),
            st.just(votes),
            st.sampled_from([True, False, None]),
        )
    ),
    max_size=9,
)


def run(policy: Policy, *accepts: int, votes: int = 8) -> Decision:
    """Return the decision after rounds with these accepts of ``votes``; -1: no votes came."""
    observations = [
        RepairObservation(0, 0) if count < 0 else RepairObservation(count, votes)
        for count in accepts
    ]
    return fold(policy, observations)[1]


@settings(max_examples=150)
@given(policies, observation_lists)
def test_every_policy_keeps_the_laws(policy: Policy, observations: list[RepairObservation]) -> None:
    """Pure, resumable through JSON, sticky, evident, printable; neutral beside `never`."""
    check_policy(policy, observations)


@given(rules, rules, observation_lists)
def test_combinations_stop_at_the_earlier_or_later_part(
    left: Policy, right: Policy, observations: list[RepairObservation]
) -> None:
    """AnyOf stops at the earlier of its parts, AllOf at the later one."""
    check_combination(left, right, observations)


@given(rules, observation_lists)
def test_every_rule_commits_a_plan_seen_at_the_last_round_in_any_case(
    policy: RepairPolicy, observations: list[RepairObservation]
) -> None:
    """A repair loop ends after K repairs, with a plan that exists and its numbers."""
    step = stop_step(policy, observations)
    _, decision = fold(policy, observations)
    if len(observations) > policy.rounds:
        assert step is not None
    if step is not None:
        assert step <= policy.rounds + 1
        assert decision.action is Action.COMMIT
        assert decision.candidate is not None and 0 <= decision.candidate < step
        assert decision.evidence["round"] == step - 1
        assert {"accepts", "votes", "rounds"} <= set(decision.evidence)


@given(noises, st.booleans(), observation_lists, st.booleans())
def test_a_higher_price_never_stops_later(
    noise: NoiseModel, recall: bool, observations: list[RepairObservation], ahead: bool
) -> None:
    """Patience is the reverse of the price of a repair, for both rules on a belief."""
    rule = Lookahead if ahead else VrrStop
    check_monotone(lambda tau: rule(noise, tau, recall), (0.2, 0.05, 0.01, 0), observations)


@given(observation_lists)
def test_more_patience_never_stops_earlier(observations: list[RepairObservation]) -> None:
    """So for patience, confidence, the fixed number and the limit of repairs."""
    check_monotone(Patience, (1, 2, 3, 4), observations)
    check_monotone(Confidence, (0.3, 0.5, 0.85, 1), observations)
    check_monotone(FixedRepairs, (0, 1, 2, 5), observations)
    check_monotone(Majority, (0, 1, 3, 5), observations)


@given(noises, st.integers(0, 4), observation_lists)
def test_a_failed_verification_leaves_the_belief(
    noise: NoiseModel, accepts: int, observations: list[RepairObservation]
) -> None:
    """After a round without votes the belief is the prior moved by the repair, nothing else."""
    policy = VrrStop(noise, rounds=50)
    state, _ = policy.step(policy.initial(), RepairObservation(0, 0))
    if not isinstance(state, Decision):
        assert state == (1, policy.initial()[1], 0, ())


def test_vrr_stop_at_the_threshold_of_the_paper() -> None:
    """b* = .25 / .35 = .714 at price 0: 5 of 8 accepts give .825 and stop, 4 give .336."""
    policy = VrrStop(NOISE)
    assert policy.thresholds(8)[0] == pytest.approx(0.25 / 0.35)
    decision = run(policy, 5)
    assert decision.candidate == 0
    assert decision.evidence["belief"] == pytest.approx(0.8251, abs=1e-4)
    assert decision.evidence["gain"] == pytest.approx(0.25 - 0.35 * 0.8251, abs=1e-4)
    assert not run(policy, 4).stops


def test_vrr_stop_without_anything_to_gain() -> None:
    """alpha = 0, or a price of alpha: the initial plan is committed whatever the votes say."""
    assert run(VrrStop(NoiseModel(0.3, 0.2, 0, 0.1, 0.1)), 0).candidate == 0
    assert run(VrrStop(NoiseModel(0.3, 0.2, 0.2, 0.1, 0.1), tau=0.2), 0).candidate == 0
    assert run(VrrStop(NoiseModel(0.3, 0.2, 0, 0, 0.1)), 0).candidate == 0


def test_alpha_by_round_stops_a_loop_whose_repair_has_tired() -> None:
    """With alpha .4 then .01 the second repair is not worth it: commit after the first."""
    noise = NoiseModel(0.3, 0.2, 0.2, 0.05, 0.6, alpha_by_round=(0.4, 0.01))
    policy = VrrStop(noise)
    assert not run(policy, 1).stops
    assert run(policy, 1, 4).candidate == 1


def test_thresholds_of_the_optimal_rule() -> None:
    """METHODS section 2, "Bayes-optimal stopping": M = 8, K = 5, price 0, 1 to 5 rounds left."""
    mild = optimal_thresholds(NoiseModel(0.4, 0.2, 0.25, 0.08, 0.6), 8, 5, 0)
    assert mild[4::-1] == pytest.approx([0.7576, 0.8566, 0.9016, 0.9284, 0.9467], abs=1e-4)
    harsh = optimal_thresholds(STRESS, 8, 5, 0)
    assert harsh[4::-1] == pytest.approx([0.1111, 0.1694, 0.2172, 0.2577, 0.2912], abs=1e-4)
    assert mild[5] == harsh[5] == 0


@settings(max_examples=40)
@given(noises, prices, st.integers(1, 6))
def test_the_optimal_rule_is_never_less_patient(noise: NoiseModel, tau: float, votes: int) -> None:
    """Going on has option value: thresholds are at least those one repair ahead, equal at last."""
    far, near = optimal_thresholds(noise, votes, 4, tau), VrrStop(noise, tau, rounds=4)
    for round_, (optimal, myopic) in enumerate(zip(far, near.thresholds(votes), strict=True)):
        assert optimal >= myopic - 1e-12
        if round_ >= 3:
            assert optimal == pytest.approx(myopic, abs=1e-9)


@pytest.mark.parametrize(
    "noise, tau",
    [
        (NoiseModel(0.4, 0.6, 0.3, 0.1, 0.5), 0),  # J = 0, alpha constant
        (NoiseModel(0.4, 0.6, 0.3, 0.1, 0.5, alpha_by_round=(0.5, 0.3, 0.1)), 0),  # J = 0, falling
        (NoiseModel(0.3, 0.2, 0.1, 0.2, 0.5), 0.1),  # price of alpha
    ],
)
def test_where_one_repair_ahead_is_optimal(noise: NoiseModel, tau: float) -> None:
    """In these cases of METHODS the thresholds coincide (at J = 1 only the decisions do)."""
    optimal = optimal_thresholds(noise, 8, 5, tau)
    assert optimal == pytest.approx(VrrStop(noise, tau).thresholds(8), abs=1e-9)


def test_recall_delivers_an_earlier_plan() -> None:
    """Repair broke a good plan: the rule stops at the limit and delivers the initial one."""
    noise = NoiseModel(0.2, 0.2, 0.6, 0.3, 0.6)
    policy = Lookahead(noise, tau=0, rounds=2)
    decision = run(policy, 4, 0, 1)
    assert decision.candidate == 0
    assert decision.evidence["belief"] < 0.01 < 0.5 < decision.evidence["candidate_belief"]  # type: ignore[operator]
    assert run(Lookahead(noise, tau=0, recall=False, rounds=2), 4, 0, 1).candidate == 2


def test_guard_needs_a_clear_lead() -> None:
    """delta = .625 of 8 votes is 5 accepts: 2 against 7 replaces, 3 against 7 does not."""
    assert run(VrrGuard(), 2, 7, 0, 0, 0, 0).candidate == 1
    assert run(VrrGuard(), 3, 7, 0, 0, 0, 0).candidate == 0
    assert not run(VrrGuard(), 8, 8).stops


def test_guard_rounds_the_lead_up() -> None:
    """delta = .625 of 5 votes is 3.125: 4 accepts more are needed; .6 of 5 is exactly 3."""
    assert run(VrrGuard(rounds=1), 1, 4, votes=5).candidate == 0
    assert run(VrrGuard(rounds=1), 1, 5, votes=5).candidate == 1
    assert run(VrrGuard(0.6, rounds=1), 1, 4, votes=5).candidate == 1


def test_guard_and_a_verifier_that_failed() -> None:
    """A new plan without votes never replaces; an incumbent without votes counts as 0 accepts."""
    assert run(VrrGuard(rounds=1), 1, -1).candidate == 0
    assert run(VrrGuard(rounds=1), -1, 4).candidate == 0
    assert run(VrrGuard(rounds=1), -1, 5).candidate == 1


def test_the_published_system_and_its_triggers() -> None:
    """J below .15 means guard; with eta it is P(wrong sign) that decides; never both."""
    assert isinstance(Vrr(NOISE).rule, VrrStop)
    weak = NoiseModel(0.5, 0.4, 0.25, 0.1, 0.6)
    assert isinstance(Vrr(weak).rule, VrrGuard)
    assert isinstance(Vrr(weak, j_min=0.05).rule, VrrStop)
    assert isinstance(Vrr(NOISE, discrimination=0.03).rule, VrrGuard)
    assert isinstance(Vrr(weak, eta=0.05, p_flip=0.04).rule, VrrStop)
    assert isinstance(Vrr(NOISE, eta=0.05, p_flip=0.06).rule, VrrGuard)
    with pytest.raises(ParameterError, match="eta needs p_flip"):
        Vrr(NOISE, eta=0.05)
    with pytest.raises(ParameterError, match="one trigger"):
        Vrr(NOISE, j_min=0.1, eta=0.05, p_flip=0)
    decision = run(Vrr(NOISE), 8)
    assert decision.policy == str(Vrr(NOISE))
    assert decision.evidence["rule"] == "vrr_stop"


def test_auto_and_its_exceptions() -> None:
    """The fit, unless calibration says guard (no labelled transition) or none (ends below it)."""
    assert Auto(NOISE).rule == Lookahead(NOISE, 0.01, True, 5)
    assert run(Auto(NOISE, fallback="none"), 0).candidate == 0
    assert isinstance(Auto(NOISE, fallback="guard").rule, VrrGuard)
    with pytest.raises(ParameterError, match='fallback is "guard" or "none"'):
        Auto(NOISE, fallback="never")


def test_baselines_stop_where_their_names_say() -> None:
    """Majority is more than half; confidence a share; best of votes looks back; fixed counts."""
    assert run(Majority(), 4, 5).candidate == 1
    assert run(Confidence(0.85), 6, 7).candidate == 1
    assert run(Confidence(0.3), 3, votes=10).candidate == 0
    assert not run(Confidence(0.85), -1).stops
    assert run(BestOfVotes(rounds=2), 2, 4, 3).candidate == 1
    assert run(BestOfVotes(rounds=2), 3, 3, 1).candidate == 0
    assert run(FixedRepairs(0), 0).candidate == 0
    assert run(FixedRepairs(2), 8, 8, 0).candidate == 2


@pytest.mark.parametrize(
    ("accepts", "stop"), [((5, 6, 0), None), ((3, 3, 3, 0), 3), ((5, 4, 3), 3)]
)
def test_patience_of_two(accepts: tuple[int, ...], stop: int | None) -> None:
    """Early non-improvement alone does not stop: two rounds in a row without a new best do."""
    observations = [RepairObservation(count, 8) for count in accepts]
    assert stop_step(Patience(2), observations) == stop


def test_patience_passes_over_rounds_without_votes() -> None:
    """A verifier that failed is no round without progress."""
    assert not run(Patience(1), 5, -1, -1).stops
    assert run(Patience(1), 5, -1, 5).candidate == 0


def test_the_oracle_sees_the_truth() -> None:
    """It commits the first valid plan; an unknown truth is not valid."""
    truths = [None, False, True]
    observations = [RepairObservation(0, 8, truth) for truth in truths]
    assert fold(Oracle(), observations)[1].candidate == 2


@pytest.mark.parametrize(
    ("text", "defaults", "expected"),
    [
        ("vrr_stop", {"noise": NOISE, "rounds": 3, "tau": 0.02}, VrrStop(NOISE, 0.02, rounds=3)),
        ("vrr_stop(tau=.1)", {"noise": NOISE, "tau": 0.02}, VrrStop(NOISE, 0.1)),
        ("lookahead", {"noise": NOISE}, Lookahead(NOISE)),
        ("auto", {"noise": NOISE, "fallback": "guard"}, Auto(NOISE, fallback="guard")),
        ("vrr(eta=.05)", {"noise": NOISE, "p_flip": 0.2}, Vrr(NOISE, eta=0.05, p_flip=0.2)),
        (str(NOISE).join(["true_myopic(", ")"]), {}, TrueMyopic(NOISE)),
        ("fixed(2) | vrr_guard(.5)", {"rounds": 2}, FixedRepairs(2, 2) | VrrGuard(0.5, 2)),
    ],
)
def test_expressions_take_what_they_leave_out(
    text: str, defaults: Mapping[str, Any], expected: Policy
) -> None:
    """Noise, limit and price come from the defaults where the expression has none of its own."""
    assert parse_policy(text, defaults=defaults) == expected


def test_a_file_fills_all_that_it_holds() -> None:
    """`vrr("p.toml", eta=.05)` takes the noise and the evidence from the same file."""
    content = {"noise": NOISE, "p_flip": 0.01}
    policy = parse_policy('vrr("p.toml", eta=.05)', load=lambda path: content)
    assert policy == Vrr(NOISE, eta=0.05, p_flip=0.01)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("vrr_stop", "vrr_stop needs noise"),
        ("vrr_stop(3)", "noise is a noise model"),
        ("vrr_guard(0)", "delta is at least"),
        ("patience(0)", "n is a whole number of at least 1"),
        ("fixed(-1)", "n is a whole number of at least 0"),
        ("confidence(2)", "c is at least"),
        ("majority | streak(3)", "cannot be combined"),
        ("majority(rounds=1.5)", "rounds is a whole number"),
    ],
)
def test_expressions_with_a_fault(text: str, message: str) -> None:
    """Each fault is one sentence that names the rule and what it takes."""
    with pytest.raises(ExpressionError, match=message):
        parse_policy(text)
