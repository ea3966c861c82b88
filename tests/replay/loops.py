"""Hypothesis strategies for recorded loops and for policies of every family."""

from __future__ import annotations

from hypothesis import strategies as st

from haltwise.core.events import Verdict
from haltwise.core.noise import NoiseModel
from haltwise.core.policies import (
    Auto,
    BestOfVotes,
    BreakEven,
    CallBudget,
    Confidence,
    Deadline,
    FixedRepairs,
    Lookahead,
    Majority,
    Never,
    Oracle,
    Patience,
    RandomStop,
    Recovery,
    Repetition,
    TrueMyopic,
    UselessStreak,
    VrrGuard,
    VrrStop,
)
from haltwise.core.policy import AllOf, AnyOf, Policy
from haltwise.core.recovery import RecoveryModel
from haltwise.record.episode import (
    AnswerNow,
    Call,
    Outcome,
    RepairEpisode,
    RepairStep,
    SearchEpisode,
    SearchStep,
)
from haltwise.record.repair_table import RepairTable

GRADES = st.sampled_from([True, False, None])


@st.composite
def search_steps(draw: st.DrawFn) -> list[SearchStep]:
    """Draw the steps of a loop: tool steps of any verdict, perhaps an answer at the end."""
    words = draw(st.lists(st.sampled_from([*Verdict, Verdict.USELESS, None]), max_size=10))
    steps = []
    for t, verdict in enumerate(words, start=1):
        branch = draw(st.sampled_from([None, AnswerNow(success=True), AnswerNow(success=False)]))
        name, result = draw(st.sampled_from("ab")), draw(st.sampled_from(["x", "y", None]))
        calls = draw(st.integers(1, 3))
        parallel = [Call(name, {"q": i}, result) for i in range(calls)] if calls > 1 else []
        steps.append(
            SearchStep(
                t=t,
                action=name,
                arguments=None if parallel else {"q": 0},
                result=result,
                verdicts={} if verdict is None else {"recorded": verdict},
                answer_now=branch,
                parallel=parallel,
                asked="and?" if t > 1 and draw(st.integers(0, 4)) == 0 else None,
            )
        )
    if draw(st.booleans()):
        steps.append(SearchStep(t=len(steps) + 1, action="answer"))
    return steps


@st.composite
def search_episodes(draw: st.DrawFn) -> list[SearchEpisode]:
    """Draw a few loops."""
    return [
        SearchEpisode(
            episode_id=f"e{i}",
            cluster_id=f"c{i % 3}",
            question_id=f"c{i % 3}",
            steps=steps,
            outcome=Outcome(success=draw(GRADES)),
        )
        for i, steps in enumerate(draw(st.lists(search_steps(), max_size=6)))
    ]


@st.composite
def recovery_models(draw: st.DrawFn) -> RecoveryModel:
    """Draw a recovery model of any shape."""
    budget = draw(st.integers(2, 9))
    row = st.lists(st.floats(0, 1), min_size=budget - 2, max_size=budget - 2).map(tuple)
    useful = st.lists(st.floats(0, 1), min_size=budget - 2, max_size=budget - 2)
    return RecoveryModel(
        budget=budget,
        hazard=(draw(row), draw(row)),
        answer_now=(draw(st.floats(0, 1)), draw(st.floats(0, 1))),
        useful_value=tuple(sorted(draw(useful))),
        price=draw(st.sampled_from([0.0, 0.02, 0.1])),
    )


def search_rules() -> st.SearchStrategy[Policy]:
    """Draw a single search rule, of the families with and without a fast path."""
    small = st.integers(1, 6)
    return st.one_of(
        st.builds(UselessStreak, small, st.booleans()),
        st.builds(Deadline, st.integers(2, 7)),
        st.builds(CallBudget, small),
        st.builds(Repetition, st.integers(2, 4)),
        st.builds(RandomStop, st.floats(0, 1), small),
        st.just(Never()),
        st.builds(BreakEven, st.floats(0, 1), st.sampled_from([0, 0.1, 0.3])),
        st.builds(Recovery, recovery_models(), st.sampled_from([None, 0.25, 0.5, 1])),
    )


def search_policies() -> st.SearchStrategy[Policy]:
    """Draw a rule or any nesting of combinations of rules."""
    return combined(search_rules())


def combined(rules: st.SearchStrategy[Policy]) -> st.SearchStrategy[Policy]:
    """Draw from ``rules`` or any nesting of combinations of them."""
    return st.recursive(
        rules,
        lambda inner: st.builds(
            lambda kind, parts: kind(tuple(parts)),
            st.sampled_from([AnyOf, AllOf]),
            st.lists(inner, min_size=2, max_size=3),
        ),
        max_leaves=5,
    )


RATES = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0.01, 0.99))


@st.composite
def noise_models(draw: st.DrawFn) -> NoiseModel:
    """Draw a noise model, the degenerate ones included."""
    by_round = draw(st.none() | st.lists(RATES, min_size=1, max_size=3).map(tuple))
    return NoiseModel(
        rho0=draw(RATES),
        rho1=draw(RATES),
        alpha=draw(RATES),
        beta=draw(RATES),
        valid=draw(RATES),
        icc=draw(st.sampled_from([0.0, 0.0, 0.3])),
        alpha_by_round=by_round,
    )


@st.composite
def repair_tables(draw: st.DrawFn) -> RepairTable:
    """Draw a few loops of different lengths, with failed verifiers and unknown truths."""
    episodes = []
    for i in range(draw(st.integers(1, 6))):
        votes = draw(st.lists(st.sampled_from([0, 1, 4, 8, 8, 8]), min_size=1, max_size=8))
        steps = [
            RepairStep(
                round=k,
                accepts=draw(st.integers(0, given)),
                votes=given,
                valid=draw(st.sampled_from([True, False, None])),
            )
            for k, given in enumerate(votes)
        ]
        episodes.append(
            RepairEpisode(episode_id=f"e{i}", cluster_id="c", question_id="c", steps=steps)
        )
    return RepairTable.from_episodes(episodes)


def repair_rules() -> st.SearchStrategy[Policy]:
    """Draw a single repair rule."""
    rounds, taus = st.integers(0, 6), st.sampled_from([0, 0.01, 0.1])
    noise = noise_models()
    return st.one_of(
        st.builds(Majority, rounds),
        st.builds(Confidence, st.sampled_from([0.3, 0.5, 0.85, 1.0]), rounds),
        st.builds(FixedRepairs, st.integers(0, 4), rounds),
        st.builds(Patience, st.integers(1, 3), rounds),
        st.builds(BestOfVotes, rounds),
        st.builds(VrrGuard, st.sampled_from([0.125, 0.3, 0.625, 1.0]), rounds),
        st.builds(Oracle, rounds),
        st.just(Never()),
        st.builds(VrrStop, noise, taus, st.booleans(), rounds),
        st.builds(Lookahead, noise, taus, st.booleans(), rounds),
        st.builds(TrueMyopic, noise, taus, rounds),
        st.builds(Auto, noise, taus, st.sampled_from([None, "guard", "none"]), rounds),
    )


def repair_policies() -> st.SearchStrategy[Policy]:
    """Draw a rule or any nesting of combinations of rules."""
    return combined(repair_rules())
