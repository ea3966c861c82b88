"""LangGraph's prebuilt agent under the rule."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("langgraph.prebuilt", reason="needs the extra langchain")
pytest.importorskip("langchain_openai", reason="needs langchain-openai")

from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI
from langgraph.prebuilt import create_react_agent

from haltwise.adapters.langgraph import StopHooks
from haltwise.core.errors import ParameterError
from haltwise.signals import Stated
from haltwise.testing.adapters import POLICY, Search, check_adapter
from haltwise.testing.conversations import QUESTION
from haltwise.testing.stub_models import ANSWER, MODES, StubServer

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
LIMIT = {"recursion_limit": 80}


def _graph(url, search):
    def look(query: str) -> str:
        """Search the web."""
        return search(query)

    tool = StructuredTool.from_function(look, name="search")
    model = ChatOpenAI(model="stub", base_url=f"{url}/v1", api_key="x", max_retries=0)
    rule = StopHooks(POLICY, model, [tool])
    return create_react_agent(
        rule.model, [tool], pre_model_hook=rule.before, post_model_hook=rule.after
    )


def _sync(url, question, search):
    state = _graph(url, search).invoke({"messages": [("user", question)]}, LIMIT)
    return state["messages"][-1].text


async def _stream(url, question, search):
    last = None
    graph = _graph(url, search)
    async for state in graph.astream(
        {"messages": [("user", question)]}, LIMIT, stream_mode="values"
    ):
        last = state["messages"][-1]
    return last.text


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("run", [_sync, _stream])
def test_case_c_the_graph_is_stopped_in_every_mode(run, mode):
    """Case C: exactly five tool steps, then a non-empty answer, with a valid history."""
    (found,) = asyncio.run(check_adapter(run, modes=[mode]))
    if mode != "rogue":
        assert found.answer == ANSWER


def test_the_note_enters_no_state():
    """The state holds the decision and not the note."""
    with StubServer() as stub:
        state = _graph(stub.url, Search()).invoke({"messages": [("user", QUESTION)]}, LIMIT)
    assert not any("[haltwise]" in str(message.content) for message in state["messages"])
    assert state["messages"][-1].response_metadata["haltwise"]["action"] == "answer"


def test_a_signal_that_comes_too_late_is_refused():
    """The sentence names what to use instead."""
    with pytest.raises(ParameterError, match="LangChain middleware"):
        StopHooks(POLICY, None, [], signal=Stated())
