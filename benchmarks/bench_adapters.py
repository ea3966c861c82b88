"""What an adapter adds to a step of each framework's own loop, in processor time.

One agent runs twenty searches and answers: once as the framework does it, once with the adapter
and a rule that reads every result and never fires. The model is a stub in a process of its own, so
that the time is that of the framework and the adapter alone. Both take turns; the best round of
each counts.

Run: ``python benchmarks/bench_adapters.py [--python /path/to/venv/bin/python ...]``, once for every
environment that holds frameworks. Frameworks that are not installed are left out.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import logging
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
STEPS, ROUNDS = 20, 7
RULE = "streak(1000) | deadline(2000)"
QUESTION = "Which river flows through the capital of the country where Ruritania was set?"
Loop = Callable[[], Any]


def search(query: str) -> str:
    """Search the web.

    Args:
        query: what to look for.
    """
    return "No results found."


def langchain(url: str) -> tuple[Loop, Loop]:
    """LangChain's ``create_agent``."""
    from langchain.agents import create_agent
    from langchain_openai import ChatOpenAI

    from haltwise.adapters.langchain import StopMiddleware

    def loop(middleware: list[Any]) -> Loop:
        model = ChatOpenAI(model="stub", base_url=url, api_key="x")
        agent = create_agent(model, [search], middleware=middleware)
        ask = {"messages": [("user", QUESTION)]}
        return lambda: agent.invoke(ask, {"recursion_limit": 200})

    return loop([]), loop([StopMiddleware(RULE)])


def langgraph(url: str) -> tuple[Loop, Loop]:
    """LangGraph's ``create_react_agent``."""
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI
    from langgraph.prebuilt import create_react_agent

    from haltwise.adapters.langgraph import StopHooks

    model, tools = ChatOpenAI(model="stub", base_url=url, api_key="x"), [tool(search)]
    rule = StopHooks(RULE, model, tools)
    ours = create_react_agent(
        rule.model, tools, pre_model_hook=rule.before, post_model_hook=rule.after
    )
    plain = create_react_agent(model, tools)
    ask, limit = {"messages": [("user", QUESTION)]}, {"recursion_limit": 200}
    return lambda: plain.invoke(ask, limit), lambda: ours.invoke(ask, limit)


def openai_agents(url: str) -> tuple[Loop, Loop]:
    """The OpenAI Agents SDK on chat completions."""
    from agents import (
        Agent,
        OpenAIChatCompletionsModel,
        Runner,
        function_tool,
        set_tracing_disabled,
    )
    from openai import AsyncOpenAI

    from haltwise.adapters.openai_agents import StopModel

    set_tracing_disabled(True)

    def loop(wrap: Callable[[Any], Any]) -> Loop:
        async def run() -> None:
            model = OpenAIChatCompletionsModel("stub", AsyncOpenAI(base_url=url, api_key="x"))
            agent = Agent(name="agent", tools=[function_tool(search)], model=wrap(model))
            await Runner.run(agent, QUESTION, max_turns=100)

        return lambda: asyncio.run(run())

    return loop(lambda model: model), loop(lambda model: StopModel(model, RULE))


def pydantic_ai(url: str) -> tuple[Loop, Loop]:
    """Pydantic AI on chat completions."""
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    from haltwise.adapters.pydantic_ai import StopCapability

    def loop(capabilities: list[Any]) -> Loop:
        model = OpenAIChatModel("stub", provider=OpenAIProvider(base_url=url, api_key="x"))
        agent = Agent(model, tools=[search], capabilities=capabilities)
        return lambda: agent.run_sync(QUESTION)

    return loop([]), loop([StopCapability(RULE)])


def smolagents(url: str) -> tuple[Loop, Loop]:
    """The tool-calling agent of smolagents."""
    from smolagents import OpenAIServerModel, ToolCallingAgent, tool

    from haltwise.adapters.smolagents import StopModel

    def loop(wrap: Callable[[Any], Any]) -> Loop:
        model = wrap(OpenAIServerModel("stub", api_base=url, api_key="x"))
        agent = ToolCallingAgent([tool(search)], model=model, max_steps=100, verbosity_level=0)
        return lambda: agent.run(QUESTION)

    return loop(lambda model: model), loop(lambda model: StopModel(model, RULE))


def autogen(url: str) -> tuple[Loop, Loop]:
    """AutoGen's ``AssistantAgent``."""
    from autogen_agentchat.agents import AssistantAgent
    from autogen_ext.models.openai import OpenAIChatCompletionClient

    from haltwise.adapters.autogen import StopClient

    info = {
        "vision": False, "function_calling": True, "json_output": True, "family": "unknown",
        "structured_output": True,
    }  # fmt: skip

    async def look(query: str) -> str:
        """Search the web."""
        return search(query)

    look.__name__ = "search"

    def loop(wrap: Callable[[Any], Any]) -> Loop:
        async def run() -> None:
            client = OpenAIChatCompletionClient(
                model="stub", base_url=url, api_key="x", model_info=info
            )
            agent = AssistantAgent("agent", wrap(client), tools=[look], max_tool_iterations=100)
            await agent.run(task=QUESTION)

        return lambda: asyncio.run(run())

    return loop(lambda client: client), loop(lambda client: StopClient(client, RULE))


def inspect_ai(url: str) -> tuple[Loop, Loop]:
    """Inspect AI's ``generate_loop``."""
    from inspect_ai.model import get_model
    from inspect_ai.tool import ToolDef

    from haltwise.adapters.inspect_ai import StopModel

    async def look(query: str) -> str:
        return search(query)

    tool = ToolDef(look, "search", "Search the web.", {"query": "what to look for"}).as_tool()

    def loop(wrap: Callable[[Any], Any]) -> Loop:
        async def run() -> None:
            inner = get_model(
                "openai/stub", base_url=url, api_key="x", responses_api=False, memoize=False
            )
            async with wrap(inner) as model:
                await model.generate_loop(QUESTION, tools=[tool])

        return lambda: asyncio.run(run())

    return loop(lambda model: model), loop(lambda model: StopModel(model, RULE))


FRAMEWORKS = (langchain, langgraph, openai_agents, pydantic_ai, smolagents, autogen, inspect_ai)


def serve() -> None:
    """Serve the stub: it searches twenty times and answers. Runs in a process of its own."""
    from haltwise.testing.stub_models import ANSWER, StubServer

    with StubServer() as stub:
        plain = stub.turn

        def turn(dialect: str, body: dict[str, Any]) -> Any:
            results = sum(
                "No results found." in str(item.get("content")) for item in body["messages"]
            )
            found = plain(dialect, body)
            stub.requests.clear()
            if results < STEPS:
                return found._replace(number=results)
            if "final_answer" in str(body.get("tools")):
                return found._replace(calls=(("final_answer", {"answer": ANSWER}),))
            return found._replace(text=ANSWER, calls=())

        stub.turn = turn  # type: ignore[method-assign]
        print(stub.url, flush=True)
        sys.stdin.read()


def measured(bare: Loop, ours: Loop) -> tuple[float, float]:
    """Return milliseconds of processor time per step of both loops, the best round of each."""
    best = [float("inf"), float("inf")]
    for _ in range(ROUNDS):
        for which, loop in enumerate((bare, ours)):
            began = time.process_time()
            loop()
            best[which] = min(best[which], (time.process_time() - began) * 1000 / (STEPS + 1))
    return best[0], best[1]


def here() -> None:
    """Measure what is installed in this interpreter; one JSON line each."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    stub = subprocess.Popen(
        [sys.executable, __file__, "--stub"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip
    assert stub.stdout is not None
    url = stub.stdout.readline().strip() + "/v1"
    for framework in FRAMEWORKS:
        with contextlib.suppress(ImportError):
            bare, ours = measured(*framework(url))
            print(json.dumps([framework.__name__, bare, ours]), flush=True)
    stub.terminate()
    stub.wait()


def main() -> None:
    """Measure in every environment and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", nargs="*", default=[sys.executable], help="interpreters")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--stub", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.stub:
        serve()
    elif options.here:
        here()
    else:
        print(f"{'ms a step':16s} {'own loop':>9s} {'adapter':>9s} {'added':>7s} {'ratio':>6s}")
        for python in options.python:
            done = subprocess.run(
                [python, __file__, "--here"], stdout=subprocess.PIPE, text=True, check=True,
                env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            )  # fmt: skip
            for line in done.stdout.splitlines():
                if line.startswith("["):
                    name, bare, ours = json.loads(line)
                    print(
                        f"{name:16s} {bare:9.2f} {ours:9.2f} {ours - bare:7.2f} {ours / bare:6.2f}"
                    )


if __name__ == "__main__":
    main()
