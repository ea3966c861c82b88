"""Environments of their own for the adapters, whose frameworks do not resolve together.

``nox -s adapter-langchain`` tests one of them, ``make test-adapters`` all of them.
"""

from __future__ import annotations

import nox

nox.options.default_venv_backend = "venv"
KIT = ["aiohttp", "httptools", "prometheus-client", "pytest", "hypothesis"]
"""What the conformance tests themselves need."""
ADAPTERS = {
    "autogen": ["autogen-agentchat==0.7.5", "autogen-ext[openai]==0.7.5"],
    "dspy": ["dspy==3.4.1"],
    "inspect_ai": ["inspect-ai==0.3.285", "openai==3.57.0"],
    "langchain": ["langchain==1.5.2", "langchain-openai==1.7.4"],
    "langgraph": ["langchain==1.5.2", "langchain-openai==1.7.4"],
    "litellm": ["litellm[proxy]==1.108.7"],
    "openai_agents": ["openai-agents==0.24.0"],
    "pydantic_ai": ["pydantic-ai-slim[openai]==2.62.0"],
    "smolagents": ["smolagents[openai]==1.26.0"],
}
"""Versions that each adapter is tested with."""


def _session(name: str) -> None:
    @nox.session(name=f"adapter-{name}")
    def adapter(session: nox.Session) -> None:
        session.install(".", *KIT, *ADAPTERS[name])
        session.run(
            "pytest", "-q", "--import-mode=importlib", "-W", "ignore", "-o", "addopts=",
            f"tests/adapters/test_{name}.py", "tests/adapters/test_pages.py",
        )  # fmt: skip


for _name in ADAPTERS:
    _session(_name)
