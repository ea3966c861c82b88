"""Stop a LangChain agent: one line in ``create_agent``.

    pip install 'haltwise[langchain]'
    python examples/langchain_agent.py

`Restless` stands in for a model, so that this runs without a key: it searches as long as it has a
tool. With a model of yours, ``create_agent("openai:gpt-5-mini", [search], middleware=[...])``.
"""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from haltwise.adapters.langchain import StopMiddleware


def search(query: str) -> str:
    """Search the web."""
    print(f"searching: {query}")
    return "No results found."


class Restless(GenericFakeChatModel):
    """Calls a tool as long as it is offered one."""

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        """Keep the tools for the next request."""
        return self.bind(tools=tools)

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        number = len(messages)
        call = {"name": "search", "args": {"query": f"attempt {number}"}, "id": f"call{number}"}
        reply = AIMessage("", tool_calls=[call]) if kwargs.get("tools") else AIMessage("Not found.")
        self.messages = iter([reply])
        return super()._generate(messages, *args, **kwargs)


if __name__ == "__main__":
    rule = StopMiddleware("streak(5) | deadline(8)")
    agent = create_agent(Restless(messages=iter([])), [search], middleware=[rule])
    state = agent.invoke({"messages": [("user", "Which river flows through Strelsau?")]})
    last = state["messages"][-1]
    print(f"answer: {last.text}")
    print(f"stopped: {last.response_metadata['haltwise']['reason']}")
