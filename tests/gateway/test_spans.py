"""Spans of the gateway, as an exporter gets them."""

from __future__ import annotations

import pytest

from gateway.serving import with_stub
from haltwise.gateway import spans
from haltwise.testing.agents import PATHS
from haltwise.testing.conversations import USELESS, conversation

pytest.importorskip("opentelemetry.sdk", reason="needs opentelemetry-sdk")

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

KEY = "sk-SECRETKEY-1234567890"
SECRET = "SECRETTEXT"


@pytest.fixture
def exported(monkeypatch):
    """What is exported while the test runs."""
    provider, exporter = TracerProvider(), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(spans.trace, "get_tracer_provider", lambda: provider)
    return exporter.get_finished_spans


@pytest.mark.parametrize(
    ("dialect", "provider"),
    [("chat", "openai"), ("responses", "openai"), ("anthropic", "anthropic")],
)
@pytest.mark.parametrize(("n", "action"), [(1, "continue"), (5, "answer")])
def test_one_span_an_exchange_with_the_names_of_the_conventions(
    exported, dialect, provider, n, action
):
    """Name, kind and attributes of the GenAI conventions, and what the gateway has done."""

    async def main(client, stub):
        await client.post(PATHS[dialect], conversation(dialect, [USELESS] * n))
        return int(stub.url.rpartition(":")[2])

    port = with_stub(main)
    (span,) = exported()
    assert (span.name, span.kind) == ("chat stub", SpanKind.CLIENT)
    assert span.status.status_code is StatusCode.UNSET
    assert dict(span.attributes) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": "stub",
        "haltwise.action": action,
        "haltwise.run": n,
        "http.response.status_code": 200,
        "server.address": "127.0.0.1",
        "server.port": port,
    }


def test_the_span_belongs_to_the_callers_trace(exported):
    """A request that names its trace is continued."""
    caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    async def main(client, stub):
        headers = {"traceparent": caller}
        await client.post(PATHS["chat"], conversation("chat"), headers=headers)
        return stub.requests[0].headers["traceparent"]

    assert with_stub(main) == caller, "headers pass through unchanged"
    (span,) = exported()
    assert f"{span.context.trace_id:032x}" == caller[3:35]
    assert f"{span.parent.span_id:016x}" == caller[36:52]


def test_failures_are_spans_with_an_error(exported):
    """A body that is no JSON, an unknown path, an upstream that breaks off."""

    async def abort(request, body):
        request.transport.abort()

    async def main(client, stub):
        await client.post(PATHS["chat"], data=b"{")
        stub.missing = "/v1/nope"
        await client.get("/v1/nope")
        stub.fault = abort
        await client.post(PATHS["chat"], conversation("chat"))

    with_stub(main)
    seen = [(s.name, s.attributes["error.type"], s.status.status_code.name) for s in exported()]
    assert seen == [
        ("gateway chat", "400", "ERROR"),
        ("gateway other", "404", "ERROR"),
        ("chat stub", "502", "ERROR"),
    ]


def test_spans_hold_no_secret(exported):
    """No key, header or text, in attributes, events or status."""

    async def main(client, stub):
        headers = {"authorization": f"Bearer {KEY}", "x-private": SECRET}
        for n in (1, 5):
            body = conversation("chat", [f"{SECRET} {USELESS}"] * n, question=SECRET)
            await client.post(PATHS["chat"] + f"?key={KEY}", body, headers=headers)
        await client.post(PATHS["chat"], data=SECRET.encode(), headers=headers)

    with_stub(main)
    text = "".join(span.to_json() for span in exported())
    assert len(exported()) == 3
    assert KEY not in text
    assert SECRET not in text
