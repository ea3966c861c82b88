"""Outlines: what is kept of an episode, and the digests that tell episodes apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from haltwise.core.events import Verdict
from haltwise.record.digest import DigestSet, mix
from haltwise.record.episode import Call, Outcome, SearchEpisode, SearchStep
from haltwise.record.outline import ANSWER, CALL, CODES, VERDICTS, batch, error_text, outline_of


def episode(name: str = "q1", **fields: object) -> SearchEpisode:
    """Return a two-step episode with one useless verdict."""
    steps = [
        SearchStep(1, "search", "x", "nothing found", {"recorded": Verdict.USELESS}),
        SearchStep(2, "answer"),
    ]
    given = {"episode_id": name, "cluster_id": name, "question_id": name, "steps": steps}
    return SearchEpisode(**{**given, **fields})  # type: ignore[arg-type]


def test_outline_keeps_one_byte_a_step() -> None:
    """A search judged useless and an answer become the codes of both, with T as their length."""
    outline = outline_of(episode(budget=8, outcome=Outcome(success=False)))
    assert outline.actions == bytes([CALL, ANSWER])
    assert [VERDICTS[code] for code in outline.verdicts] == [Verdict.USELESS, Verdict.UNJUDGED]
    assert (outline.budget, outline.success, outline.source) == (8, False, "recorded")
    assert (outline.calls, outline.results) == (1, 1)


def test_parallel_calls_are_one_step_and_counted_one_by_one() -> None:
    """Three calls of one turn are one step with three calls and their three results."""
    calls = [Call("search", "a", "r"), Call("search", "b", None), Call("lookup", "c", "r2")]
    outline = outline_of(episode(steps=[SearchStep(1, "search+lookup", parallel=calls)]))
    assert (len(outline.actions), outline.calls, outline.results) == (1, 3, 2)


def test_an_answer_without_any_step_counts_as_an_answer() -> None:
    """An agent that answered at once did answer; one that said nothing did not."""
    assert outline_of(episode(steps=[], outcome=Outcome(answer="a"))).actions == bytes([ANSWER])
    assert outline_of(episode(steps=[])).actions == b""


def test_the_source_of_verdicts_can_be_chosen() -> None:
    """A named source is used alone; a step that it did not judge is unjudged."""
    step = SearchStep(1, "search", verdicts={"lexical": Verdict.USEFUL})
    assert outline_of(episode(steps=[step])).verdicts == bytes([CODES[Verdict.USEFUL]])
    named = outline_of(episode(steps=[step]), "recorded")
    assert named.verdicts == bytes([CODES[Verdict.UNJUDGED]])


@pytest.mark.parametrize(
    "text",
    [
        "Error: user not found",
        "API Error 529 overloaded",
        "HTTP 503 Service Unavailable",
        "Traceback (most recent call last):\n  File",
        "requests.exceptions.ConnectionError: refused",
        "<tool_use_error>File has not been read yet</tool_use_error>",
    ],
)
def test_error_texts_are_recognised(text: str) -> None:
    """What tools and APIs say when they fail counts as an error text."""
    assert error_text(text) is not None


@pytest.mark.parametrize("text", ["500 people came", "The error was found in 1912.", "", "ok"])
def test_prose_about_errors_is_no_error_text(text: str) -> None:
    """An article that mentions an error, or begins with a number, is a result like any other."""
    assert error_text(text) is None


def test_digits_do_not_tell_error_texts_apart() -> None:
    """Two failures that differ in a request number are one error text."""
    assert error_text("Error: request 17 failed") == error_text("Error: request 4711 failed")


def test_batch_pools_equal_outlines_and_tells_clusters_apart() -> None:
    """Two questions with the same course share one outline and have two cluster digests."""
    episodes = [episode("a"), episode("b"), episode("a", regime="persistent")]
    made = batch((n, e, outline_of(e)) for n, e in enumerate(episodes))
    assert made.index.tolist() == [0, 0, 1]
    assert made.clusters[0] == made.clusters[2] != made.clusters[1]
    assert len(set(made.identities.tolist())) == 3
    kept = made.select(np.array([True, False, True]))
    assert kept.index.tolist() == [0, 1]


@given(st.lists(st.lists(st.integers(0, 40) | st.integers(0, 2**64 - 1))))
def test_digest_set_agrees_with_a_python_set(batches: list[list[int]]) -> None:
    """Whatever the order and the repetitions, exactly the first sight of a digest is new."""
    digests, oracle = DigestSet(), set()
    for values in batches:
        expected = [not (v in oracle or oracle.add(v)) for v in values]  # type: ignore[func-returns-value]
        assert digests.add(np.array(values, np.uint64)).tolist() == expected
    assert digests.values().tolist() == sorted(oracle)
    assert len(digests) == len(oracle)


def test_mix_depends_on_the_order_of_its_parts() -> None:
    """The digest of (question, context) is not that of (context, question)."""
    a, b = np.array([1], np.uint64), np.array([2], np.uint64)
    assert mix(a, b) != mix(b, a)
