"""Three graders, each against its own definition."""

from __future__ import annotations

import pytest

from haltwise.study.search.graders import (
    fever,
    hotpotqa,
    judged_useless,
    multiset_f1,
    normalise,
    set_f1,
)


def test_normalisation() -> None:
    """Lower case, no punctuation, no articles, single spaces."""
    assert normalise("  The  Old-Meridian, an  Inn!") == "oldmeridian inn"


def test_sets_and_multisets_differ_where_a_token_repeats() -> None:
    """ "new york new york" against "new york": sets 1; multisets p = 2/4, r = 1, F1 = 2/3."""
    assert set_f1("New York New York", "New York") == 1
    assert multiset_f1("New York New York", "New York") == pytest.approx(2 / 3)


def test_the_border_of_six_tenths() -> None:
    """2 common of 3 and 3 tokens: F1 = 2/3, right; 1 common of 2 and 2: 1/2, wrong."""
    assert judged_useless("John Paul Jones", "John Paul Smith")
    assert not judged_useless("John Paul", "John Smith")


def test_yes_and_no_match_nothing_but_themselves_officially() -> None:
    """ "yes it is" against "yes": set F1 = 2 x 1/3 x 1/(1/3+1) = .5; official 0; so both wrong.

    "yes yes" against "yes" is 1 as sets and 0 officially: the graders differ there.
    """
    assert multiset_f1("yes it is", "yes") == 0
    assert judged_useless("yes yes", "yes")
    assert not hotpotqa("yes yes", "yes")
    assert hotpotqa("Yes.", "yes")


@pytest.mark.parametrize("grade", [judged_useless, hotpotqa])
def test_an_empty_answer_is_wrong(grade: object) -> None:
    """Nothing said is not right."""
    assert not grade("", "Ulm")  # type: ignore[operator]


@pytest.mark.parametrize(
    ("given", "right", "verdict"),
    [
        ("SUPPORTS", "SUPPORTS", True),
        ("I think it refutes.", "REFUTES", True),
        ("The answer is REFUTES", "REFUTES", True),
        ("SUPPORTS or REFUTES", "SUPPORTS", False),
        ("supports", "SUPPORTS", True),
        ("not enough info", "REFUTES", False),
    ],
)
def test_claims_need_exactly_one_verdict_word(given: str, right: str, verdict: bool) -> None:
    """One of the two words as a word of its own, in any case, and the right one."""
    assert fever(given, right) is verdict
