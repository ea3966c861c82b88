"""DSPy's ReAct under the rule. DSPy speaks its own text format, so its own dummy model is used."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("dspy", reason="runs in an environment of its own: make test-adapters")

import dspy
from dspy.utils.dummies import DummyLM

from haltwise.adapters.dspy import StopReAct
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
