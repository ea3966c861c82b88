"""OpenAI Agents under the rule: both model classes, streamed and not, sub-agents, handoffs."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("agents", reason="runs in an environment of its own: make test-adapters")

from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from agents.exceptions import MaxTurnsExceeded
from agents.models.interface import ModelProvider
from openai import AsyncOpenAI
from pydantic import BaseModel

from haltwise.adapters.openai_agents import StopModel, StopProvider
from haltwise.core.expression import parse_policy
from haltwise.gateway.server import Gateway
from haltwise.gateway.settings import Settings
from haltwise.signals import Stated
from haltwise.testing.adapters import POLICY, Search, check_adapter
from haltwise.testing.conversations import QUESTION
from haltwise.testing.gateways import served
from haltwise.testing.stub_models import ANSWER, MODES, StubServer

set_tracing_disabled(True)
KINDS = {"chat": OpenAIChatCompletionsModel, "responses": OpenAIResponsesModel}


def _model(url, kind="chat", **options):
    client = AsyncOpenAI(base_url=f"{url}/v1", api_key="x", max_retries=0)
    inner = KINDS[kind]("stub", client)
    return StopModel(inner, POLICY, **options) if options.pop("stop", True) else inner


def _agent(search, model, **options):
    def look(query: str) -> str:
        """Search the web."""
        return search(query)

    tool = function_tool(look, name_override="search")
    return Agent(name="agent", tools=[tool], model=model, **options)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_case_c_the_agent_is_stopped_in_every_mode(kind, stream, mode):
    """Case C: exactly five tool steps, then a non-empty answer, with a valid history."""

    async def run(url, question, search):
        agent = _agent(search, _model(url, kind))
        if not stream:
            return (await Runner.run(agent, question, max_turns=30)).final_output
        result = Runner.run_streamed(agent, question, max_turns=30)
        async for _ in result.stream_events():
            pass
        return result.final_output

    asyncio.run(check_adapter(run, modes=[mode]))


def test_without_the_rule_the_loop_never_ends():
    """The check can fail: the same agent without a rule runs into its limit."""
    with StubServer() as stub, pytest.raises(MaxTurnsExceeded):
        agent = _agent(Search(), _model(stub.url).inner)
        asyncio.run(Runner.run(agent, QUESTION, max_turns=12))


def test_case_b19_a_structured_answer_keeps_its_format():
    """Case B19: the forced answer is an object of the agent's output type."""

    class Answer(BaseModel):
        river: str

    async def run(url, question, search):
        agent = _agent(search, _model(url), output_type=Answer)
        return (await Runner.run(agent, question, max_turns=30)).final_output.river

    (found,) = asyncio.run(check_adapter(run, modes=["obedient"]))
    assert found.answer == ANSWER


def test_case_b22_sub_agents_under_one_provider_stop_their_parent():
    """Case B22: a provider puts parent and sub-agents under the rule; both stop at 5."""

    class Stub(ModelProvider):
        def __init__(self, url):
            self.url = url

        def get_model(self, name):
            return _model(self.url).inner

    async def main():
        leaf = Search()
        with StubServer() as stub:
            provider = StopProvider(POLICY, inner=Stub(stub.url), sub_agent=True)
            config = RunConfig(model_provider=provider)
            inner = _agent(leaf, "inner")
            tool = inner.as_tool("search", "Ask an agent.", max_turns=30, run_config=config)
            outer = Agent(name="outer", tools=[tool], model="outer")
            result = await Runner.run(outer, QUESTION, max_turns=30, run_config=config)
            return leaf.runs, result.final_output

    runs, answer = asyncio.run(main())
    assert runs == 25
    assert answer.startswith(ANSWER)


def test_handoffs_are_closed_at_the_stop():
    """A handoff is a tool, too: none is offered in the forced request."""

    async def main():
        with StubServer() as stub:
            model = _model(stub.url)
            other = Agent(name="other", model=model)
            agent = _agent(Search(), model, handoffs=[other])
            await Runner.run(agent, QUESTION, max_turns=30)
            return [bool(seen.body.get("tools")) for seen in stub.requests]

    assert asyncio.run(main()) == [True] * 5 + [False]


def test_the_note_enters_nobodys_history():
    """The note was in one request only."""

    async def main():
        with StubServer() as stub:
            result = await Runner.run(_agent(Search(), _model(stub.url)), QUESTION, max_turns=30)
            return str(result.to_input_list())

    assert "[haltwise]" not in asyncio.run(main())


def test_the_stated_signal_drops_the_call_that_came_with_the_verdict():
    """The fifth complaint arrives with a sixth call, which is not run."""

    async def main():
        search = Search()
        with StubServer(thought="That was not helpful.") as stub:
            agent = _agent(search, _model(stub.url, signal=Stated()))
            return (await Runner.run(agent, QUESTION, max_turns=30)).final_output, search.runs

    assert asyncio.run(main()) == (ANSWER, 5)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_plain_agent_is_stopped_by_its_base_url_alone(kind, mode):
    """Without an adapter, pointed at the gateway: five steps, then an answer, rogue or not."""
    search = Search()
    with StubServer(mode) as stub:
        gateway = Gateway(Settings(f"{stub.url}/v1", parse_policy(POLICY)))
        with served(gateway) as url:
            answer = asyncio.run(
                Runner.run(_agent(search, _model(url, kind).inner), QUESTION, max_turns=30)
            ).final_output
    assert search.runs == (10 if mode == "parallel" else 5)
    assert answer == ANSWER or (mode == "rogue" and answer.strip())
