"""smolagents agents under the rule: tool-calling and code agents."""

from __future__ import annotations

import asyncio
from typing import ClassVar

import pytest

pytest.importorskip("smolagents", reason="runs in an environment of its own: make test-adapters")

from smolagents import CodeAgent, OpenAIServerModel, Tool, ToolCallingAgent

from haltwise.adapters.smolagents import StopModel
from haltwise.core.expression import parse_policy
from haltwise.gateway.server import Gateway
from haltwise.gateway.settings import Settings
from haltwise.testing.adapters import POLICY, Search, check_adapter
from haltwise.testing.conversations import QUESTION
from haltwise.testing.gateways import served
from haltwise.testing.stub_models import ANSWER, MODES, StubServer


def _tool(search):
    class Look(Tool):
        name = "search"
        description = "Search the web."
        inputs: ClassVar = {"query": {"type": "string", "description": "what to look for"}}
        output_type = "string"

        def forward(self, query: str) -> str:
            return search(query)

    return Look()


def _model(url):
    return OpenAIServerModel(
        "stub", api_base=f"{url}/v1", api_key="x", client_kwargs={"max_retries": 0}
    )


@pytest.mark.parametrize("mode", MODES)
def test_case_c_a_tool_calling_agent_is_stopped_in_every_mode(mode):
    """Case C: exactly five tool steps, then a non-empty answer, with a valid history."""

    def run(url, question, search):
        model = StopModel(_model(url), POLICY)
        agent = ToolCallingAgent(
            tools=[_tool(search)], model=model, max_steps=12, verbosity_level=0
        )
        return agent.run(question)

    asyncio.run(check_adapter(run, modes=[mode]))


def test_without_the_rule_the_loop_runs_to_its_limit():
    """The check can fail: without a rule all twelve steps are searches."""
    search = Search()
    with StubServer() as stub:
        ToolCallingAgent(
            tools=[_tool(search)], model=_model(stub.url), max_steps=12, verbosity_level=0
        ).run(QUESTION)
    assert search.runs == 12


def test_a_code_agent_is_stopped_with_code_that_answers():
    """The stub writes code that searches; after the stop its text becomes the final answer."""
    search = Search()
    with StubServer() as stub:
        original = stub.turn

        def turn(dialect, body):
            found = original(dialect, body)
            if "[haltwise]" in str(body["messages"][-1]):
                return found
            return found._replace(
                text='Thought: search\n<code>\nprint(search(query="x"))\n</code>', calls=()
            )

        stub.turn = turn
        agent = CodeAgent(
            tools=[_tool(search)], model=StopModel(_model(stub.url), POLICY), max_steps=12,
            verbosity_level=0,
        )  # fmt: skip
        assert agent.run(QUESTION) == ANSWER
    assert search.runs == 5


@pytest.mark.parametrize("mode", MODES)
def test_a_plain_agent_is_stopped_by_its_base_url_alone(mode):
    """Without an adapter, pointed at the gateway: five steps, then an answer, rogue or not."""
    search = Search()
    with StubServer(mode) as stub:
        gateway = Gateway(Settings(f"{stub.url}/v1", parse_policy(POLICY)))
        with served(gateway) as url:
            answer = ToolCallingAgent(
                tools=[_tool(search)], model=_model(url), max_steps=12, verbosity_level=0
            ).run(QUESTION)
    assert search.runs == (10 if mode == "parallel" else 5)
    assert answer == ANSWER or (mode == "rogue" and answer.strip())
