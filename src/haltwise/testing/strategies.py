"""Hypothesis strategies for people who test rules, readers or statistics of their own.

::

    from hypothesis import given
    from haltwise.testing import check_policy
    from haltwise.testing.strategies import search_observations

    @given(search_observations())
    def test_my_rule(observations):
        check_policy(MyRule(3), observations)

Needs hypothesis, which haltwise itself does not install.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from msgspec import structs

from ..core.events import Verdict
from ..core.observation import RepairObservation, SearchObservation
from ..core.policies import (
    BreakEven,
    CallBudget,
    Deadline,
    Never,
    RandomStop,
    Repetition,
    UselessStreak,
)
from ..core.policy import Policy
from ..record.episode import (
    REGIMES,
    AnswerNow,
    Outcome,
    RepairEpisode,
    RepairStep,
    SearchEpisode,
    SearchStep,
)

LONGEST = 12
"""Steps of the longest sequence that is drawn unless another bound is given."""


def verdicts(max_size: int = LONGEST) -> SearchStrategy[list[Verdict]]:
    """Return sequences of verdicts, long runs of useless ones among them."""
    mixed = st.lists(st.sampled_from(Verdict), max_size=max_size)
    mostly = st.sampled_from([Verdict.USELESS] * 4 + list(Verdict))
    return mixed | st.lists(mostly, max_size=max_size)


@st.composite
def search_observations(draw: st.DrawFn, max_size: int = LONGEST) -> list[SearchObservation]:
    """Return sequences of search steps; fingerprints repeat, and some are missing."""
    marks = st.none() | st.sampled_from(["a1", "b2", "c3"])
    return [SearchObservation(verdict, draw(marks)) for verdict in draw(verdicts(max_size))]


@st.composite
def repair_observations(draw: st.DrawFn, max_size: int = LONGEST) -> list[RepairObservation]:
    """Return sequences of repair rounds of 0 to 8 votes; a round of 0 is a failed verifier."""
    rounds = []
    for votes in draw(st.lists(st.integers(0, 8), max_size=max_size)):
        accepts = draw(st.integers(0, votes))
        rounds.append(RepairObservation(accepts, votes, draw(st.none() | st.booleans())))
    return rounds


def search_rules() -> SearchStrategy[Policy]:
    """Return single search rules whose parameters are numbers."""
    return st.one_of(
        st.builds(UselessStreak, st.integers(1, 9), st.booleans()),
        st.builds(Deadline, st.integers(2, 14)),
        st.builds(CallBudget, st.integers(1, 14)),
        st.builds(Repetition, st.integers(2, 5)),
        st.builds(RandomStop, st.sampled_from([0.0, 0.1, 0.5, 1.0]), st.integers(0, 99)),
        st.builds(BreakEven, st.sampled_from([0.1, 0.35, 1.0]), st.sampled_from([0.05, 0.2])),
        st.just(Never()),
    )


def search_policies(max_leaves: int = 6) -> SearchStrategy[Policy]:
    """Return search rules and their combinations with ``|`` and ``&``, nested."""
    return st.recursive(search_rules(), _combined, max_leaves=max_leaves)


def expressions(max_leaves: int = 6) -> SearchStrategy[str]:
    """Return policies for search loops as text that `haltwise.parse_policy` reads."""
    return search_policies(max_leaves).map(str)


@st.composite
def search_episodes(draw: st.DrawFn, max_size: int = LONGEST) -> SearchEpisode:
    """Return search episodes: tool calls with verdicts, and perhaps an answer at the end."""
    # One draw a step, from all steps there are: drawing each field would take five times longer.
    word = st.sampled_from(_STEPS)
    mostly = st.sampled_from([step for step in _STEPS if step.verdicts["recorded"] == "useless"])
    rows = draw(st.lists(word, max_size=max_size) | st.lists(mostly | word, max_size=max_size))
    steps = [structs.replace(step, t=t) for t, step in enumerate(rows, start=1)]
    if draw(st.booleans()):
        steps.append(SearchStep(t=len(steps) + 1, action="answer"))
    outcome = Outcome(success=draw(st.none() | st.booleans()), censored=draw(st.booleans()))
    return SearchEpisode(
        **_names(draw), budget=draw(st.none() | st.just(max_size + 1)), steps=steps, outcome=outcome
    )


@st.composite
def repair_episodes(draw: st.DrawFn, max_size: int = 6) -> RepairEpisode:
    """Return verify-repair loops of at least one round."""
    rounds = draw(repair_observations(max_size).filter(bool))
    steps = [
        RepairStep(round=k, accepts=seen.accepts, votes=seen.votes, valid=seen.valid)
        for k, seen in enumerate(rounds)
    ]
    outcome = Outcome(success=steps[-1].valid)
    return RepairEpisode(**_names(draw), budget=max_size - 1, steps=steps, outcome=outcome)


_STEPS = [
    SearchStep(t=1, action=action, result=result, verdicts={"recorded": word}, answer_now=forced)
    for action in ("search", "lookup")
    for result in (None, "a page", "Error: timed out")
    for word in Verdict
    for forced in (None, AnswerNow(success=True), AnswerNow(success=False))
]


def _combined(parts: SearchStrategy[Policy]) -> SearchStrategy[Policy]:
    pairs = st.tuples(parts, parts)
    return pairs.map(lambda pair: pair[0] | pair[1]) | pairs.map(lambda pair: pair[0] & pair[1])


def _names(draw: st.DrawFn) -> dict[str, Any]:
    question = f"q{draw(st.integers(0, 9))}"
    return {
        "episode_id": f"{question}-{draw(st.integers(0, 10**6))}",
        "cluster_id": question,
        "question_id": question,
        "regime": draw(st.none() | st.sampled_from(REGIMES)),
        "model": draw(st.none() | st.sampled_from(["model-a", "model-b"])),
        "seed": draw(st.none() | st.integers(0, 3)),
    }
