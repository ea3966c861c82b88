"""Hypothesis strategies of episodes, for the tests of this folder."""

from __future__ import annotations

from hypothesis import strategies as st

from haltwise.core.events import Usage, Verdict
from haltwise.record import (
    AnswerNow,
    AnyEpisode,
    Beliefs,
    Call,
    Outcome,
    RepairEpisode,
    RepairStep,
    SearchEpisode,
    SearchStep,
)

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
maybe_text = st.none() | text
number = st.integers(0, 10**6)
unit = st.floats(0, 1)
usage = st.none() | st.builds(Usage, *[st.none() | number] * 3)
arguments = st.none() | text | st.dictionaries(text, number | text, max_size=3)
calls = st.builds(Call, text, arguments, maybe_text)
searches = st.builds(
    SearchStep,
    t=st.integers(1, 50),
    action=st.sampled_from(["search", "lookup", "answer"]) | text,
    arguments=arguments,
    result=maybe_text,
    verdicts=st.dictionaries(
        st.sampled_from(["recorded", "lexical"]), st.sampled_from(Verdict), max_size=2
    ),
    beliefs=st.none() | st.builds(Beliefs, unit, unit, st.none() | st.integers(1, 5)),
    answer_now=st.none() | st.builds(AnswerNow, maybe_text, st.none() | st.booleans()),
    time=st.none() | st.floats(0, 1e6),
    usage=usage,
    parallel=st.lists(calls, max_size=3),
    thought=maybe_text,
)


@st.composite
def rounds(draw: st.DrawFn) -> RepairStep:
    """Return a round with a possible vote count."""
    votes = draw(st.none() | st.integers(0, 16))
    accepts = None if votes is None else draw(st.none() | st.integers(0, votes))
    valid = draw(st.none() | st.booleans())
    return RepairStep(draw(st.integers(0, 10_000)), draw(maybe_text), accepts, votes, valid)


common = {
    "episode_id": text,
    "cluster_id": text,
    "question_id": text,
    "question": maybe_text,
    "regime": maybe_text,
    "model": maybe_text,
    "arm": maybe_text,
    "seed": st.none() | st.integers(-(2**40), 2**40),
    "run": maybe_text,
    "labels": st.dictionaries(text, text, max_size=2),
    "outcome": st.builds(Outcome, st.none() | st.booleans(), maybe_text, st.booleans(), maybe_text),
    "usage": usage,
    "notes": st.lists(text, max_size=2),
    "budget": st.none() | number,
}

episodes: st.SearchStrategy[AnyEpisode] = st.builds(
    SearchEpisode,
    steps=st.lists(searches, max_size=4, unique_by=lambda step: step.t).map(
        lambda steps: sorted(steps, key=lambda step: step.t)
    ),
    **common,
) | st.builds(
    RepairEpisode,
    steps=st.lists(rounds(), min_size=1, max_size=4, unique_by=lambda step: step.round),
    gated=st.none() | st.booleans(),
    **common,
)
