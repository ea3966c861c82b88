"""Stored states of loops: every true one resumes, everything else is one clear sentence."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haltwise import (
    HaltwiseError,
    InputError,
    ParameterError,
    RepairLoop,
    SearchLoop,
    parse_policy,
    state_from_json,
    state_to_json,
)

SEARCH = ["streak(5)", "deadline(8)", "repeat(3)", "calls(4)", "never", "streak(5) | deadline(8)"]
REPAIR = ["vrr_guard", "best_of_votes", "patience(2)", "fixed(3)", "majority", "confidence(0.9)"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.sampled_from(SEARCH), JSON)
def test_any_json_as_a_search_state_is_taken_or_refused(policy: str, value: Any) -> None:
    """Never a bare TypeError, neither at the start nor at the next observation."""
    try:
        loop = SearchLoop(parse_policy(policy), state_from_json(value))
        for word in ("useless", "useful", "source_error"):
            loop.observe(word, call="search", result="nothing")
    except HaltwiseError as error:
        assert "state" in str(error)


@given(st.sampled_from(REPAIR), JSON)
def test_any_json_as_a_repair_state_is_taken_or_refused(policy: str, value: Any) -> None:
    """Never a bare TypeError, neither at the start nor at the next observation."""
    try:
        loop = RepairLoop(parse_policy(policy), state_from_json(value), candidates=["a"] * 12)
        for accepts in (0, 4, 8):
            loop.observe("b", accepts, 8)
    except HaltwiseError as error:
        assert "state" in str(error)


@given(st.sampled_from(SEARCH), st.lists(st.sampled_from(["useless", "useful"]), max_size=9))
def test_every_true_search_state_resumes(policy: str, words: list[str]) -> None:
    """Through JSON and back at any step, stopped or not."""
    loop = SearchLoop(parse_policy(policy))
    for t, word in enumerate(words):
        loop.observe(word, call=t, result=t)
    stored = json.loads(json.dumps(state_to_json(loop.state)))
    assert SearchLoop(loop.policy, state_from_json(stored)).state == loop.state


@given(st.sampled_from(REPAIR), st.lists(st.integers(0, 8), max_size=7))
def test_every_true_repair_state_resumes(policy: str, votes: list[int]) -> None:
    """Through JSON and back at any round, stopped or not."""
    loop: RepairLoop[int] = RepairLoop(parse_policy(policy))
    for round_, accepts in enumerate(votes):
        loop.observe(round_, accepts, 8)
    stored = json.loads(json.dumps(state_to_json(loop.state)))
    resumed = RepairLoop(loop.policy, state_from_json(stored), candidates=loop.candidates)
    assert resumed.state == loop.state


def test_the_sentence_names_the_state_the_rule_and_the_remedy() -> None:
    """What came, whose it should be, what to type."""
    with pytest.raises(ParameterError, match=r"'nonsense' is no state of streak\(5\).*state_from_"):
        SearchLoop(parse_policy("streak(5)"), "nonsense")
    with pytest.raises(ParameterError, match=r"\[0, 1\] is no state of vrr_guard"):
        RepairLoop(parse_policy("vrr_guard"), [0, 1])


def test_a_state_of_another_shape_of_object_is_refused_where_it_is_read() -> None:
    """`state_from_json` names the keys that came."""
    with pytest.raises(InputError, match="the keys actoin"):
        state_from_json({"actoin": "answer"})
    with pytest.raises(InputError, match="the keys decision"):
        state_from_json({"decision": {"action": "dance", "reason": "", "policy": ""}})
