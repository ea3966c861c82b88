"""`SearchLoop`: a policy and its state in somebody's own loop."""

from __future__ import annotations

import json

import pytest

from haltwise import (
    Action,
    ObservationError,
    ParameterError,
    SearchLoop,
    Verdict,
    parse_policy,
    state_from_json,
    state_to_json,
)
from haltwise.core.decision import CONTINUE


def test_words_and_verdicts_are_the_same() -> None:
    """A verdict may be given as the enum or as its word."""
    words, verdicts = SearchLoop(parse_policy("streak(3)")), SearchLoop(parse_policy("streak(3)"))
    for verdict in (Verdict.USELESS, Verdict.UNJUDGED, Verdict.USELESS, Verdict.USELESS):
        assert words.observe(verdict.value) == verdicts.observe(verdict)
    assert words.decision.action is Action.ANSWER


def test_a_step_without_news_shares_one_decision() -> None:
    """While nothing happens every step returns the very same object."""
    loop = SearchLoop(parse_policy("streak(3) | deadline(8)"))
    assert loop.observe("useless") is CONTINUE
    assert loop.observe("useful") is CONTINUE


@pytest.mark.parametrize("word", ["USELESS", "bad", "", None, 0, 1.0, True, {"v": 1}, ["useless"]])
def test_other_words_are_refused_and_the_state_is_kept(word: object) -> None:
    """A typo neither counts nor resets: the loop is where it was."""
    loop = SearchLoop(parse_policy("streak(3)"))
    loop.observe("useless")
    with pytest.raises(ObservationError, match='a verdict is one of "useless"'):
        loop.observe(word)  # type: ignore[arg-type]
    assert loop.state == 1


def test_a_stop_is_sticky() -> None:
    """After the stop a useful result changes nothing: same decision, same evidence."""
    loop = SearchLoop(parse_policy("streak(2)"))
    loop.observe("useless")
    stop = loop.observe("useless")
    assert loop.observe("useful") is stop


def test_resuming_from_a_stored_state() -> None:
    """A loop that is stored as JSON after four steps stops at the fifth, as if never stored."""
    policy = parse_policy("streak(5) | deadline(8)")
    first = SearchLoop(policy)
    for _ in range(4):
        first.observe("useless")
    stored = json.dumps(state_to_json(first.state))
    second = SearchLoop(policy, state_from_json(json.loads(stored)))
    assert second.observe("useless") == first.observe("useless")
    assert second.decision.evidence == {"run": 5, "threshold": 5}


def test_a_stopped_loop_resumes_as_stopped() -> None:
    """The stored state of a stopped loop is its decision."""
    loop = SearchLoop(parse_policy("calls(1)"))
    loop.observe("useful")
    resumed = SearchLoop(loop.policy, state_from_json(state_to_json(loop.state)))
    assert resumed.decision.action is Action.ANSWER


def test_calls_and_results_feed_the_repetition_rule() -> None:
    """The same arguments in another key order are the same call; a new result is progress."""
    loop = SearchLoop(parse_policy("repeat(2)"))
    assert not loop.observe("useless", call={"q": "x", "n": 1}, result="none").stops
    assert not loop.observe("useless", call={"q": "x", "n": 1}, result="other").stops
    assert loop.observe("useless", call={"n": 1, "q": "x"}, result="none").stops


def test_the_policy_is_checked() -> None:
    """An expression that was not parsed is refused with the line to type."""
    with pytest.raises(ParameterError, match=r'parse_policy\("streak\(5\)"\)'):
        SearchLoop("streak(5)")  # type: ignore[arg-type]


def test_any_call_has_a_fingerprint() -> None:
    """Keys of several types and values that hold themselves count as calls, not as a crash."""
    circle: list[object] = []
    circle.append(circle)
    for call in ({1: 2, "a": 3}, {(1, 2): 3}, circle):
        loop = SearchLoop(parse_policy("repeat(2)"))
        assert not loop.observe("useless", call=call, result="").stops
        assert loop.observe("useless", call=call, result="").stops
