"""Exact evaluation: the oracles of METHODS, the paths against each other, and a simulation."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from haltwise import (
    BestOfVotes,
    FixedRepairs,
    Lookahead,
    Majority,
    NoiseModel,
    Oracle,
    Patience,
    Policy,
    RepairObservation,
    VrrGuard,
    VrrStop,
    fold,
    parse_policy,
)
from haltwise.core.errors import InputError, ParameterError
from haltwise.core.validity import vote_probability
from haltwise.replay.exact import evaluate, evaluate_all
from haltwise.replay.exact_belief import evaluate_threshold
from haltwise.replay.exact_recall import evaluate_recall
from haltwise.replay.exact_states import evaluate_states
from haltwise.simulated.repair import simulate_repair

NOISE = NoiseModel(0.3, 0.2, 0.25, 0.1, 0.6)
rates = st.floats(0.01, 0.99)
noises = st.builds(
    NoiseModel,
    *([rates] * 5),
    st.sampled_from([0.0, 0.3]),
    st.none() | st.lists(rates, min_size=1, max_size=3),
)


def policy(text: str, noise: NoiseModel, **defaults: object) -> Policy:
    """Return a policy of an expression that leaves noise, rounds and tau out."""
    return parse_policy(text, defaults={"noise": noise, "tau": 0, **defaults})


@pytest.mark.parametrize(
    ("noise", "votes", "text", "validity", "repairs"),
    [
        (NoiseModel(0.2, 0.15, 0.3, 0.1, 0.5), 5, "fixed(5)", 0.731, 5),
        (NoiseModel(0.2, 0.15, 0.3, 0.1, 0.5), 5, "majority", 0.862, 1.24),
        (NoiseModel(0.2, 0.15, 0.3, 0.1, 0.5), 5, "vrr_stop", 0.902, 1.54),
        (NoiseModel(0.2, 0.15, 0.3, 0.1, 0.5), 5, "lookahead(recall=false)", 0.903, None),
        (NoiseModel(0.3, 0.3, 0.4, 0.2, 0.3), 1, "fixed(5)", 0.663, 5),
        (NoiseModel(0.3, 0.3, 0.4, 0.2, 0.3), 1, "majority", 0.604, None),
        (NoiseModel(0.3, 0.3, 0.4, 0.2, 0.3), 1, "vrr_stop", 0.709, None),
        (NoiseModel(0.3, 0.3, 0.4, 0.2, 0.3), 1, "lookahead(recall=false)", 0.756, None),
    ],
)
def test_published_values(
    noise: NoiseModel, votes: int, text: str, validity: float, repairs: float | None
) -> None:
    """METHODS section 2, "Exact evaluation": K = 5, price 0."""
    found = evaluate(policy(text, noise), noise, votes=votes, rounds=5)
    assert found.validity == pytest.approx(validity, abs=5e-4)
    if repairs is not None:
        assert found.repairs == pytest.approx(repairs, abs=5e-3)
    assert found.error == 0


def test_over_dispersed_votes() -> None:
    """ICC .3: believing the votes independent costs .027, the beta-binomial belief nothing."""
    truth = NoiseModel(0.35, 0.35, 0.1, 0.8, 0.7, icc=0.3)
    naive = VrrStop(replace(truth, icc=0.0))
    found = evaluate_all([naive, VrrStop(truth), FixedRepairs(0)], truth)
    assert [each.validity for each in found] == pytest.approx([0.673, 0.700, 0.700], abs=5e-4)


@pytest.mark.parametrize("icc", [0.0, 0.2])
@pytest.mark.parametrize(
    "text",
    [
        "fixed(0)",
        "fixed(3)",
        "majority",
        "confidence(.8)",
        "patience(2)",
        "best_of_votes",
        "vrr_guard(.4)",
        "vrr_stop",
        "vrr_stop(tau=.05, recall=true)",
        "lookahead",
        "oracle",
        "never",
        "vrr_stop & patience(1)",
        "majority | vrr_guard(rounds=2)",
        "lookahead(noise(rho0=.1, rho1=.1, alpha=.4, beta=.3, valid=.5))",
    ],
)
def test_every_rule_against_its_own_steps_on_every_history(text: str, icc: float) -> None:
    """Stepping the policy through all 4^4 vote histories and 2^4 truths gives the same numbers."""
    noise = NoiseModel(0.35, 0.2, 0.3, 0.25, 0.55, icc, alpha_by_round=(0.5, 0.2))
    rule, votes, rounds = policy(text, noise, rounds=3), 3, 3
    valid = repairs = 0.0
    by_round, accepted = np.zeros(rounds + 1), np.zeros(rounds + 1)
    for history, truth in product(
        product(range(votes + 1), repeat=rounds + 1), product((0, 1), repeat=rounds + 1)
    ):
        chance = noise.valid if truth[0] else 1 - noise.valid
        for k in range(rounds + 1):
            if k:
                up = 1 - noise.beta_at(k) if truth[k - 1] else noise.alpha_at(k)
                chance *= up if truth[k] else 1 - up
            rate = 1 - noise.rho1 if truth[k] else noise.rho0
            chance *= vote_probability(rate, icc, history[k], votes)
        state, stopped = rule.initial(), None
        for k in range(rounds + 1):
            if stopped is None:
                observation = RepairObservation(history[k], votes, bool(truth[k]))
                state, decision = rule.step(state, observation)
                if decision.stops or k == rounds:
                    chosen = rule.choice(state)
                    stopped = k if chosen is None else chosen
                    valid += chance * truth[stopped]
                    repairs += chance * k
            held = k if stopped is None else stopped
            by_round[k] += chance * truth[held]
            accepted[k] += chance * (2 * history[held] > votes)
    found = evaluate(rule, noise, votes=votes, rounds=rounds, tau=0.02)
    assert found.validity == pytest.approx(valid, abs=1e-12)
    assert found.repairs == pytest.approx(repairs, abs=1e-12)
    assert found.votes == pytest.approx(votes * (1 + repairs), abs=1e-10)
    assert found.objective == pytest.approx(valid - 0.02 * repairs, abs=1e-12)
    assert found.validity_by_round == pytest.approx(by_round, abs=1e-12)
    assert found.acceptance_by_round == pytest.approx(accepted, abs=1e-12)


@settings(max_examples=30)
@given(noises, noises, st.booleans(), st.sampled_from([0.0, 0.03]))
def test_fast_paths_equal_the_step_function(
    truth: NoiseModel, believed: NoiseModel, recall: bool, tau: float
) -> None:
    """Threshold rules by arrays and by their own steps deliver the same, wrong beliefs included."""
    for own in (truth, believed):
        rule = VrrStop(own, tau, recall, rounds=3)
        fast = (evaluate_recall if recall else evaluate_threshold)(rule, truth, 2, 3, 10**6)
        slow = evaluate_states(rule, truth, 2, 3, 10**6)
        if not np.allclose(fast.stopped, slow.stopped, atol=1e-9):
            continue  # a belief that equals the threshold up to rounding: either is right
        assert fast.valid.sum() == pytest.approx(slow.valid.sum(), abs=1e-7)


def test_a_simulation_agrees() -> None:
    """20,000 simulated loops: every rule within four standard errors of its exact validity."""
    noise = NoiseModel(0.45, 0.4, 0.15, 0.2, 0.6, icc=0.1)
    n, votes, rounds = 20_000, 6, 3
    runs = simulate_repair(noise, n, votes=votes, rounds=rounds, seed=5)
    histories, truths = runs.accepts.tolist(), runs.valid.tolist()
    for text in ("majority", "vrr_guard(.25)", "vrr_stop", "lookahead", "patience(1)"):
        rule = policy(text, noise, rounds=rounds)
        choice = {
            history: fold(rule, [RepairObservation(s, votes) for s in history])[1]
            for history in {tuple(row) for row in histories}
        }
        right = repairs = 0
        for history, truth in zip(histories, truths, strict=True):
            decision = choice[tuple(history)]
            assert decision.candidate is not None
            right += truth[decision.candidate]
            repairs += int(decision.evidence["round"])  # type: ignore[call-overload]
        found = evaluate(rule, noise, votes=votes, rounds=rounds)
        error = (found.validity * (1 - found.validity) / n) ** 0.5
        assert abs(right / n - found.validity) < 4 * error
        assert repairs / n == pytest.approx(found.repairs, abs=4 * rounds / 2 / n**0.5)


@pytest.mark.parametrize("j", [0.1, 0.25, 0.5])
def test_merged_beliefs_keep_their_bound(j: float) -> None:
    """With 500 nodes instead of thousands the validity moves by less than the bound given."""
    rate = (1 - j) / 2
    noise = NoiseModel(rate, rate, 0.25, 0.1, 0.6)
    for rule in (VrrStop(noise), Lookahead(noise, 0.01, recall=False)):
        whole = evaluate(rule, noise, votes=8, rounds=5)
        merged = evaluate(rule, noise, votes=8, rounds=5, limit=500)
        assert whole.nodes > 1000 and not whole.merged and whole.error == 0
        assert merged.merged and merged.error <= 1e-4
        assert abs(merged.validity - whole.validity) <= merged.error + 1e-12


def test_merged_beliefs_of_a_wrong_model_keep_their_bound() -> None:
    """The bound holds where the policy believes in other parameters than the true ones."""
    rule = VrrStop(NoiseModel(0.1, 0.2, 0.3, 0.3, 0.5))
    whole = evaluate(rule, NOISE, votes=8, rounds=5)
    merged = evaluate(rule, NOISE, votes=8, rounds=5, limit=200)
    assert merged.merged
    assert abs(merged.validity - whole.validity) <= merged.error + 1e-12


def test_recall_beyond_the_limit_is_bounded() -> None:
    """Where not all histories are followed the value is a lower one, within the bound."""
    rule = Lookahead(NOISE, 0.01)
    whole = evaluate(rule, NOISE, votes=8, rounds=5)
    cut = evaluate(rule, NOISE, votes=8, rounds=5, limit=500)
    assert whole.error == 0
    assert cut.validity <= whole.validity <= cut.validity + cut.error


def test_many_votes_and_rounds_finish_within_the_bound() -> None:
    """M = 16, K = 20: the rules on a belief in seconds, the error of the validity below 1e-4."""
    found = evaluate(
        VrrStop(NoiseModel(0.3, 0.2, 0.25, 0.1, 0.6), rounds=20),
        NOISE,
        votes=16,
        rounds=20,
        limit=20_000,
    )
    assert found.error <= 1e-4
    assert found.validity == pytest.approx(0.98766, abs=1e-4)


def test_small_states_stay_small() -> None:
    """Guard, patience and best of votes merge by score: M = 16, K = 20 is exact."""
    for rule in (VrrGuard(rounds=20), Patience(3, 20), BestOfVotes(20), Majority(20)):
        found = evaluate(rule, NOISE, votes=16, rounds=20)
        assert found.error == 0
        assert found.nodes < 2000


def test_too_many_states_are_named() -> None:
    """A combination with a belief that cannot be followed says so instead of running on."""
    rule = VrrStop(NOISE, rounds=20) & FixedRepairs(20, 20)
    with pytest.raises(InputError, match="fewer votes or rounds"):
        evaluate(rule, NOISE, votes=8, rounds=20, limit=300)


def test_the_oracle_is_the_probability_of_any_valid_plan() -> None:
    """1 - P(every plan invalid) = 1 - .4 x .75^5, with .4 + .4 x .75 + ... repairs."""
    found = evaluate(Oracle(), NOISE)
    assert found.validity == pytest.approx(1 - 0.4 * 0.75**5)
    assert found.repairs == pytest.approx(sum(0.4 * 0.75**k for k in range(5)))


def test_a_loop_shorter_than_the_rule_expects() -> None:
    """A loop that ends after one repair delivers what the rule holds then."""
    found = evaluate(BestOfVotes(5), NOISE, votes=8, rounds=1)
    assert found.validity == pytest.approx(evaluate(BestOfVotes(1), NOISE, rounds=1).validity)
    stop = evaluate(VrrStop(NOISE), NOISE, votes=8, rounds=1)
    assert stop.validity == pytest.approx(evaluate(VrrStop(NOISE, rounds=1), NOISE).validity)


@pytest.mark.parametrize("arguments", [{"votes": 0}, {"rounds": -1}, {"votes": 2.5}])
def test_senseless_sizes(arguments: dict[str, int]) -> None:
    """Votes below 1, negative rounds and fractions are refused."""
    with pytest.raises(ParameterError, match="whole number"):
        evaluate(Majority(), NOISE, **arguments)


def test_search_rules_are_refused() -> None:
    """A rule for search loops has no votes to look at."""
    with pytest.raises(ParameterError, match="for search loops"):
        evaluate(parse_policy("streak(3)"), NOISE)
