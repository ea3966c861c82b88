"""What the gateway does with requests: headers, passing on, failures, limits, shutdown."""

from __future__ import annotations

import asyncio
import gzip
import json

import aiohttp
import pytest
from aiohttp import web

from gateway.serving import gateway, with_stub
from haltwise.core.errors import InputError, ParameterError
from haltwise.core.expression import parse_policy
from haltwise.core.policy import Policy
from haltwise.gateway.routes import Target, dialect_of
from haltwise.gateway.server import Gateway
from haltwise.gateway.settings import Settings, is_loopback
from haltwise.signals import Stated
from haltwise.testing.agents import PATHS, read_turn, turn_parts
from haltwise.testing.conversations import QUESTION, USEFUL, USELESS, conversation
from haltwise.testing.stub_models import ANSWER, StubServer

CHAT = PATHS["chat"]
DIALECTS = sorted(PATHS)


# ---------------------------------------------------------------- decisions and headers


@pytest.mark.parametrize("dialect", DIALECTS)
def test_headers_tell_what_was_done_and_why(dialect):
    """Action, policy, run and reason stand in every response."""

    async def main(client, stub):
        out = []
        for n in (4, 5):
            _, headers, _ = await client.post(PATHS[dialect], conversation(dialect, [USELESS] * n))
            out.append([headers[f"x-haltwise-{w}"] for w in ("action", "policy", "run", "reason")])
        return out

    going, stopped = with_stub(main)
    assert going == ["continue", "streak(5)", "4", "no rule has fired"]
    assert stopped == ["answer", "streak(5)", "5", "5 useless results in a row (threshold 5)"]


def test_a_fitted_rule_is_shown_by_its_name():
    """Headers, health and log show what was typed, in ASCII below 200 characters; no table."""
    fitted = " | ".join(f"deadline({n})" for n in range(100, 140))

    async def main(client, stub):
        _, headers, _ = await client.post(CHAT, conversation("chat", [USELESS]))
        return headers["x-haltwise-policy"], (await client.get("/healthz"))[1]

    name, health = with_stub(main, policy=fitted, policy_name="r\u00e9covery.toml")
    assert name == "r?covery.toml"
    assert json.loads(health)["policy"] == "r\u00e9covery.toml"
    cut, _ = with_stub(main, policy=fitted)
    assert cut.startswith("deadline(100) | deadline(101)")
    assert cut.endswith("...")
    assert len(cut) < 200


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_case_b20_a_stop_is_sticky_until_the_user_speaks(dialect, stream):
    """Case B20: the same history is stopped each time; a new user turn opens the tools."""

    async def main(client, stub):
        body = conversation(dialect, [USELESS] * 5, stream=stream)
        actions = []
        for _ in range(3):
            _, headers, _ = await client.post(PATHS[dialect], body)
            actions.append(headers["x-haltwise-action"])
        key = "input" if dialect == "responses" else "messages"
        body[key] += [
            {"role": "assistant", "content": "Not found."},
            {"role": "user", "content": QUESTION},
        ]
        _, headers, _ = await client.post(PATHS[dialect], body)
        return [*actions, headers["x-haltwise-action"]]

    assert with_stub(main) == ["answer"] * 3 + ["continue"]


def test_watching_reports_and_changes_nothing():
    """With --watch the stop is said in the header; the model still gets its tools."""

    async def main(client, stub):
        body = conversation("chat", [USELESS] * 5)
        _, headers, data = await client.post(CHAT, body)
        return headers["x-haltwise-action"], json.loads(data), stub.requests[-1].body == body

    action, reply, unchanged = with_stub(main, watch=True)
    assert (action, unchanged) == ("watch", True)
    assert reply["choices"][0]["message"]["tool_calls"]


def test_case_a6_exempt_tools_do_not_count():
    """Case A6: --exempt search leaves a polling loop alone."""

    async def main(client, stub):
        return (await client.post(CHAT, conversation("chat", [USELESS] * 9)))[1]["x-haltwise-run"]

    assert with_stub(main, exempt=frozenset({"search"})) == "0"


def test_case_b19_the_answer_tool_of_a_framework_stays():
    """Case B19: ``final_answer`` is offered alone, called, and passes."""

    async def main(client, stub):
        body = conversation("chat", [USELESS] * 5, tools=("search", "final_answer"))
        _, _, data = await client.post(CHAT, {**body, "tool_choice": "required"})
        (call,) = json.loads(data)["choices"][0]["message"]["tool_calls"]
        return call["function"]["name"], [
            t["function"]["name"] for t in stub.requests[0].body["tools"]
        ]

    assert with_stub(main) == ("final_answer", ["final_answer"])


@pytest.mark.parametrize("mode", ["obedient", "rogue"])
def test_case_b19_a_json_answer_stays_json(mode):
    """Case B19: where JSON was asked for, the forced answer is JSON, the last resort included."""

    async def main(client, stub):
        body = conversation("chat", [USELESS] * 5)
        body["response_format"] = {"type": "json_object"}
        _, _, data = await client.post(CHAT, body)
        return json.loads(json.loads(data)["choices"][0]["message"]["content"])

    assert "answer" in with_stub(main, mode=mode, mark_forced=True)


def test_case_b16_the_last_resort_of_a_rogue_model_is_the_best_result():
    """Case B16: a model that only calls tools leaves the newest useful result as the answer."""

    async def main(client, stub):
        _, _, data = await client.post(CHAT, conversation("chat", [USEFUL, *[USELESS] * 5]))
        return json.loads(data)["choices"][0]["message"]["content"]

    assert with_stub(main, mode="rogue") == USEFUL


@pytest.mark.parametrize("stream", [False, True])
def test_case_d_a_strict_model_is_remembered(stream):
    """Case D: the 400 is met once; afterwards that model is asked in its own way at once."""

    async def main(client, stub):
        for _ in range(3):
            await client.post(CHAT, conversation("chat", [USELESS] * 5, stream=stream))
        return len(stub.complaints), len(stub.requests)

    assert with_stub(main, mode="strict") == (1, 4)


@pytest.mark.parametrize("field", ["previous_response_id", "conversation"])
def test_case_d_history_on_the_server_is_passed_through_and_said(field):
    """Case D: what cannot be read is not decided on."""

    async def main(client, stub):
        body = {**conversation("responses", [USELESS] * 9), field: "x"}
        status, headers, _ = await client.post(PATHS["responses"], body)
        return status, headers["x-haltwise-action"], headers["x-haltwise-reason"]

    assert with_stub(main) == (
        200,
        "unread",
        f"passed through: {field} keeps the history on the server",
    )


def test_what_could_not_be_judged_is_said_and_counted():
    """Stated signal, agent without a word: reason and metric say that no step has a verdict."""

    async def main(client, stub):
        out = []
        for n in (1, 4):
            _, headers, _ = await client.post(CHAT, conversation("chat", [USELESS] * n))
            out.append((headers["x-haltwise-run"], headers["x-haltwise-reason"]))
        return out, (await client.get("/metrics"))[1]

    (first, fourth), metrics = with_stub(main, signal=Stated())
    assert first == ("0", "no rule has fired")  # its verdict comes with the reply
    missing = "nothing could be judged: signal stated has no verdict on 3 of 4 steps"
    assert fourth == ("0", f"no rule has fired; {missing}")
    assert "haltwise_unjudged_steps_total 1.0" in metrics


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"{bad", "at byte 1 of 4: object keys must be strings"),
        (b'{"a": 1', "it breaks off at its end, after 7 bytes"),
        (b'{"a": "\xff"}', "at byte 7 of 10: not UTF-8"),
        (b" ", "it is empty"),
    ],
)
def test_a_body_that_is_not_json_is_refused_with_the_place(data, sentence):
    """The error and the reason header are one sentence with the byte."""

    async def main(client, stub):
        status, headers, content = await client.post(CHAT, data=data)
        message = json.loads(content)["error"]["message"]
        return status, headers["x-haltwise-reason"], message

    expected = f"the request body is not JSON: {sentence}"
    assert with_stub(main) == (400, expected, expected)


def test_a_reply_that_was_passed_through_says_why():
    """What is no chat request has a reason, too."""

    async def main(client, stub):
        async with client.session.get(client.url + "/v1/models") as response:
            return response.headers["x-haltwise-action"], response.headers["x-haltwise-reason"]

    assert with_stub(main) == ("pass", "passed through: not a chat request")


def test_case_c_a_trimmed_history_is_said_and_counted():
    """Case C: the header says why the count may be too low."""

    async def main(client, stub):
        body = conversation("chat", [USELESS] * 3)
        del body["messages"][1]
        _, headers, _ = await client.post(CHAT, body)
        return headers["x-haltwise-reason"], (await client.get("/metrics"))[1]

    reason, metrics = with_stub(main)
    assert reason.endswith("history incomplete: a result has no call")
    assert "haltwise_trimmed_histories_total 1.0" in metrics


# ---------------------------------------------------------------- passing on


@pytest.mark.parametrize(
    ("upstream", "path", "expected"),
    [
        ("http://h", "/v1/chat/completions", "http://h/v1/chat/completions"),
        ("http://h/", "/v1/messages", "http://h/v1/messages"),
        ("http://h/v1", "/v1/chat/completions", "http://h/v1/chat/completions"),
        ("http://h/v1/", "/chat/completions?a=%2Fb", "http://h/v1/chat/completions?a=%2Fb"),
        ("https://h:8/api/v1", "/v1/models", "https://h:8/api/v1/models"),
        ("http://h/openai", "/v1/models", "http://h/openai/v1/models"),
        ("http://h/v1", "/v1beta/x", "http://h/v1/v1beta/x"),
        ("http://h/v1", "/v1", "http://h/v1"),
    ],
)
def test_a_v1_in_both_upstream_and_path_is_sent_once(upstream, path, expected):
    """The base URL may be written with or without /v1."""
    target = Target(upstream)
    assert target.origin + target.path(path) == expected


@pytest.mark.parametrize(
    "path",
    ["http://evil/x", "evil", "//x/../y", "/a/../b", "/%2e%2e/admin", "/a/%2E%2E/b", "/a\\b", ""],
)
def test_a_path_that_might_lead_elsewhere_is_refused(path):
    """Only plain absolute paths are joined to the upstream."""
    with pytest.raises(InputError, match="absolute path"):
        Target("http://h/v1").path(path)


@pytest.mark.parametrize(
    "path",
    [
        "//evil.example/x",
        "/@evil.example",
        "/:80@evil/x",
        "/x?u=//e",
        "/%2F%2Fevil.example/x",
        "/%252e%252e/x",
        "/v1/%0d%0aHost:%20evil.example",
    ],
)
def test_no_path_and_no_host_header_changes_where_a_request_goes(path):
    """On the wire the upstream gets the path as it came, its own name as host, and nothing else."""
    got = []

    async def record(reader, writer):
        got.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        await writer.drain()
        writer.close()

    async def main():
        server = await asyncio.start_server(record, "127.0.0.1", 0)
        host = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with server, gateway(f"http://{host}/v1") as client:
            port = int(client.url.rpartition(":")[2])
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(
                f"GET {path} HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: evil.example\r\n"
                "Connection: close\r\n\r\n".encode()
            )
            answer = await reader.read()
            writer.close()
        return host, answer

    host, answer = asyncio.run(main())
    assert answer.startswith(b"HTTP/1.1 204")
    (request,) = got
    line, *fields = request.decode().split("\r\n")
    assert line == f"GET /v1{path.removeprefix('/v1')} HTTP/1.1"
    assert [f for f in fields if f.lower().startswith("host:")] == [f"Host: {host}"]


@pytest.mark.parametrize("fold", [b"\r\n X-Evil: 1", b"\n X-Evil: 1", b"\rX-Evil: 1"])
def test_a_header_cannot_smuggle_another_one(fold):
    """A folded header, or a bare line break in one, is refused and reaches nobody."""

    async def main(client, stub):
        port = int(client.url.rpartition(":")[2])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /v1/x HTTP/1.1\r\nHost: h\r\nX-A: a" + fold + b"\r\n\r\n")
        writer.write_eof()
        answer = await reader.read()
        writer.close()
        return answer, [seen.headers for seen in stub.requests]

    answer, seen = with_stub(main)
    assert answer.startswith(b"HTTP/1.1 400") or not any("x-evil" in headers for headers in seen)


def test_a_request_in_absolute_form_cannot_redirect_the_upstream():
    """``POST http://evil/...`` on the wire is answered with 400 and reaches nobody."""

    async def main(client, stub):
        port = int(client.url.rpartition(":")[2])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(
            b"GET http://127.0.0.1:9/v1/models HTTP/1.1\r\nHost: evil.example\r\n"
            b"Connection: close\r\n\r\n"
        )
        answer = await reader.read()
        writer.close()
        return answer, [seen.path for seen in stub.requests]

    answer, seen = with_stub(main)
    assert seen == []
    assert answer.startswith(b"HTTP/1.1 400")


def test_a_redirect_of_the_upstream_is_handed_on_and_not_followed():
    """The gateway never carries a key to another host."""

    async def moved(request, body):
        return web.Response(status=307, headers={"location": "http://127.0.0.1:9/"})

    async def main(client, stub):
        url = client.url + CHAT
        async with client.session.post(
            url, json=conversation("chat"), allow_redirects=False
        ) as response:
            return response.status, response.headers["location"]

    result = with_stub(main, stub=StubServer(fault=moved))
    assert result == (307, "http://127.0.0.1:9/")


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "PATCH"])
def test_every_other_route_passes_byte_for_byte(method):
    """Path, query, method, body and headers arrive as they were sent, and so does the reply."""
    payload = bytes(range(256)) * 50

    async def main(client, stub):
        async with client.session.request(
            method, client.url + "/v1/files/a%2Fb?x=1&y=%20", data=payload, headers={"x-mine": "1"}
        ) as response:
            seen = stub.requests[0]
            return (
                response.status, response.headers["x-stub"], await response.read() == payload,
                seen.body["data"] == payload, seen.path, seen.headers["x-mine"],
            )  # fmt: skip

    assert with_stub(main) == (200, method, True, True, "/v1/files/a%2Fb?x=1&y=%20", "1")


def test_an_unknown_route_is_the_upstreams_to_answer():
    """A 404 of the upstream is handed on with its text."""

    async def main(client, stub):
        stub.missing = "/nope"
        return await client.get("/nope"), (await client.get("/healthz"))[0]

    assert with_stub(main) == ((404, "there is no /nope"), 200)


def test_compressed_requests_are_decided_on():
    """A gzip body is read, decided and forwarded in plain."""

    async def main(client, stub):
        data = gzip.compress(json.dumps(conversation("chat", [USELESS] * 5)).encode())
        status, headers, _ = await client.post(
            CHAT, data=data, headers={"content-encoding": "gzip"}
        )
        return status, headers["x-haltwise-action"], "content-encoding" in stub.requests[0].headers

    assert with_stub(main) == (200, "answer", False)


def test_a_compressed_reply_is_handed_on_or_read():
    """What passes keeps its encoding; a forced answer is decoded before it is cleaned."""

    async def zipped(request, body):
        data = json.dumps({"choices": [{"index": 0, "message": {"content": "Po"}}]}).encode()
        return web.Response(
            body=gzip.compress(data),
            headers={"content-encoding": "gzip", "content-type": "application/json"},
        )

    async def main(client, stub):
        texts = []
        for n in (1, 5):
            _, _, data = await client.post(CHAT, conversation("chat", [USELESS] * n))
            texts.append(json.loads(data)["choices"][0]["message"]["content"])
        return texts

    assert with_stub(main, stub=StubServer(fault=zipped)) == ["Po", "Po"]


def test_requests_that_are_not_stopped_reach_the_model_byte_for_byte():
    """The body is not even re-encoded."""

    async def main(client, stub):
        data = json.dumps(conversation("chat", [USELESS] * 2), indent=3).encode()
        seen = []

        async def note(request, body):
            seen.append(await request.read())

        stub.fault = note
        await client.post(CHAT, data=data)
        return seen == [data]

    assert with_stub(main)


@pytest.mark.parametrize(
    ("method", "path", "name"),
    [
        ("POST", "/v1/chat/completions", "chat"),
        ("POST", "/openai/deployments/x/chat/completions", "chat"),
        ("POST", "/v1/responses", "responses"),
        ("POST", "/v1/messages", "anthropic"),
        ("POST", "/v1/threads/t/messages", None),
        ("POST", "/v1/messages/count_tokens", None),
        ("GET", "/v1/responses", None),
        ("POST", "/v1/embeddings", None),
    ],
)
def test_routes(method, path, name):
    """Three routes are decided on; everything else passes."""
    found = dialect_of(method, path)
    assert (found and found.name) == name


# ---------------------------------------------------------------- bad input and failures


def test_bad_bodies_are_one_clear_sentence_and_the_process_stays_up():
    """Malformed JSON, a list, an empty body: status 400 in the error form of the API."""

    async def main(client, stub):
        out = []
        for data in (b"{", b"[1]", b"", b"\xff\xfe", b'{"a": NaN}'):
            status, headers, text = await client.post(CHAT, data=data)
            out.append((status, headers["x-haltwise-action"], json.loads(text)["error"]["message"]))
        status, _, text = await client.post(PATHS["anthropic"], data=b"{")
        assert json.loads(text)["type"] == "error"
        assert (await client.get("/healthz"))[0] == 200
        assert stub.requests == []
        return out

    for status, action, message in with_stub(main):
        assert (status, action) == (400, "refused")
        assert message.startswith("the request body is ")


def test_a_body_that_is_too_large_is_refused_with_413():
    """The limit is named; the upstream sees nothing of it."""

    async def main(client, stub):
        big = conversation("chat", ["x" * 5000])
        status, _, text = await client.post(CHAT, big)
        also, _, _ = await client.post("/v1/files", data=b"x" * 5000)
        return status, also, json.loads(text)["error"]["message"], len(stub.requests)

    assert with_stub(main, body_limit=2000) == (
        413, 413, "the request body is larger than 2000 bytes", 0,
    )  # fmt: skip


def test_an_unreachable_upstream_is_502_and_named():
    """The message names the upstream, so that a typing error is found."""

    async def main():
        async with gateway("http://127.0.0.1:9/v1") as client:
            status, _, text = await client.post(CHAT, conversation("chat"))
            assert (await client.get("/healthz"))[0] == 200
            return status, json.loads(text)["error"]["message"]

    assert asyncio.run(main()) == (502, "the upstream http://127.0.0.1:9 cannot be reached")


def test_a_silent_upstream_is_504():
    """The timeout is the gateway's own."""

    async def silent(request, body):
        await asyncio.sleep(30)

    async def main(client, stub):
        return [(await client.post(CHAT, conversation("chat", [USELESS] * n)))[0] for n in (1, 5)]

    assert with_stub(main, stub=StubServer(fault=silent), timeout=0.2) == [504, 504]


def test_an_upstream_error_is_handed_on():
    """A 429 or 500 is the client's to see, in a stopped loop, too."""

    async def busy(request, body):
        return web.json_response({"error": "busy"}, status=429, headers={"retry-after": "7"})

    async def main(client, stub):
        out = []
        for n in (1, 5):
            for stream in (False, True):
                body = conversation("chat", [USELESS] * n, stream=stream)
                status, headers, data = await client.post(CHAT, body)
                out.append((status, headers["retry-after"], data))
        return out

    found = with_stub(main, stub=StubServer(fault=busy))
    assert found == [(429, "7", b'{"error": "busy"}')] * 4


@pytest.mark.parametrize("n", [1, 5])
def test_a_stream_that_breaks_off_is_seen_to_be_broken(n):
    """The client never takes half a stream for a whole one."""

    async def reset(request, body):
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        chunk = {"choices": [{"index": 0, "delta": {"content": "The"}}]}
        await response.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        request.transport.abort()
        return response

    async def main(client, stub):
        body = conversation("chat", [USELESS] * n, stream=True)
        with pytest.raises(aiohttp.ClientError):
            await client.post(CHAT, body)
        stub.fault = None
        return (await client.post(CHAT, body))[0]

    assert with_stub(main, stub=StubServer(fault=reset)) == 200


@pytest.mark.parametrize("stream", [False, True])
def test_a_forced_reply_that_is_no_json_is_502(stream):
    """After one more try, what cannot be read is said, and nothing half-cooked is handed on."""

    async def broken(request, body):
        return web.Response(body=b"<html>", content_type="text/html")

    async def main(client, stub):
        body = conversation("chat", [USELESS] * 5, stream=stream)
        return (await client.post(CHAT, body))[0]

    assert with_stub(main, stub=StubServer(fault=broken)) == 502


def test_a_client_that_goes_away_cancels_the_upstream():
    """The upstream's work ends with the client's interest."""
    ended = []

    async def endless(request, body):
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        try:
            while True:
                await response.write(b": still there\n\n")
                await asyncio.sleep(0.01)
        except (ConnectionResetError, asyncio.CancelledError):
            ended.append(True)
            raise

    async def main(client, stub):
        body = conversation("chat", stream=True)
        async with client.session.post(client.url + CHAT, json=body) as response:
            await response.content.readany()
        for _ in range(200):
            if ended:
                return True
            await asyncio.sleep(0.01)

    assert with_stub(main, stub=StubServer(fault=endless))


def test_a_slow_client_slows_the_upstream_down():
    """Backpressure: a client that does not read does not fill the gateway's memory."""
    written = []

    async def flood(request, body):
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        for _ in range(1000):
            await response.write(b"data: {}\n\n" * 10_000)
            written.append(100_000)
        return response

    async def main(client, stub):
        body = conversation("chat", stream=True)
        async with client.session.post(client.url + CHAT, json=body) as response:
            before = -1
            while before != len(written):
                before = len(written)
                await asyncio.sleep(0.1)
            stuck = len(written)
            rest = len(await response.read())
        return stuck, rest

    stuck, rest = with_stub(main, stub=StubServer(fault=flood))
    assert stuck < 500
    assert rest == 1000 * 100_000


class _Broken(Policy):
    """Fails at the first observation."""

    name = "broken"
    kind = "search"
    expression = "broken"

    def initial(self):
        """Return nothing."""
        return 0

    def advance(self, state, observation):
        """Fail."""
        raise ZeroDivisionError("secret text")


@pytest.mark.parametrize(("fail_open", "status"), [(True, 200), (False, 503)])
def test_a_policy_that_fails_fails_open_or_closed_as_chosen(fail_open, status, monkeypatch):
    """Open: forwarded unchanged and counted. Closed: refused with 503."""
    monkeypatch.setattr("gateway.serving.parse_policy", lambda text: _Broken())

    async def main(client, stub):
        body = conversation("chat", [USELESS])
        found, headers, text = await client.post(CHAT, body)
        unchanged = [seen.body for seen in stub.requests] == [body]
        metrics = (await client.get("/metrics"))[1]
        return found, headers["x-haltwise-action"], unchanged, "secret" in str(text), metrics

    found, action, unchanged, leaked, metrics = with_stub(main, fail_open=fail_open)
    assert (found, action, unchanged, leaked) == (status, "undecided", fail_open, False)
    assert 'haltwise_failures_total{kind="decision"} 1.0' in metrics


def test_a_history_that_cannot_be_read_is_the_upstreams_to_judge():
    """Fail open: a body in an unknown form is forwarded as it is."""

    async def main(client, stub):
        body = {"model": "m", "messages": "hello"}
        await client.post(CHAT, body)
        return [seen.body for seen in stub.requests] == [body]

    async def fine(request, body):
        return web.json_response({})

    assert with_stub(main, stub=StubServer(fault=fine))


def test_a_side_channel_that_fails_leaves_the_step_unjudged():
    """The request is served; the run does not grow."""
    from haltwise.signals import SideChannel

    async def fault(request, body):
        if "yes or no" in json.dumps(body):
            return web.Response(status=500, text="no")

    async def main(client, stub):
        body = conversation("chat", [USELESS] * 5)
        status, headers, _ = await client.post(CHAT, body)
        return status, headers["x-haltwise-run"]

    stub = StubServer(fault=fault)
    assert with_stub(main, stub=stub, signal=SideChannel()) == (200, "0")


def test_a_taken_port_is_one_clear_sentence():
    """The message names address, port and option."""

    async def main(client, stub):
        port = int(client.url.rpartition(":")[2])
        with pytest.raises(InputError, match=rf"cannot listen on 127.0.0.1:{port}: .*--port"):
            async with client.gateway.__class__(client.gateway.settings).listening(port=port):
                pass

    with_stub(main)


def test_open_requests_end_before_the_gateway_does():
    """Graceful shutdown: a reply that is under way is delivered whole."""

    async def slow(request, body):
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        for _ in range(5):
            await response.write(b": tick\n\n")
            await asyncio.sleep(0.05)
        return response

    async def main():
        with StubServer(fault=slow) as stub:
            settings = Settings(stub.url, parse_policy("streak(5)"))
            async with aiohttp.ClientSession() as session:
                async with Gateway(settings).listening(grace=5) as url:
                    body = conversation("chat", stream=True)
                    response = await session.post(url + CHAT, json=body)
                    assert not response.content.at_eof()
                data = await response.read()
                with pytest.raises(aiohttp.ClientConnectionError):
                    await session.get(url + "/healthz")
                return response.status, data.count(b"tick")

    assert asyncio.run(main()) == (200, 5)


def test_websockets_are_refused_and_said():
    """A realtime session would go round every decision."""

    async def main(client, stub):
        with pytest.raises(aiohttp.WSServerHandshakeError) as error:
            await client.session.ws_connect(client.url + "/v1/realtime")
        return error.value.status

    assert with_stub(main) == 501


# ---------------------------------------------------------------- settings, health, metrics


@pytest.mark.parametrize(
    "upstream",
    ["", "api.openai.com", "ftp://h", "http://", "http://u:p@h", "http://h?key=1", "http://h#x"],
)
def test_an_upstream_that_is_no_plain_base_url_is_refused(upstream):
    """Keys come with the requests, never with the upstream."""
    with pytest.raises(ParameterError, match="upstream is a"):
        Settings(upstream, parse_policy("streak(5)"))


def test_a_rule_for_repair_loops_is_refused():
    """The gateway stops search loops."""
    policy = parse_policy("never")
    object.__setattr__(policy, "kind", "repair")
    with pytest.raises(ParameterError, match="is for repair loops"):
        Settings("http://h", policy)


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True), ("localhost", True), ("::1", True), ("127.8.8.8", True),
        ("0.0.0.0", False), ("192.168.1.2", False), ("example.com", False), ("::", False),
    ],
)  # fmt: skip
def test_loopback(host, loopback):
    """Only addresses of this machine are safe to bind without a second thought."""
    assert is_loopback(host) is loopback


def test_health_and_metrics():
    """Both are the gateway's own and do not reach the upstream."""

    async def main(client, stub):
        await client.post(CHAT, conversation("chat", [USELESS] * 5))
        health, metrics = await client.get("/healthz"), await client.get("/metrics")
        return health, metrics, len(stub.requests)

    health, metrics, requests = with_stub(main)
    assert health == (200, '{"status": "ok", "policy": "streak(5)"}')
    assert 'haltwise_requests_total{action="answer",dialect="chat"} 1.0' in metrics[1]
    assert "haltwise_decide_seconds_count 1.0" in metrics[1]
    assert requests == 1


def test_the_answer_of_an_obedient_model_is_its_own():
    """Nothing is added to an answer unless that was asked for."""

    async def main(client, stub):
        _, _, data = await client.post(CHAT, conversation("chat", [USELESS] * 5))
        return json.loads(data)["choices"][0]["message"]["content"]

    assert with_stub(main) == ANSWER
    assert with_stub(main, mark_forced=True) == (
        f"{ANSWER}\n\n[haltwise] This answer was forced: 5 useless results in a row (threshold 5)."
    )


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("choice", ["required", "auto"])
@pytest.mark.parametrize("mode", ["rogue", "obedient"])
def test_case_b19_an_answer_that_is_demanded_as_a_call_comes_as_one(mode, choice, stream):
    """Case B19: under ``tool_choice`` "required" a framework cannot read a text answer."""

    async def main(client, stub):
        tools = ("search", "final_answer")
        body = conversation("chat", [USELESS] * 5, tools=tools, stream=stream)
        status, _, data = await client.post(CHAT, body | {"tool_choice": choice})
        (turn,) = read_turn("chat", data, stream=stream)
        return status, turn

    status, turn = with_stub(main, mode=mode)
    assert status == 200
    names = [call["function"]["name"] for call in turn.get("tool_calls") or ()]
    if choice == "required" or mode == "obedient":
        assert names == ["final_answer"]
        arguments = json.loads(turn["tool_calls"][0]["function"]["arguments"])
        assert arguments["query"].strip()
    else:
        assert names == []
        assert turn["content"].strip()


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_case_d_vllm_an_empty_answer_is_asked_for_once_more_and_then_replaced(stream):
    """Case D: a server may delete call-shaped text, so that nothing is left; twice, no more."""
    asked = []

    async def main(client, stub):
        plain = stub.turn

        def empty(dialect, body):
            asked.append("tools" in body)
            return plain(dialect, body)._replace(text="", calls=())

        stub.turn = empty
        results = [USEFUL] + [USELESS] * 5
        body = conversation("chat", results, stream=stream)
        status, _, data = await client.post(CHAT, body)
        (turn,) = read_turn("chat", data, stream=stream)
        return status, turn["content"]

    status, text = with_stub(main)
    assert status == 200
    assert asked == [False, False]
    assert USEFUL in text, "the best that the loop holds"


@pytest.mark.parametrize("dialect", ["responses", "anthropic"])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_case_d_deepseek_a_model_that_rejects_tool_choice_is_remembered(dialect, stream):
    """Case D: 400 on ``tool_choice``: asked again without tools, and at once from then on."""

    async def reject(request, body):
        if "tool_choice" in body:
            return web.json_response({"error": {"message": "no tool_choice"}}, status=400)
        return None

    async def main(client, stub):
        found = []
        for _ in range(2):
            before = len(stub.requests)
            body = conversation(dialect, [USELESS] * 5, stream=stream)
            status, _, data = await client.post(PATHS[dialect], body)
            text, calls = turn_parts(dialect, read_turn(dialect, data, stream=stream))
            found.append((status, text, calls, len(stub.requests) - before))
        return found, stub.complaints

    found, complaints = with_stub(main, stub=StubServer(fault=reject))
    assert found == [(200, ANSWER, [], 2), (200, ANSWER, [], 1)]
    assert complaints == []


@pytest.mark.parametrize(
    "path",
    [
        "/model/anthropic.claude/converse",
        "/v1beta/models/gemini-3:generateContent",
        "/v1beta/models/gemini-3:streamGenerateContent?alt=sse",
    ],
)
def test_case_d_an_api_that_is_not_read_passes_and_says_so(path):
    """Case D: Bedrock signs its bodies; it and Gemini pass as they are, and the header says so."""
    data = json.dumps({"contents": [], "toolConfig": {}}).encode()

    async def main(client, stub):
        status, headers, body = await client.post(path, data=data)
        return status, headers["x-haltwise-action"], headers["x-haltwise-reason"], body

    status, action, reason, body = with_stub(main)
    assert (status, action, body) == (200, "pass", data)
    assert "not a chat request" in reason


def test_a_client_that_asks_before_it_sends_is_told_to_go_on():
    """``Expect: 100-continue``: the body is held back until the gateway has said so."""

    async def main(client, stub):
        port = int(client.url.rpartition(":")[2])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        data = json.dumps(conversation("chat", [USELESS] * 5)).encode()
        writer.write(
            f"POST {CHAT} HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nConnection: close\r\n"
            f"Content-Length: {len(data)}\r\n\r\n".encode()
        )
        said = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5)
        writer.write(data)
        answer = await reader.read()
        writer.close()
        return said, answer, "expect" in stub.requests[0].headers

    said, answer, expected = with_stub(main)
    assert said == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert ANSWER.encode() in answer
    assert not expected
