"""No key, header or body in any log, at any level, whatever goes wrong."""

from __future__ import annotations

import asyncio
import json
import logging

import aiohttp
import pytest

from gateway.serving import with_stub
from haltwise.signals import Lexical, SideChannel
from haltwise.testing.agents import PATHS
from haltwise.testing.conversations import USELESS, conversation
from haltwise.testing.stub_models import MODES, StubServer

KEY = "sk-SECRETKEY-1234567890"
SECRET = "SECRETTEXT"
HEADERS = {"authorization": f"Bearer {KEY}", "x-api-key": KEY, "x-private": SECRET}


@pytest.fixture
def everything(caplog):
    """Every record of every logger, down to the lowest level, as text."""
    caplog.set_level(1)
    for name in list(logging.root.manager.loggerDict):
        logging.getLogger(name).setLevel(1)
        logging.getLogger(name).disabled = name == "haltwise.testing.stub_models"

    def text():
        formatter = logging.Formatter("%(name)s %(levelname)s %(message)s %(pathname)s")
        return "\n".join(formatter.format(record) for record in caplog.records)

    return text


@pytest.mark.parametrize("mode", MODES)
def test_requests_of_every_kind_leave_no_trace(everything, capfd, mode, tmp_path):
    """Served, forced, refused, malformed: keys reach the upstream and no log."""

    async def main(client, stub):
        for dialect, path in PATHS.items():
            for n in (1, 5):
                for stream in (False, True):
                    body = conversation(
                        dialect, [f"{SECRET} {USELESS}"] * n, question=SECRET, stream=stream
                    )
                    await client.post(f"{path}?key={KEY}", body, headers=HEADERS)
        await client.post(PATHS["chat"], data=f'{{"{SECRET}'.encode(), headers=HEADERS)
        await client.post(PATHS["chat"], {"messages": [SECRET]}, headers=HEADERS)
        await client.post(f"/v1/other?key={KEY}", {"text": SECRET}, headers=HEADERS)
        stub.fault = _raise
        await client.post(PATHS["chat"], conversation("chat", question=SECRET), headers=HEADERS)
        return [seen.headers.get("authorization") for seen in stub.requests]

    async def _raise(request, body):
        request.transport.abort()

    logging.getLogger("haltwise.gateway").setLevel(1)
    signal = SideChannel() if mode == "obedient" else Lexical()
    keys = with_stub(main, mode=mode, path="/v1", log=tmp_path, signal=signal)
    assert set(keys) == {HEADERS["authorization"]}
    logged = everything() + "".join(capfd.readouterr())
    assert "haltwise.gateway" in logged
    for secret in (KEY, SECRET):
        assert secret not in logged
        assert not any(secret in path.read_text() for path in tmp_path.iterdir())


def test_malformed_requests_on_the_wire_leave_no_trace(everything, capfd):
    """The HTTP server's own complaints quote the bytes that it could not read: ours do not."""

    async def main(client, stub):
        port = int(client.url.rpartition(":")[2])
        for wire in (
            f"POST /v1/x HTTP/1.1\r\nAuth\x00orization: {KEY}\r\n\r\n",
            f"GET /{SECRET} HTTP/9.9\r\nauthorization: {KEY}\r\n\r\n",
            f"{SECRET}\r\n\r\n",
            f"POST /v1/x HTTP/1.1\r\nContent-Length: 10\r\nx: {KEY}\r\n\r\n{SECRET[:4]}",
            f"POST /v1/x HTTP/1.1\r\nHost: h\r\nContent-Encoding: gzip\r\nContent-Length: 10"
            f"\r\n\r\n{SECRET}",
        ):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(wire.encode())
            writer.write_eof()
            await reader.read()
            writer.close()
        return (await client.get("/healthz"))[0]

    assert with_stub(main) == 200
    logged = everything() + "".join(capfd.readouterr())
    for secret in (KEY, SECRET):
        assert secret not in logged


def test_errors_and_metrics_hold_no_secret():
    """Messages to the client name no header; the counters have no content in their labels."""

    async def main(client, stub):
        body = conversation("chat", question=SECRET) | {"model": SECRET}
        await client.post(PATHS["chat"], body, headers=HEADERS)
        _, _, malformed = await client.post(PATHS["chat"], data=KEY.encode(), headers=HEADERS)
        return (await client.get("/metrics"))[1] + malformed.decode()

    text = with_stub(main)
    assert KEY not in text
    assert SECRET not in text


def test_the_log_holds_texts_only_where_that_was_asked_for(tmp_path):
    """--log-content keeps question, arguments and results; never a header."""

    async def main(client, stub):
        body = conversation("chat", [f"{SECRET} {USELESS}"] * 5, question=SECRET)
        await client.post(PATHS["chat"], body, headers=HEADERS)

    with_stub(main, log=tmp_path, log_content=True)
    (path,) = tmp_path.iterdir()
    episode = json.loads(path.read_text())
    assert episode["question_id"] == SECRET
    assert KEY not in path.read_text()
    assert path.stat().st_mode & 0o077 == 0


def test_a_cookie_is_neither_kept_nor_sent_again():
    """The way to the upstream has no memory of one client's cookies."""

    async def cookie(request, body):
        response = aiohttp.web.json_response({})
        response.set_cookie("session", SECRET)
        return response

    async def main(client, stub):
        client.session.cookie_jar.clear()
        for _ in range(2):
            await client.post(PATHS["chat"], conversation("chat"))
            client.session.cookie_jar.clear()
        return [seen.headers.get("cookie") for seen in stub.requests]

    assert with_stub(main, stub=StubServer(fault=cookie)) == [None, None]
