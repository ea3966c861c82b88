"""``haltwise serve`` as a process: start-up, refusals, shutdown."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from haltwise.cli.main import run
from haltwise.testing.conversations import USELESS, conversation
from haltwise.testing.stub_models import StubServer

ROOT = Path(__file__).resolve().parents[2]


def _start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "haltwise", "serve", "--port", "0", "--json", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )


def test_serve_prints_one_start_up_object_serves_and_stops_on_sigterm(tmp_path):
    """The object holds url and policy; the gateway decides, logs, and exits with 0."""
    with StubServer() as stub:
        process = _start(
            "--upstream", f"{stub.url}/v1", "--policy", "streak(3) | deadline(8)",
            "--log", str(tmp_path), "--verbose",
        )  # fmt: skip
        try:
            assert process.stdout is not None
            start = json.loads(process.stdout.readline())
            assert start == {"url": start["url"], "policy": "streak(3) | deadline(8)"}
            request = urllib.request.Request(
                start["url"] + "/v1/chat/completions",
                data=json.dumps(conversation("chat", [USELESS] * 3)).encode(),
                headers={"content-type": "application/json"},
            )
            with urllib.request.urlopen(request) as response:
                assert response.headers["x-haltwise-action"] == "answer"
        finally:
            process.send_signal(signal.SIGTERM)
            out, err = process.communicate(timeout=20)
    assert process.returncode == 0
    assert out == ""
    assert "chat answer 200" in err
    assert "Traceback" not in err
    assert len(list(tmp_path.glob("gateway-*.jsonl"))) == 1


def test_serve_names_a_policy_file_and_not_its_table(tmp_path):
    """The start-up object of a fitted rule holds the name of the file that was typed."""
    table = tmp_path / "recovery.toml"
    table.write_text(
        'schema = "haltwise.policy/1"\nkind = "search"\npolicy = "recovery"\n[recovery]\n'
        "budget = 4\nhazard = [[0.5, 0.1], [0.5, 0.1]]\nanswer_now = [0.2, 0.5]\n"
        "useful_value = [0.6, 0.7]\n"
    )
    process = _start("--upstream", "http://127.0.0.1:9", "--policy", str(table))
    try:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["policy"] == "recovery.toml"
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--upstream", "http://h", "--policy", "streek(5)"], "there is no rule 'streek'"),
        (["--upstream", "http://h", "--policy", "streak(0)"], "k is a whole number of at least 1"),
        (["--upstream", "nowhere", "--policy", "streak(5)"], "upstream is a URL such as"),
        (["--upstream", "http://h", "--policy", "missing.toml"], "missing.toml: there is no such"),
        (
            ["--upstream", "http://h", "--policy", "never", "--host", "0.0.0.0"],
            "add --allow-remote if that is meant",
        ),
        (["--upstream", "http://h", "--policy", "never", "--log-content"], "add --log DIR"),
        (
            ["--upstream", "http://h", "--policy", "never", "--log", "/dev/null/x"],
            "cannot be written to",
        ),
        (
            ["--upstream", "http://h", "--policy", "never", "--host", "127.0.0.1", "--port", "1x"],
            "1x",
        ),
        (["--policy", "never"], "--upstream"),
    ],
)
def test_bad_usage_is_one_sentence_and_exit_code_2(arguments, sentence, capsys):
    """Each refusal names what came and what to type."""
    assert run(["serve", *arguments]) == 2
    assert sentence in capsys.readouterr().err


def test_a_taken_port_is_exit_code_2(capsys):
    """The sentence names the port and the option."""
    with StubServer() as stub:
        arguments = ["--upstream", "http://h", "--policy", "never", "--port", str(stub.port)]
        assert run(["serve", *arguments]) == 2
    assert f"cannot listen on 127.0.0.1:{stub.port}" in capsys.readouterr().err
