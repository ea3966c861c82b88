"""The optimum: nothing beats it, and where one repair ahead is optimal it is the same."""

from __future__ import annotations

from itertools import product

import pytest

from haltwise import Lookahead, NoiseModel, VrrStop, parse_policy
from haltwise.replay.exact import evaluate
from haltwise.replay.exact_optimum import optimum, optimum_recall

DYNAMICS = {
    "stress, mild": (0.1, 0.62),
    "stress, harsh": (0.2, 0.94),
    "inert": (0.02, 0.04),
    "favourable": (0.415, 0.03),
    "SCoRe base": (0.097, 0.30),
    "SCoRe trained": (0.145, 0.023),
    "GPT-3.5": (0.32, 0.116),
}
"""(alpha, beta) of METHODS section 3."""


@pytest.mark.parametrize("dynamics", DYNAMICS)
def test_looking_ahead_is_never_worse(dynamics: str) -> None:
    """METHODS section 3, the whole grid: exact objective of lookahead >= that of vrr_stop."""
    alpha, beta = DYNAMICS[dynamics]
    for decay, j, icc, valid, tau in product(
        (1, 0.6), (0.03, 0.1, 0.2, 0.4, 0.65, 0.8), (0, 0.1, 0.3), (0.45, 0.6, 0.7, 0.8), (0, 0.02)
    ):
        by_round = None if decay == 1 else tuple(alpha * decay**k for k in range(3))
        rate = (1 - j) / 2
        noise = NoiseModel(rate, rate, alpha, beta, valid, icc, by_round)
        sizes = {"votes": 3, "rounds": 3, "tau": tau}
        ahead = evaluate(Lookahead(noise, tau, recall=False, rounds=3), noise, **sizes)  # type: ignore[arg-type]
        near = evaluate(VrrStop(noise, tau, rounds=3), noise, **sizes)  # type: ignore[arg-type]
        assert ahead.objective >= near.objective - 1e-9, noise


@pytest.mark.parametrize(
    ("noise", "tau", "rounds"),
    [
        (NoiseModel(0.4, 0.2, 0.25, 0.08, 0.6), 0, 1),  # one round left
        (NoiseModel(0.4, 0.2, 0.25, 0.08, 0.6), 0.25, 5),  # the price is alpha
        (NoiseModel(0, 0, 0.25, 0.08, 0.6), 0, 5),  # J = 1
        (NoiseModel(0.3, 0.7, 0.25, 0.08, 0.3), 0, 5),  # J = 0, alpha constant
        (NoiseModel(0.3, 0.7, 0.4, 0.1, 0.3, alpha_by_round=(0.4, 0.2, 0.1)), 0, 5),  # falling
    ],
)
def test_where_the_one_step_rule_is_optimal(noise: NoiseModel, tau: float, rounds: int) -> None:
    """METHODS names the cases; the objectives are equal."""
    near = evaluate(VrrStop(noise, tau, rounds=rounds), noise, votes=6, rounds=rounds, tau=tau)
    best = optimum(noise, votes=6, rounds=rounds, tau=tau)
    assert near.objective == pytest.approx(best.objective, abs=1e-12)


@pytest.mark.parametrize("tau", [0, 0.01])
def test_no_rule_beats_the_optimum(tau: float) -> None:
    """Recall off bounds the rules that deliver the newest plan, recall on all but the oracle."""
    noise = NoiseModel(0.35, 0.3, 0.25, 0.2, 0.5)
    sizes = {"votes": 4, "rounds": 4, "tau": tau}
    best, with_recall = optimum(noise, **sizes), optimum_recall(noise, **sizes)  # type: ignore[arg-type]
    assert with_recall.kind == "value"
    assert with_recall.objective >= best.objective
    for text in ("majority", "vrr_stop", "fixed(0)", "fixed(4)", "confidence(.7)"):
        rule = parse_policy(text, defaults={"noise": noise, "tau": tau, "rounds": 4})
        assert evaluate(rule, noise, **sizes).objective <= best.objective + 1e-9  # type: ignore[arg-type]
    for text in ("vrr_guard(.5)", "patience(1)", "best_of_votes", "lookahead"):
        rule = parse_policy(text, defaults={"noise": noise, "tau": tau, "rounds": 4})
        found = evaluate(rule, noise, **sizes)  # type: ignore[arg-type]
        assert found.objective <= with_recall.objective + 1e-9


def test_recall_at_price_zero_runs_every_round() -> None:
    """At price 0 more plans never hurt: the optimum is that of looking at all K + 1 plans."""
    noise = NoiseModel(0.35, 0.3, 0.25, 0.2, 0.5)
    all_rounds = VrrStop(NoiseModel(0.35, 0.3, 0.25, 0.2, 0.5), 0, recall=True, rounds=3)
    best = optimum_recall(noise, votes=3, rounds=3)
    assert best.validity >= evaluate(all_rounds, noise, votes=3, rounds=3).validity
    # by hand for one repair and one vote: the better of both plans in each of the 4 histories
    small = NoiseModel(0.2, 0.2, 0.5, 0.1, 0.5)
    expected = 0.0
    for first, second in product((0, 1), repeat=2):
        joint = {
            (x, y): 0.5
            * ((0.9 if y else 0.1) if x else 0.5)
            * (0.8 if first == x else 0.2)
            * (0.8 if second == y else 0.2)
            for x, y in product((0, 1), repeat=2)
        }
        expected += max(joint[1, 0] + joint[1, 1], joint[0, 1] + joint[1, 1])
    assert optimum_recall(small, votes=1, rounds=1).validity == pytest.approx(expected, abs=1e-12)


def test_lookahead_with_recall_is_close() -> None:
    """At the default price the rule is within .008 of the optimum with recall (METHODS)."""
    for noise in (
        NoiseModel(0.3, 0.2, 0.25, 0.1, 0.6),
        NoiseModel(0.4, 0.3, 0.3, 0.12, 0.5),
        NoiseModel(0.35, 0.35, 0.1, 0.8, 0.7),
    ):
        sizes = {"votes": 5, "rounds": 4, "tau": 0.01}
        rule = evaluate(Lookahead(noise, rounds=4), noise, **sizes)  # type: ignore[arg-type]
        best = optimum_recall(noise, **sizes)  # type: ignore[arg-type]
        assert 0 <= best.objective - rule.objective + 1e-12 <= 0.008


def test_beyond_the_tree_it_is_a_lower_bound_and_says_so() -> None:
    """With more histories than can be followed, what lookahead reaches is given as a bound."""
    noise = NoiseModel(0.3, 0.2, 0.25, 0.1, 0.6)
    sizes = {"votes": 4, "rounds": 4, "tau": 0.01}
    bound = optimum_recall(noise, **sizes, limit=100)  # type: ignore[arg-type]
    assert bound.kind == "lower bound"
    assert bound.objective <= optimum_recall(noise, **sizes).objective  # type: ignore[arg-type]
