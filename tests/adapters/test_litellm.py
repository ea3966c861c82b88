"""The LiteLLM proxy under the rule: a real proxy process with the hook in front of the stubs."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
import urllib.request
from contextlib import ExitStack
from pathlib import Path

import pytest

pytest.importorskip("litellm", reason="runs in an environment of its own: make test-adapters")

from haltwise.testing.adapters import Search
from haltwise.testing.agents import run_agent
from haltwise.testing.conversations import QUESTION
from haltwise.testing.stub_models import MODES, StubServer

ROOT = Path(__file__).resolve().parents[2]
PORT = 18_765


@pytest.fixture(scope="module")
def proxy(tmp_path_factory):
    """Stubs of every mode behind one proxy, each as a model of its mode's name."""
    folder = tmp_path_factory.mktemp("proxy")
    with ExitStack() as stack:
        stubs = {mode: stack.enter_context(StubServer(mode)) for mode in MODES}
        models = "".join(
            f"  - model_name: {mode}\n    litellm_params: {{model: openai/stub, "
            f'api_base: "{stub.url}/v1", api_key: x}}\n'
            for mode, stub in stubs.items()
        )
        page = (ROOT / "docs" / "adapters" / "litellm.md").read_text("utf-8")
        hook = page.partition("```python\n")[2].partition("```")[0]
        (folder / "stop_hook.py").write_text(hook)
        (folder / "config.yaml").write_text(
            f"model_list:\n{models}litellm_settings:\n  callbacks: stop_hook.handler\n"
        )
        process = subprocess.Popen(
            [
                str(Path(sys.executable).parent / "litellm"), "--config", "config.yaml",
                "--host", "127.0.0.1", "--port", str(PORT), "--num_workers", "1",
            ],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={
                **os.environ,
                "PYTHONPATH": f"{folder}:{ROOT / 'src'}",
                "LITELLM_LOCAL_MODEL_COST_MAP": "True",
                "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",
            },
        )  # fmt: skip
        stack.callback(process.wait)
        stack.callback(process.terminate)
        for _ in range(240):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{PORT}/health/liveliness", timeout=1)
                break
            except OSError:
                assert process.poll() is None, "the proxy did not start"
                time.sleep(0.5)
        yield stubs


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_case_c_an_agent_behind_the_proxy_is_stopped_in_every_mode(proxy, stream, mode):
    """Case C: exactly five tool steps, then a non-empty answer, with a valid history."""
    search = Search()
    stub = proxy[mode]
    stub.complaints.clear()
    answer = asyncio.run(
        run_agent(
            f"http://127.0.0.1:{PORT}", f"{QUESTION} ({stream})", search, dialect="chat",
            stream=stream, model=mode,
        )
    )  # fmt: skip
    assert search.runs == (10 if mode == "parallel" else 5)
    assert answer.strip()
    assert stub.complaints == []
