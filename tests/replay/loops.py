"""Hypothesis strategies for recorded search loops and for search policies of every family."""

from __future__ import annotations

from hypothesis import strategies as st

from haltwise.core.events import Verdict
from haltwise.core.policies import (
    BreakEven,
    CallBudget,
    Deadline,
    Never,
    RandomStop,
    Recovery,
    Repetition,
    UselessStreak,
)
from haltwise.core.policy import AllOf, AnyOf, Policy
from haltwise.core.recovery import RecoveryModel
from haltwise.record.episode import AnswerNow, Call, Outcome, SearchEpisode, SearchStep

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
    return st.recursive(
        search_rules(),
        lambda inner: st.builds(
            lambda kind, parts: kind(tuple(parts)),
            st.sampled_from([AnyOf, AllOf]),
            st.lists(inner, min_size=2, max_size=3),
        ),
        max_leaves=5,
    )
