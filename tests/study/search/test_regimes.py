"""Which observations fail under each regime, and what the agent reads instead."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haltwise.core.errors import ParameterError
from haltwise.study.search.question import Question
from haltwise.study.search.regimes import (
    DELTA,
    MEAN6,
    REGIMES,
    Observation,
    Origin,
    World,
    answerless,
    fails,
    world,
)
from haltwise.study.search.tasks import bundled

TASK = bundled()
EXPECTED = {
    "clean": "....... ",
    "persistent": "xxxxxxx ",
    "recover_after_1": "x...... ",
    "recover_after_2": "xx..... ",
    "recover_after_3": "xxx.... ",
    "recover_after_4": "xxxx... ",
    "recover_after_5": "xxxxx.. ",
    "late_onset_from_3": "..xxxxx ",
}


def walk(question: Question, regime: str, *, seed: int = 3, steps: int = 7) -> list[Observation]:
    """Search for the first supporting page again and again."""
    state: World = world(question, regime, TASK.questions, seed=seed)
    title = next(page.title for page in question.pages if page.title in question.supporting_titles)
    seen = []
    for _ in range(steps):
        state, observation = state.act("search", title)
        seen.append(observation)
    return seen


@pytest.mark.parametrize(("regime", "pattern"), EXPECTED.items())
def test_failed_observations_by_index(regime: str, pattern: str) -> None:
    """The table of METHODS, written out: x is a failed observation, a dot a true one."""
    assert "".join(".x"[fails(regime, index)] for index in range(1, 8)) == pattern.strip()
    origins = [item.origin for item in walk(TASK.questions[0], regime)]
    assert [origin is Origin.FAILED for origin in origins] == [mark == "x" for mark in pattern[:7]]


@given(st.sampled_from(TASK.questions), st.integers(0, 50))
def test_all_regimes_share_the_misleading_prefix(question: Question, seed: int) -> None:
    """At an index at which two regimes fail, both show the same foreign page."""
    shown = {regime: walk(question, regime, seed=seed) for regime in EXPECTED}
    for index in range(7):
        failed = {
            walked[index].text for walked in shown.values() if walked[index].origin is Origin.FAILED
        }
        assert len(failed) <= 1


@given(st.sampled_from(TASK.questions), st.integers(0, 50))
def test_misleading_pages_are_foreign_and_different(question: Question, seed: int) -> None:
    """None has a title of the question's own library, none comes twice."""
    own = {page.title for page in question.pages}
    titles = [item.title for item in walk(question, "persistent", seed=seed)]
    assert not own & set(titles)
    assert len(set(titles)) == len(titles)


def test_seeds_change_the_misleading_pages() -> None:
    """Another seed draws other pages."""
    first, second = (
        [item.title for item in walk(TASK.questions[0], "persistent", seed=seed)] for seed in (1, 2)
    )
    assert first != second


def test_plausible_shows_the_questions_own_distractors() -> None:
    """Every observation is a page of the own library that does not support the answer."""
    question = TASK.questions[0]
    own = {page.title for page in question.pages} - question.supporting_titles
    seen = walk(question, "plausible")
    assert {item.origin for item in seen} == {Origin.DISTRACTOR}
    assert {item.title for item in seen} <= own
    assert len({item.title for item in seen}) == 7


@given(st.sampled_from(TASK.questions))
def test_answerless_pages_lack_the_supporting_sentences(question: Question) -> None:
    """The answer occurs in none of them; all other sentences are still there."""
    pages = answerless(question)
    assert not any(question.answer.lower() in page.text.lower() for page in pages)
    before = sum(len(page.sentences) for page in question.pages)
    assert sum(len(page.sentences) for page in pages) == before - len(question.supporting)
    assert {item.origin for item in walk(question, "answerless")} == {Origin.DISTRACTOR}


def test_the_backup_tool_works_while_the_source_is_dead() -> None:
    """Search fails at every index, the second tool never does; other regimes have no such tool."""
    question = TASK.questions[0]
    state = world(question, "backup_tool", TASK.questions, seed=0)
    title = sorted(question.supporting_titles)[0]
    state, first = state.act("search", title)
    state, second = state.act("backup_search", title)
    assert (first.origin, second.origin) == (Origin.FAILED, Origin.SUPPORTING)
    with pytest.raises(ParameterError, match="backup_search"):
        world(question, "clean", TASK.questions, seed=0).act("backup_search", title)


def test_a_recovered_source_has_recovered_for_lookups() -> None:
    """The replaced search opened its page underneath: the lookup after it finds the sentence."""
    question = TASK.questions[0]
    title, place = sorted(question.supporting)[0]
    sentence = next(page for page in question.pages if page.title == title).sentences[place]
    state = world(question, "recover_after_1", TASK.questions, seed=0)
    state, _ = state.act("search", title)
    _, found = state.act("lookup", sentence[:12])
    assert (found.text, found.origin) == (sentence, Origin.SUPPORTING)


def test_an_unknown_regime_is_refused() -> None:
    """The message lists the regimes."""
    with pytest.raises(ParameterError, match="recover_after_5"):
        world(TASK.questions[0], "flaky", TASK.questions, seed=0)


def test_mean6_and_delta_are_those_of_the_published_design() -> None:
    """Six regimes in mean6, the five with a failure in delta (METHODS, table of regimes)."""
    assert len(MEAN6) == 6
    assert set(MEAN6) - set(DELTA) == {"clean"}
    assert set(MEAN6) < set(REGIMES)
