"""Inspect AI under the rule: the wrapped model in its own loops, the bridge filter, the hook."""

from __future__ import annotations

import asyncio
from tempfile import TemporaryDirectory

import pytest

pytest.importorskip("inspect_ai", reason="needs the extra study")
pytest.importorskip("openai", reason="needs the client of the stub's API")

from inspect_ai import Task, eval_async
from inspect_ai.agent import agent, agent_bridge, react
from inspect_ai.dataset import Sample
from inspect_ai.hooks import BeforeModelGenerate
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
    get_model,
)
from inspect_ai.solver import basic_agent
from inspect_ai.tool import ToolCall, ToolInfo, tool
from openai import AsyncOpenAI

from haltwise.adapters.inspect_ai import StopHook, StopModel, read_messages, stop_filter
from haltwise.signals import Stated
from haltwise.testing.adapters import POLICY, Search, check_adapter
from haltwise.testing.conversations import QUESTION, USELESS
from haltwise.testing.conversations import tool as definition
from haltwise.testing.stub_models import ANSWER, MODES, StubServer

pytestmark = pytest.mark.filterwarnings("ignore")


LOGS = TemporaryDirectory()


def _model(url):
    return get_model(
        "openai/stub", base_url=f"{url}/v1", api_key="x", responses_api=False, memoize=False,
        config=GenerateConfig(max_retries=0),
    )  # fmt: skip


def _tool(search):
    @tool(name="search")
    def look():
        async def execute(query: str) -> str:
            """Search the web.

            Args:
                query: what to look for.
            """
            return search(query)

        return execute

    return look()


async def _loop(url, question, search, **options):
    async with StopModel(_model(url), POLICY, **options) as model:
        _, output = await model.generate_loop(question, tools=[_tool(search)])
    return output.completion


async def _eval(solver, model, **options):
    task = Task(dataset=[Sample(input=QUESTION)], solver=solver, **options)
    async with model:
        (log,) = await eval_async(
            task, model=model, log_dir=LOGS.name, log_format="json", log_level="error"
        )
    assert log.status == "success", log.error
    return log.samples[0]


async def _react(url, question, search):
    model = StopModel(_model(url), POLICY)
    return (await _eval(react(tools=[_tool(search)]), model)).output.completion


async def _basic(url, question, search):
    model = StopModel(_model(url), POLICY)
    return (await _eval(basic_agent(tools=[_tool(search)]), model)).output.completion


@agent
def _openai_agent(search):
    """An agent with a loop of its own, as it would be written against OpenAI."""

    async def execute(state):
        messages = [{"role": "user", "content": QUESTION}]
        async with agent_bridge(state, filter=stop_filter(POLICY)) as bridge:
            client = AsyncOpenAI(api_key="x")
            for _ in range(30):
                reply = await client.chat.completions.create(
                    model="inspect", messages=messages, tools=[definition("chat", "search")]
                )
                message = reply.choices[0].message
                messages.append(message.model_dump(exclude_none=True))
                if not message.tool_calls:
                    return bridge.state
                for call in message.tool_calls:
                    found = search(call.function.arguments)
                    messages.append({"role": "tool", "tool_call_id": call.id, "content": found})
        raise AssertionError("the loop did not end")

    return execute


async def _bridged(url, question, search):
    return (await _eval(_openai_agent(search), _model(url))).output.completion


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("run", [_loop, _react, _basic, _bridged])
def test_case_c_the_agent_is_stopped_in_every_mode(run, mode):
    """Case C: exactly five tool steps, then a non-empty answer, with a valid history."""
    asyncio.run(check_adapter(run, modes=[mode]))


def test_without_the_rule_the_loop_runs_to_its_limit():
    """The check can fail: an agent under a limit of 20 messages spends all of them."""
    search = Search()
    with StubServer() as stub:
        asyncio.run(_eval(react(tools=[_tool(search)]), _model(stub.url), message_limit=20))
    assert search.runs > 5


@pytest.mark.parametrize("mode", MODES)
def test_case_b19_the_answer_of_react_comes_as_its_submit_call(mode):
    """Case B19: the tool that delivers the answer stays; a text answer is put into its call."""

    async def run():
        with StubServer(mode) as stub:
            model = StopModel(_model(stub.url), POLICY)
            return await _eval(react(tools=[_tool(Search())]), model)

    sample = asyncio.run(run())
    assert [m.role for m in sample.messages].count("user") == 1, "react had to ask again"
    assert sample.output.completion.strip()


def test_the_note_enters_nobodys_history_and_the_decision_is_there():
    """The messages of the sample hold no note; the reply's metadata hold the decision."""

    async def run():
        with StubServer() as stub:
            async with StopModel(_model(stub.url), POLICY) as model:
                return await model.generate_loop(QUESTION, tools=[_tool(Search())])

    messages, output = asyncio.run(run())
    assert not any("[haltwise]" in message.text for message in messages)
    assert output.metadata["haltwise"]["action"] == "answer"


def test_the_stated_signal_drops_the_call_that_came_with_the_verdict():
    """The fifth complaint arrives with a sixth call, which is not run."""
    search = Search()
    with StubServer(thought="That was not helpful. I will try again.") as stub:
        assert asyncio.run(_loop(stub.url, QUESTION, search, signal=Stated())) == ANSWER
    assert search.runs == 5


def test_case_b22_a_sub_agents_forced_answer_is_marked():
    """Case B22: a parent under the rule recognises it as useless."""
    with StubServer() as stub:
        answer = asyncio.run(_loop(stub.url, QUESTION, Search(), sub_agent=True))
    assert answer.startswith(ANSWER)
    assert "[haltwise] This answer was forced" in answer


def _history(n):
    messages = [ChatMessageUser(content=QUESTION)]
    for t in range(n):
        call = ToolCall(id=f"c{t}", function="search", arguments={"query": str(t)})
        messages.append(ChatMessageAssistant(content="", tool_calls=[call]))
        messages.append(ChatMessageTool(content=USELESS, tool_call_id=f"c{t}", function="search"))
    return messages


class _Stop(StopHook):
    policy = POLICY


@pytest.mark.parametrize("n", [4, 5])
def test_the_hook_changes_the_request_of_a_stopped_loop_once(n):
    """After five: no tool but the one that answers, text for calls, one note, on a retry too."""
    tools = [ToolInfo(name=name, description="x") for name in ("search", "submit")]
    data = BeforeModelGenerate("stub", _history(n), tools, "auto", GenerateConfig(), None)
    before = list(data.input)
    for _ in range(2):
        asyncio.run(_Stop().on_before_model_generate(data))
    if n == 4:
        assert (data.input, len(data.tools)) == (before, 2)
        return
    assert [tool.name for tool in data.tools] == ["submit"]
    assert not any(message.role == "tool" for message in data.input)
    assert sum("[haltwise]" in message.text for message in data.input) == 1


def test_the_prompt_to_go_on_is_no_turn_of_a_user():
    """A model that falls silent is told to go on by react: the run of useless results goes on."""
    prompt = "\nPlease proceed to the next step using your best judgement.\n"
    silent = [ChatMessageAssistant(content="Hm."), ChatMessageUser(content=prompt)]
    rule = StopModel(get_model("mockllm/model"), POLICY).rule
    assert rule.assess(read_messages([*_history(5), *silent])).run == 5
    assert rule.assess(read_messages([*_history(5), ChatMessageUser(content="And?")])).run == 0
