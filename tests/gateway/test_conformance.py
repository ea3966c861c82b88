"""Every route, streamed and not, in every mode: five steps, an answer, and nothing afterwards."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from functools import partial

import pytest

from haltwise.core.expression import parse_policy
from haltwise.gateway.server import Gateway
from haltwise.gateway.settings import Settings
from haltwise.signals import SideChannel, Stated
from haltwise.testing.adapters import POLICY, Search, check_adapter
from haltwise.testing.agents import run_agent
from haltwise.testing.conversations import QUESTION
from haltwise.testing.stub_models import ANSWER, MODES, StubServer

DIALECTS = ("chat", "responses", "anthropic")


def _through(**options):
    @asynccontextmanager
    async def gateway(upstream):
        settings = Settings(upstream, parse_policy(POLICY), **options)
        async with Gateway(settings).listening() as url:
            yield url

    return gateway


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("mode", MODES)
def test_case_c_every_route_passes_every_mode(mode, dialect, stream):
    """Case C: exactly five tool steps, then a non-empty answer, with a valid history."""
    run = partial(run_agent, dialect=dialect, stream=stream)
    (found,) = asyncio.run(check_adapter(run, modes=[mode], through=_through()))
    if mode != "rogue":
        assert found.answer == ANSWER


@pytest.mark.parametrize("dialect", DIALECTS)
def test_without_the_gateway_the_loop_never_ends(dialect):
    """The check can fail: the same agent on the bare stub searches for ever."""
    with StubServer() as stub, pytest.raises(RuntimeError, match="did not end"):
        asyncio.run(run_agent(stub.url, QUESTION, Search(), dialect=dialect))


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_stated_signal_drops_the_call_that_came_with_the_verdict(dialect, stream):
    """The fifth complaint arrives with a sixth call: that call is never seen by the agent."""

    async def main():
        with StubServer(thought="That was not helpful. I will try again.") as stub:
            search = Search()
            async with _through(signal=Stated())(stub.url) as url:
                answer = await run_agent(url, QUESTION, search, dialect=dialect, stream=stream)
            return search.runs, answer, len(stub.requests)

    assert asyncio.run(main()) == (5, ANSWER, 7)


def test_the_stated_signal_lets_a_content_agent_search_on():
    """Without complaints nothing is held back for good and nothing stops."""

    async def main():
        with StubServer(thought="I found the next page.") as stub:
            async with _through(signal=Stated())(stub.url) as url:
                await run_agent(url, QUESTION, Search(), dialect="chat", stream=True)

    with pytest.raises(RuntimeError, match="did not end"):
        asyncio.run(main())


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_side_channel_asks_once_about_each_result(dialect):
    """Five results, five questions on copies; the agent's own history never holds one."""

    async def main():
        with StubServer() as stub:
            search = Search()
            async with _through(signal=SideChannel())(stub.url) as url:
                answer = await run_agent(url, QUESTION, search, dialect=dialect)
            asked = [seen for seen in stub.requests if "yes or no" in str(seen.body)]
            return search.runs, answer, len(asked), len(stub.requests), stub.complaints

    assert asyncio.run(main()) == (5, ANSWER, 5, 11, [])


@pytest.mark.parametrize("marked", [False, True], ids=["remembered", "marked"])
def test_case_b22_forced_sub_agents_stop_their_parent(marked):
    """Case B22: each sub-agent stops at 5; their forced answers stop the parent at 5, too."""

    async def main():
        with StubServer() as stub:
            leaf, answers = Search(), []
            async with _through(mark_forced=marked)(stub.url) as url:

                async def sub_agent(query):
                    question = f"{QUESTION} ({query})"
                    answers.append(await run_agent(url, question, leaf, dialect="anthropic"))
                    return answers[-1]

                await run_agent(url, QUESTION, sub_agent, dialect="chat")
            return len(answers), leaf.runs, "[haltwise]" in answers[0]

    assert asyncio.run(main()) == (5, 25, marked)
