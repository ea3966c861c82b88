"""The example of every adapter's page runs as it stands, on a stub that would search for ever.

A page runs where its framework is installed: the others in the environments of
`make test-adapters`. The examples name real models; the clients of all of them take the stub's
address from the environment.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from haltwise.testing.conversations import USELESS
from haltwise.testing.stub_models import ANSWER, StubServer

PAGES = Path(__file__).resolve().parents[2] / "docs" / "adapters"
FRAMEWORKS = {
    "autogen": ["autogen_agentchat", "autogen_ext"],
    "dspy": ["dspy"],
    "inspect-ai": ["inspect_ai", "openai"],
    "langchain": ["langchain", "langchain_openai"],
    "langgraph": ["langgraph.prebuilt", "langchain_openai"],
    "openai-agents": ["agents"],
    "pydantic-ai": ["pydantic_ai"],
    "smolagents": ["smolagents"],
}
BLOCK = re.compile(
    r"^(?P<skip><!-- not run: [^>]+ -->\n+)?```python\n(?P<code>.*?)^```$", re.M | re.S
)


def _code(page):
    text = (PAGES / f"{page}.md").read_text("utf-8")
    return "\n\n".join(m["code"] for m in BLOCK.finditer(text) if m["skip"] is None)


def _in_dspys_format(turn, dialect, body):
    """DSPy calls no tools: it asks for marked fields, of which the stub fills each."""
    names = re.findall(r"`\[\[ ## (\w+) ## \]\]`", body["messages"][-1]["content"])
    values = {"next_tool_name": "search", "next_tool_args": '{"query": "x"}', "advice": "{}"}
    fields = [f"[[ ## {name} ## ]]\n{values.get(name, ANSWER)}" for name in names]
    return turn(dialect, body)._replace(text="\n\n".join(fields), calls=())


@pytest.mark.parametrize("page", sorted(FRAMEWORKS))
def test_the_example_of_a_page_is_stopped_and_answers(page, tmp_path):
    """Run in a process of its own: it ends by itself, by the rule, and prints an answer."""
    for name in FRAMEWORKS[page]:
        with contextlib.suppress(ModuleNotFoundError):
            pytest.importorskip(name, reason="runs in an environment of its own")
            continue
        pytest.skip(f"{name} is not installed")
    (tmp_path / "example.py").write_text(_code(page))
    with StubServer() as stub:
        if page == "dspy":
            stub.turn = partial(_in_dspys_format, stub.turn)
        environment = {
            **os.environ,
            "OPENAI_API_KEY": "x",
            "OPENAI_BASE_URL": f"{stub.url}/v1",
            "OPENAI_API_BASE": f"{stub.url}/v1",
            "DSPY_CACHEDIR": str(tmp_path),
            "INSPECT_DISPLAY": "none",
            "OPENAI_AGENTS_DISABLE_TRACING": "1",
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        done = subprocess.run(
            [sys.executable, "example.py"],
            cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert stub.complaints == []
    results = [str(seen.body).count(USELESS) for seen in stub.requests]
    assert max(results) == 5, "the rule of the page fires at five results"


def test_every_page_is_run_somewhere():
    """A page without a framework here, or a page without an example, would go untested.

    LiteLLM's example is a file of its proxy, which `test_litellm` starts.
    """
    assert {path.stem for path in PAGES.glob("*.md")} == {*FRAMEWORKS, "litellm"}
    assert all(_code(page) for page in FRAMEWORKS)
