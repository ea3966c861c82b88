"""Pydantic AI agents under the rule: run, streamed, with a structured answer."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("pydantic_ai", reason="runs in an environment of its own: make test-adapters")

from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.exceptions import UsageLimitExceeded
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.usage import UsageLimits

from haltwise.adapters.pydantic_ai import StopCapability
from haltwise.signals import Stated
from haltwise.testing.adapters import POLICY, Search, check_adapter
from haltwise.testing.conversations import QUESTION
from haltwise.testing.stub_models import ANSWER, MODES, StubServer


def _agent(url, search, capabilities=None, **options):
    def look(query: str) -> str:
        """Search the web."""
        return search(query)

    look.__name__ = "search"
    model = OpenAIChatModel("stub", provider=OpenAIProvider(base_url=f"{url}/v1", api_key="x"))
    capabilities = [StopCapability(POLICY)] if capabilities is None else capabilities
    return Agent(model, tools=[look], capabilities=capabilities, **options)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_case_c_the_agent_is_stopped_in_every_mode(stream, mode):
    """Case C: exactly five tool steps, then a non-empty answer, with a valid history."""

    async def run(url, question, search):
        if not stream:
            return (await _agent(url, search).run(question)).output
        async with _agent(url, search).run_stream(question) as result:
            return await result.get_output()

    asyncio.run(check_adapter(run, modes=[mode]))


def test_without_the_rule_the_loop_never_ends():
    """The check can fail: the same agent without a rule runs into its limit."""
    with StubServer() as stub, pytest.raises(UsageLimitExceeded):
        limits = UsageLimits(request_limit=12)
        asyncio.run(_agent(stub.url, Search(), []).run(QUESTION, usage_limits=limits))


def test_case_b19_a_structured_answer_keeps_its_format():
    """Case B19: the output tool stays, and the answer is an object of the output type."""

    class Answer(BaseModel):
        river: str

    async def run(url, question, search):
        return (await _agent(url, search, output_type=Answer).run(question)).output.river

    (found,) = asyncio.run(check_adapter(run, modes=["obedient"]))
    assert found.answer == ANSWER


def test_the_note_enters_nobodys_history():
    """The note was in one request only."""
    with StubServer() as stub:
        result = asyncio.run(_agent(stub.url, Search()).run(QUESTION))
    assert "[haltwise]" not in str(result.all_messages())


def test_the_stated_signal_drops_the_call_that_came_with_the_verdict():
    """The fifth complaint arrives with a sixth call, which is not run."""
    search = Search()
    with StubServer(thought="That was not helpful.") as stub:
        agent = _agent(stub.url, search, [StopCapability(POLICY, signal=Stated())])
        asyncio.run(agent.run(QUESTION))
    assert search.runs == 5
