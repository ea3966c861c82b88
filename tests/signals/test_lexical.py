"""The lexical signal against its definition in METHODS section 1."""

from __future__ import annotations

import math

import pytest

from haltwise.core.errors import ParameterError
from haltwise.core.events import Verdict
from haltwise.signals import Lexical, SignalStep
from haltwise.signals.lexical import content_words, overlap, says_nothing_found

QUESTION = "Which magazine was started first, Arthur's Magazine or First for Women?"
"""Content words: magazine, started, first, arthur, women (was, for, or, which, s are dropped)."""


def _judge(result: str, question: str = QUESTION, threshold: float = 0.25) -> Verdict:
    return Lexical(threshold).judge(SignalStep(question, (result,)))


def test_content_words_are_longer_than_two_characters_and_no_stop_words():
    """The set Q of the definition, written out by hand."""
    assert content_words(QUESTION) == {"magazine", "started", "first", "arthur", "women"}


@pytest.mark.parametrize(
    ("result", "share"),
    [
        ("Arthur's Magazine (1844-1846) was started in Philadelphia", 3 / 5),
        ("FIRST of all", 1 / 5),
        ("A river in the north of Italy", 0.0),
    ],
)
def test_overlap_is_the_share_of_the_questions_words(result, share):
    """|Q and O| / |Q| counted by hand."""
    assert overlap(QUESTION, result) == pytest.approx(share)


def test_only_the_first_400_characters_are_read():
    """A word behind position 400 does not count."""
    assert overlap(QUESTION, "x" * 399 + " magazine") == 0
    assert overlap(QUESTION, "x" * 391 + " magazine") == pytest.approx(1 / 5)


def test_exactly_the_threshold_is_useful():
    """USELESS iff the share is below the threshold: 1 of 4 words is not below .25."""
    question = "alpha beta gamma delta"
    assert _judge("alpha", question) is Verdict.USEFUL
    assert _judge("alpha", question, threshold=0.26) is Verdict.USELESS


@pytest.mark.parametrize(
    "result",
    [
        "No results found.",
        "no results",
        "No more results.",
        "No matching documents were found for: magazine started first",
        "Nothing found",
        "Could not find [Arthur's Magazine]. Similar: ['First for Women']",
        "0 results",
        "",
        "  \n",
    ],
)
def test_case_a1_a_search_that_finds_nothing_is_useless_even_if_it_repeats_the_question(result):
    """Case A1: "no results" is useless whatever words stand beside it."""
    assert says_nothing_found(result)
    assert _judge(result) is Verdict.USELESS


def test_no_results_deep_inside_a_text_is_content():
    """Only the opening of a result says that the search failed."""
    text = "Arthur's Magazine was started in 1844. " * 4 + "There were no results of the poll."
    assert not says_nothing_found(text)
    assert _judge(text) is Verdict.USEFUL


def test_a_question_without_content_words_is_unjudged():
    """Without words to look for there is no judgement, and the share is NaN, not 0."""
    assert math.isnan(overlap("who is it?", "anything"))
    assert _judge("anything", "who is it?") is Verdict.UNJUDGED


def test_one_useful_result_among_parallel_ones_makes_the_step_useful():
    """Parallel calls are one step."""
    step = SignalStep(QUESTION, ("No results found.", "Arthur's Magazine, started 1844"))
    assert Lexical().judge(step) is Verdict.USEFUL


def test_case_a3_low_relevance_counts_as_useless():
    """Case A3: results that are returned but do not touch the question are useless."""
    assert _judge("The Po is a river that flows eastward across Italy.") is Verdict.USELESS


@pytest.mark.parametrize("threshold", [-0.1, 1.1, math.nan, "0.5", True])
def test_a_threshold_out_of_range_is_refused(threshold):
    """One sentence names the parameter, its range and what came."""
    with pytest.raises(ParameterError, match=r"lexical: threshold is a share from 0 to 1; got"):
        Lexical(threshold)
