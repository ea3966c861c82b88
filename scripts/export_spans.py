"""Records the conversation of the reader tests as three instrumentations of the OpenAI client do.

No server is asked: the transport of the client answers from the conversation. Their spans, as the
SDK of OpenTelemetry writes them, are what `tests/record/readers/test_exported.py` reads.

    pip install openai openinference-instrumentation-openai opentelemetry-instrumentation-openai \\
        opentelemetry-instrumentation-openai-v2 opentelemetry-util-genai==0.4b0
    python scripts/export_spans.py openinference|traceloop|genai

An instrumentation a process, for each wraps the methods of the client.
"""

from __future__ import annotations

import json
import os
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from record.readers.dialects import chat_messages  # noqa: E402

TARGET = ROOT / "tests" / "record" / "readers" / "exported"
PACKAGES = {
    "openinference": "openinference-instrumentation-openai",
    "traceloop": "opentelemetry-instrumentation-openai",
    "genai": "opentelemetry-instrumentation-openai-v2",
}


def instrument(kind: str, provider: Any) -> None:
    """Wrap the client's methods as an application would."""
    os.environ["TRACELOOP_TRACE_CONTENT"] = "true"
    os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "SPAN_ONLY"
    os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = "gen_ai_latest_experimental"
    if kind == "openinference":
        from openinference.instrumentation.openai import OpenAIInstrumentor
    elif kind == "traceloop":
        from opentelemetry.instrumentation.openai import OpenAIInstrumentor
    else:
        from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor
    OpenAIInstrumentor().instrument(tracer_provider=provider)


def answering(replies: list[dict[str, Any]]) -> httpx.MockTransport:
    """Return a transport that gives one reply after the other."""

    def answer(request: httpx.Request) -> httpx.Response:
        message = replies.pop(0)
        reason = "tool_calls" if "tool_calls" in message else "stop"
        usage = {"prompt_tokens": 40, "completion_tokens": 7, "total_tokens": 47}
        return httpx.Response(
            200,
            json={
                "id": "r1",
                "object": "chat.completion",
                "created": 1_700_000_000,
                "model": "m-2025",
                "choices": [{"index": 0, "message": message, "finish_reason": reason}],
                "usage": usage,
            },
        )

    return httpx.MockTransport(answer)


def main(kind: str) -> None:
    """Write the spans of one instrumentation."""
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    instrument(kind, provider)
    from openai import OpenAI

    messages = chat_messages()
    replies = [place for place, message in enumerate(messages) if message["role"] == "assistant"]
    transport = answering([messages[place] for place in replies])
    client = OpenAI(
        api_key="none",
        base_url="http://localhost/v1",
        http_client=httpx.Client(transport=transport),
    )
    tracer = provider.get_tracer("agent")
    with tracer.start_as_current_span("agent"):
        for place in replies:
            client.chat.completions.create(model="m", messages=messages[:place])
    TARGET.mkdir(exist_ok=True)
    lines = [span.to_json(indent=None) for span in exporter.get_finished_spans()]
    kept = [json.dumps(_without_process(json.loads(line))) for line in lines]
    (TARGET / f"{kind}.jsonl").write_text("\n".join(kept) + "\n", "utf-8")
    print(kind, PACKAGES[kind], version(PACKAGES[kind]), len(kept), "spans")


def _without_process(span: dict[str, Any]) -> dict[str, Any]:
    """Return a span without its resource: it names the process that made it."""
    return {**span, "resource": {}}


if __name__ == "__main__":
    main(sys.argv[1])
