"""AutoGen agents under the rule: whole and streamed replies, and the termination condition."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip(
    "autogen_agentchat", reason="runs in an environment of its own: make test-adapters"
)

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.base import TerminatedException
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_ext.models.openai import OpenAIChatCompletionClient

from haltwise.adapters.autogen import StopClient, StopTermination
from haltwise.testing.adapters import POLICY, Search, check_adapter
from haltwise.testing.conversations import QUESTION
from haltwise.testing.stub_models import MODES, StubServer

INFO = {
    "vision": False,
    "function_calling": True,
    "json_output": True,
    "family": "unknown",
    "structured_output": True,
}


def _client(url):
    return OpenAIChatCompletionClient(
        model="stub", base_url=f"{url}/v1", api_key="x", model_info=INFO, max_retries=0
    )


def _agent(client, search, **options):
    async def look(query: str) -> str:
        """Search the web."""
        return search(query)

    look.__name__ = "search"
    return AssistantAgent("agent", client, tools=[look], reflect_on_tool_use=False, **options)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_case_c_the_agent_is_stopped_in_every_mode(stream, mode):
    """Case C: exactly five tool steps, then a non-empty answer, with a valid history."""

    async def run(url, question, search):
        client = StopClient(_client(url), POLICY)
        agent = _agent(client, search, max_tool_iterations=30, model_client_stream=stream)
        return (await agent.run(task=question)).messages[-1].content

    asyncio.run(check_adapter(run, modes=[mode]))


def test_without_the_rule_the_loop_runs_to_its_limit():
    """The check can fail: without a rule all twelve iterations are searches."""
    search = Search()
    with StubServer() as stub:
        asyncio.run(_agent(_client(stub.url), search, max_tool_iterations=12).run(task=QUESTION))
    assert search.runs == 12


def test_case_b25_the_condition_ends_a_team_and_is_reset_for_the_next_run():
    """Case B25: it fires at the fifth useless turn, raises when asked again, and starts anew."""

    async def main():
        search = Search()
        with StubServer() as stub:
            rule = StopTermination(POLICY)
            agent = _agent(_client(stub.url), search)
            team = RoundRobinGroupChat([agent], termination_condition=rule)
            reasons = []
            for _ in range(2):
                reasons.append((await team.run(task=QUESTION)).stop_reason)
                await team.reset()
            return search.runs, reasons

    runs, reasons = asyncio.run(main())
    assert runs == 10
    assert reasons == ["5 useless results in a row (threshold 5)"] * 2


def test_a_condition_that_has_fired_says_so():
    """AutoGen's own exception, not a silent second verdict."""

    async def main():
        rule = StopTermination(POLICY)
        rule._stopped = True
        with pytest.raises(TerminatedException):
            await rule([])

    asyncio.run(main())
