"""LangChain agents under the rule: sync, async, streamed, with a structured answer."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("langchain", reason="needs the extra langchain")
pytest.importorskip("langchain_openai", reason="needs langchain-openai")

from langchain.agents import create_agent
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

from haltwise.adapters.langchain import StopMiddleware, flattened, read_messages
from haltwise.core.errors import ParameterError
from haltwise.core.expression import parse_policy
from haltwise.gateway.server import Gateway
from haltwise.gateway.settings import Settings
from haltwise.signals import SideChannel, Stated
from haltwise.testing.adapters import POLICY, Search, check_adapter
from haltwise.testing.conversations import QUESTION, USELESS
from haltwise.testing.gateways import served
from haltwise.testing.stub_models import ANSWER, MODES, StubServer

LIMIT = {"recursion_limit": 80}


class Answer(BaseModel):
    """The structured answer."""

    river: str


def _agent(url, search, middleware=None, **options):
    def look(query: str) -> str:
        """Search the web."""
        return search(query)

    model = ChatOpenAI(model="stub", base_url=f"{url}/v1", api_key="x", max_retries=0)
    tool = StructuredTool.from_function(look, name="search")
    middleware = [StopMiddleware(POLICY)] if middleware is None else middleware
    return create_agent(model, [tool], middleware=middleware, **options)


def _ask(question):
    return {"messages": [("user", question)]}


def _sync(url, question, search):
    return _agent(url, search).invoke(_ask(question), LIMIT)["messages"][-1].text


async def _async(url, question, search):
    return (await _agent(url, search).ainvoke(_ask(question), LIMIT))["messages"][-1].text


async def _stream(url, question, search):
    last = None
    async for state in _agent(url, search).astream(_ask(question), LIMIT, stream_mode="values"):
        last = state["messages"][-1]
    return last.text


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("run", [_sync, _async, _stream])
def test_case_c_the_agent_is_stopped_in_every_mode(run, mode):
    """Case C: exactly five tool steps, then a non-empty answer, with a valid history."""
    asyncio.run(check_adapter(run, modes=[mode]))


@pytest.mark.parametrize("strategy", [ToolStrategy, ProviderStrategy])
def test_case_b19_a_structured_answer_keeps_its_format(strategy):
    """Case B19: the forced answer is an object of the schema that was asked for."""

    def run(url, question, search):
        agent = _agent(url, search, response_format=strategy(Answer))
        return agent.invoke(_ask(question), LIMIT)["structured_response"].river

    (found,) = asyncio.run(check_adapter(run, modes=["obedient"]))
    assert found.answer == ANSWER


def test_without_the_middleware_the_loop_never_ends():
    """The check can fail: the same agent without a rule runs into its limit."""
    from langgraph.errors import GraphRecursionError

    with StubServer() as stub, pytest.raises(GraphRecursionError):
        _agent(stub.url, Search(), []).invoke(_ask(QUESTION), {"recursion_limit": 30})


def test_the_note_enters_nobodys_history_and_the_decision_is_there():
    """Case B24: the answer carries the typed reason; the note was in one request only."""
    with StubServer() as stub:
        messages = _agent(stub.url, Search()).invoke(_ask(QUESTION), LIMIT)["messages"]
    assert not any("[haltwise]" in str(message.content) for message in messages)
    decision = messages[-1].response_metadata["haltwise"]
    assert (decision["action"], decision["evidence"]) == ("answer", {"run": 5, "threshold": 5})


def test_case_a7_the_next_question_of_a_thread_may_search_again():
    """Case A7: with a checkpointer, a new user turn starts a new loop in the same thread."""
    from langgraph.checkpoint.memory import InMemorySaver

    search = Search()
    with StubServer() as stub:
        agent = _agent(stub.url, search, checkpointer=InMemorySaver())
        config = {"configurable": {"thread_id": "1"}, **LIMIT}
        for expected in (5, 10):
            agent.invoke(_ask(QUESTION), config)
            assert search.runs == expected


def test_case_b22_a_sub_agents_forced_answer_stops_its_parent():
    """Case B22: five sub-agents stop at 5 each, and the parent counts them as useless."""
    leaf = Search()
    with StubServer() as stub:

        def sub_agent(query: str = "") -> str:
            agent = _agent(stub.url, leaf, [StopMiddleware(POLICY, sub_agent=True)])
            return agent.invoke(_ask(f"{QUESTION} {query}"), LIMIT)["messages"][-1].text

        answer = _agent(stub.url, sub_agent).invoke(_ask(QUESTION), LIMIT)["messages"][-1].text
    assert leaf.runs == 25
    assert answer == ANSWER


def test_the_stated_signal_drops_the_call_that_came_with_the_verdict():
    """The fifth complaint arrives with a sixth call, which is not run."""
    search = Search()
    with StubServer(thought="That was not helpful.") as stub:
        agent = _agent(stub.url, search, [StopMiddleware(POLICY, signal=Stated())])
        assert agent.invoke(_ask(QUESTION), LIMIT)["messages"][-1].text == ANSWER
    assert search.runs == 5


def test_a_model_error_that_is_not_about_tools_is_raised():
    """Only 400 and 422 are tried again; everything else is the user's to see."""
    from aiohttp import web
    from openai import RateLimitError

    async def busy(request, body):
        if len(body["messages"]) > 8:
            return web.json_response({"error": {"message": "busy"}}, status=429)

    with StubServer(fault=busy) as stub, pytest.raises(RateLimitError):
        _agent(stub.url, Search()).invoke(_ask(QUESTION), LIMIT)


def test_messages_are_read_and_flattened():
    """A failed tool is a failure; flattening leaves no tool message and loses no text."""
    messages = [
        HumanMessage("q"),
        AIMessage("hm", tool_calls=[{"name": "search", "args": {"b": 1, "a": 2}, "id": "x"}]),
        ToolMessage(USELESS, tool_call_id="x", status="error"),
    ]
    read = read_messages(messages)
    assert read[1].calls[0].arguments == '{"a": 2, "b": 1}'
    assert read[2].failed
    flat = flattened(messages)
    assert [type(message) for message in flat] == [HumanMessage, AIMessage, HumanMessage]
    assert USELESS in flat[2].text and "search" in flat[1].text


def test_what_an_adapter_cannot_do_is_said():
    """Repair rules and the side channel are refused with the remedy."""
    with pytest.raises(ParameterError, match="haltwise serve --signal side-channel"):
        StopMiddleware(POLICY, signal=SideChannel())


@pytest.mark.parametrize("mode", MODES)
def test_a_plain_agent_is_stopped_by_its_base_url_alone(mode):
    """Without an adapter, pointed at the gateway: five steps, then an answer, rogue or not."""
    search = Search()
    with StubServer(mode) as stub:
        gateway = Gateway(Settings(f"{stub.url}/v1", parse_policy(POLICY)))
        with served(gateway) as url:
            answer = _agent(url, search, []).invoke(_ask(QUESTION), LIMIT)["messages"][-1].text
    assert search.runs == (10 if mode == "parallel" else 5)
    assert answer == ANSWER or (mode == "rogue" and answer.strip())
