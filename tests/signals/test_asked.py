"""A model is asked about each recorded result once, within a budget, and failures are counted."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from haltwise.core.errors import HaltwiseError, InputError
from haltwise.core.events import Verdict
from haltwise.judges.chat_server import ServerError, chat_server
from haltwise.signals import Asked, SignalStep


def step(result: str, question: str = "Which river?") -> SignalStep:
    """Return a step with one result."""
    return SignalStep(question, (result,))


class Model:
    """Says yes to what names a river, and breaks where it is told."""

    def __init__(self) -> None:
        self.questions: list[str] = []
        self.broken = False

    def __call__(self, question: str) -> str:
        """Return the reply."""
        self.questions.append(question)
        if self.broken:
            raise HaltwiseError("connection refused")
        return "Yes." if "Danube" in question else "no"


def test_a_result_is_asked_about_once(tmp_path: Path) -> None:
    """By content: in the same run, and in the next one from the file; half a line is no verdict."""
    model, memory = Model(), tmp_path / "deep" / "verdicts.jsonl"
    first = Asked(model, "m", memory=memory)
    assert first.judge(step("The Danube.")) is first.judge(step("The Danube.")) is Verdict.USEFUL
    assert first.judge(step("A stock.")) is Verdict.USELESS
    assert (first.asked, len(model.questions)) == (2, 2)
    with memory.open("a") as file:
        file.write('{"key": "ab", "ver')
    second = Asked(model, "m", memory=memory)
    assert second.judge(step("The Danube.")) is Verdict.USEFUL
    assert (second.asked, len(model.questions)) == (0, 2)
    assert "Which river?" in model.questions[0] and "The Danube." in model.questions[0]


def test_the_budget_is_kept_and_what_it_left_out_is_counted() -> None:
    """Beyond it results stay unjudged; empty ones cost nothing."""
    signal = Asked(Model(), "m", budget=1)
    assert signal.judge(step("")) is Verdict.USELESS
    assert signal.judge(step("a")) is Verdict.USELESS
    assert signal.judge(step("b")) is Verdict.UNJUDGED
    assert signal.judge(step("b", question=" ")) is Verdict.UNJUDGED
    assert (signal.asked, signal.left) == (1, 1)


def test_a_failure_is_unjudged_and_a_dead_model_is_left_alone() -> None:
    """Three failures in a row end the asking; each is counted, and nothing is remembered."""
    model = Model()
    model.broken = True
    signal = Asked(model, "m")
    assert [signal.judge(step(str(n))) for n in range(5)] == [Verdict.UNJUDGED] * 5
    assert (signal.asked, signal.failed, signal.left) == (3, 3, 2)
    assert signal.why == "connection refused"


def test_a_memory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """A folder where the file should be is one sentence."""
    with pytest.raises(InputError, match="verdicts are kept there"):
        Asked(Model(), "m", memory=tmp_path)


@pytest.fixture
def server() -> Iterator[tuple[str, list[tuple[str, str | None, bytes]]]]:
    """Serve one reply for each kind of question; return the address and what was sent."""
    seen: list[tuple[str, str | None, bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            seen.append((self.path, self.headers["Authorization"], body))
            bad = b"broken" in body
            reply = b"{}" if b"empty" in body else b'{"choices":[{"message":{"content":"yes"}}]}'
            self.send_response(500 if bad else 200)
            self.end_headers()
            self.wfile.write(b"out of order" if bad else reply)

        def log_message(self, *_: object) -> None: ...

    served = HTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=served.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{served.server_port}/v1", seen
    served.shutdown()
    served.server_close()
    thread.join()


def test_a_server_is_asked_in_chat_completions(
    server: tuple[str, list[tuple[str, str | None, bytes]]],
) -> None:
    """The reply's text comes back; an error or a strange reply says where and what."""
    url, seen = server
    ask = chat_server(f"{url}/", "m", key="k")
    assert ask("Is it?") == "yes"
    assert seen[0][:2] == ("/v1/chat/completions", "Bearer k")
    assert b'"model": "m"' in seen[0][2] and b"Is it?" in seen[0][2]
    with pytest.raises(ServerError, match="answered 500: out of order"):
        ask("broken")
    with pytest.raises(ServerError, match="chat/completions"):
        ask("empty")
    with pytest.raises(ServerError, match="chat/completions"):
        chat_server("http://127.0.0.1:9/v1", "m", timeout=5)("x")
