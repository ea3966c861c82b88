"""DSPy's ReAct under the rule. DSPy speaks its own text format, so its own dummy model is used."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("dspy", reason="runs in an environment of its own: make test-adapters")

import dspy
from dspy.utils.dummies import DummyLM

from haltwise.adapters.dspy import StopReAct, StopRefine
from haltwise.core.errors import ObservationError, ParameterError
from haltwise.signals import Stated
from haltwise.testing.adapters import POLICY, Search
from haltwise.testing.conversations import QUESTION, USEFUL

ANSWER = {"reasoning": "nothing more", "answer": "Not found."}


def _pick(thought="again"):
    return {"next_thought": thought, "next_tool_name": "search", "next_tool_args": '{"query": "x"}'}


def _agent(search, policy=POLICY, **options):
    def look(query: str) -> str:
        """Search the web."""
        return search(query)

    look.__name__ = "search"
    return StopReAct("question -> answer", tools=[look], policy=policy, **options)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_case_c_the_agent_is_stopped_at_five_and_answers(asynchronous):
    """Case C: five tool steps, no sixth pick, and the extraction gives the answer."""
    search = Search()
    lm = DummyLM([_pick() for _ in range(5)] + [ANSWER])
    with dspy.context(lm=lm):
        agent = _agent(search)
        if asynchronous:
            result = asyncio.run(agent.acall(question=QUESTION))
        else:
            result = agent(question=QUESTION)
    assert (search.runs, result.answer, len(lm.history)) == (5, "Not found.", 6)
    assert result.trajectory["tool_name_5"] == "finish"
    assert "5 useless results in a row" in result.trajectory["thought_5"]


def test_case_a7_a_useful_result_resets():
    """A find in between: the loop goes on to its own limit."""
    runs = []

    def search(query: str) -> str:
        runs.append(query)
        return USEFUL if len(runs) % 4 == 0 else "No results found."

    with dspy.context(lm=DummyLM([_pick() for _ in range(12)] + [ANSWER])):
        _agent(search, max_iters=12)(question=QUESTION)
    assert len(runs) == 12


def test_the_stated_signal_drops_the_pick_that_came_with_the_verdict():
    """The fifth complaint arrives with a sixth pick, which is not run."""
    search = Search()
    with dspy.context(lm=DummyLM([_pick("That was not helpful.") for _ in range(6)] + [ANSWER])):
        _agent(search, signal=Stated())(question=QUESTION)
    assert search.runs == 5


def test_case_a9_a_tool_that_raises_is_a_failed_source():
    """Case A9: DSPy turns an exception into "Execution error ...", which leaves the run."""
    runs = []

    def search(query: str) -> str:
        runs.append(query)
        raise ConnectionError("down")

    with dspy.context(lm=DummyLM([_pick() for _ in range(8)] + [ANSWER])):
        _agent(search, max_iters=8)(question=QUESTION)
    assert len(runs) == 8


def _attempts(n):
    advice = {"discussion": "It is wrong.", "advice": '{"predict": "be right"}'}
    replies = []
    for t in range(n):
        replies += [{"reasoning": "so", "answer": f"plan {t}"}, advice]
    return DummyLM(replies)


def _refine(votes, policy, **options):
    given = iter(votes)
    return StopRefine(
        dspy.ChainOfThought("question -> answer"), lambda inputs, prediction: next(given),
        policy=policy, **options,
    )  # fmt: skip


def test_case_b23_refine_delivers_the_best_attempt_and_not_the_last():
    """Case B23: votes 4, 1, 2, 1: the first attempt is the one that is committed."""
    with dspy.context(lm=_attempts(4)):
        prediction = _refine([4, 1, 2, 1], "best_of_votes(rounds=3)")(question=QUESTION)
    assert prediction.answer == "plan 0"
    assert prediction.haltwise["action"] == "commit"
    assert prediction.haltwise["candidate"] == 0


def test_refine_stops_where_the_rule_does():
    """A majority at the third attempt: no fourth is made."""
    votes = iter([1, 2, 6, 8, 8])
    with dspy.context(lm=_attempts(5)):
        prediction = _refine(votes, "best_of_votes")(question=QUESTION)
    assert prediction.answer == "plan 2"
    assert list(votes) == [8, 8]


def test_case_a10_a_verifier_that_crashes_gives_no_vote():
    """Case A10: the attempt without votes is neither good nor bad; the loop goes on."""

    def accepts(inputs, prediction):
        if prediction.answer == "plan 0":
            raise TimeoutError("down")
        return 7

    solver = dspy.ChainOfThought("question -> answer")
    with dspy.context(lm=_attempts(3)):
        prediction = StopRefine(solver, accepts, policy="best_of_votes")(question=QUESTION)
    assert prediction.answer == "plan 1"


@pytest.mark.parametrize("bad", [9, -1, float("nan"), "yes"])
def test_case_a13_votes_that_make_no_sense_are_refused(bad):
    """Cases A12 and A13: the sentence reaches the caller, DSPy does not swallow it."""
    with dspy.context(lm=_attempts(3)), pytest.raises(ObservationError):
        _refine([bad], "best_of_votes")(question=QUESTION)


def test_case_b25_no_counter_survives_a_call():
    """Case B25: the second call of one module begins anew."""
    refine = _refine([8, 8], "best_of_votes")
    for _ in range(2):
        with dspy.context(lm=_attempts(1)):
            assert refine(question=QUESTION).answer == "plan 0"


def test_a_search_rule_is_refused_by_refine():
    """The sentence names the rule."""
    with pytest.raises(ParameterError, match="search loops"):
        _refine([], "streak(5)")
