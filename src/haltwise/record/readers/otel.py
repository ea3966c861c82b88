"""Reader of OpenTelemetry spans of models and tools: GenAI and OpenInference conventions.

OTLP JSON (one document, or one export request a line) and spans one a line as exporters print them.
Contents are found as attributes, as numbered attributes, and as events. A trace is an episode; the
spans of a file are held until it ends, for a trace may be anywhere in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from ...core.events import Usage
from ..chat import Message, ToolCall, read_message, read_messages, text_of
from ..clock import seconds
from ..conversation import episode_of, name_of, success_of
from ..history import History
from ..skip import Skip
from ..source import Source
from ..spans import Span, Trace
from .base import Found
from .documents import decoded
from .sniffing import first_object_keys

RECORD = "an OpenTelemetry span"

_EVENTS = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    "gen_ai.choice": "assistant",
}
_LLM = {"chat", "text_completion", "generate_content", "completion", "LLM"}
_READ = ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt")
_WRITTEN = (
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.token_count.completion",
)
_START = ("startTimeUnixNano", "start_time_unix_nano", "start_time")
_END = ("endTimeUnixNano", "end_time_unix_nano", "end_time")
_SUCCESS = ("haltwise.success", "reward", "eval.success")
_TOOL = {"execute_tool", "TOOL", "RETRIEVER"}


class Otel:
    """Spans, whoever exported them."""

    name = "otel"
    splits = False

    def sniff(self, head: bytes, path: str) -> float:
        """Sure of resourceSpans; fairly sure of single spans with a trace id."""
        keys = first_object_keys(head)
        if keys & {"resourceSpans", "resource_spans"}:
            return 0.95
        if b"trace_id" not in head and b"traceId" not in head:
            return 0.0
        if "attributes" in keys and keys & {"spanId", "span_id", "context", "traceId", "trace_id"}:
            return 0.9
        return 0.8 if "span_kind" in keys and "context" in keys else 0.0

    def read(self, source: Source) -> Iterator[Found | Skip]:
        """Yield the skips of what is no span, then every trace."""
        traces: dict[str, Trace] = {}
        histories: dict[str, History] = {}
        for pair in decoded(source, RECORD):
            if isinstance(pair, Skip):
                yield pair
                continue
            item, value = pair
            found = False
            for span in _spans(value):
                trace = name_of(_get(span, "traceId", "trace_id"))
                if trace is None and isinstance(span.get("context"), dict):
                    trace = name_of(_get(span["context"], "trace_id", "traceId"))
                if trace is None:
                    continue
                found = True
                if trace not in traces:
                    traces[trace], histories[trace] = Trace(item.line), History()
                _take(traces[trace], span, histories[trace])
            if not found:
                yield item.skip(source, f"is not {RECORD}: it has no trace id")
        for name, trace_found in traces.items():
            yield trace_found.line, episode_of_trace(name, trace_found)


def episode_of_trace(name: str, trace: Trace) -> Any:
    """Return the episode of a finished trace."""
    notes = [] if any(s.kind == "llm" for s in trace.spans) else ["no span of a model"]
    return episode_of(
        trace.messages(),
        {},
        name.encode("utf-8", "surrogatepass"),
        run=name,
        model=trace.model(),
        success=trace.success,
        usage=trace.usage(),
        notes=notes,
    )


def _spans(value: Any) -> Iterator[dict[str, Any]]:
    if not isinstance(value, dict):
        return
    resources = _get(value, "resourceSpans", "resource_spans")
    if not isinstance(resources, list):
        yield value
        return
    for resource in resources:
        if not isinstance(resource, dict):
            continue
        scopes = _get(resource, "scopeSpans", "scope_spans", "instrumentationLibrarySpans")
        for scope in scopes if isinstance(scopes, list) else ():
            spans = scope.get("spans") if isinstance(scope, dict) else None
            for span in spans if isinstance(spans, list) else ():
                if isinstance(span, dict):
                    yield span


def _take(trace: Trace, span: dict[str, Any], history: History) -> None:
    attributes = _attributes(span.get("attributes"))
    operation = attributes.get("gen_ai.operation.name")
    if operation is None:
        operation = attributes.get("openinference.span.kind")
    if operation is None:
        operation = _get(span, "span_kind") or _get(attributes, "traceloop.span.kind")
    name = str(span.get("name") or "")
    kind = "other"
    if operation in _LLM or "gen_ai.request.model" in attributes:
        kind = "llm"
    if operation in _TOOL or operation == "tool" or name.startswith("execute_tool "):
        kind = "tool"
    made = Span(
        kind,
        _time(span, _START),
        _time(span, _END),
    )
    trace.conversation = trace.conversation or name_of(
        _get(attributes, "gen_ai.conversation.id", "session.id")
    )
    if kind == "llm":
        _read_model(made, attributes, span.get("events"), history)
    elif kind == "tool":
        _read_tool(made, attributes, name)
    elif _get(span, "parentSpanId", "parent_span_id", "parent_id") in (None, ""):
        trace.question = trace.question or _words(attributes.get("input.value"))
        trace.answer = trace.answer or _words(attributes.get("output.value"))
    if trace.success is None:
        for key in _SUCCESS:
            if trace.success is None and key in attributes:
                trace.success = success_of(attributes[key])
    trace.spans.append(made)


def _read_model(made: Span, attributes: dict[str, Any], events: Any, history: History) -> None:
    made.model = name_of(
        _get(attributes, "gen_ai.response.model", "gen_ai.request.model", "llm.model_name")
    )
    read, written = _count(attributes, _READ), _count(attributes, _WRITTEN)
    if read is not None or written is not None:
        made.usage = Usage(1, read, written)
    listed = _get(attributes, "gen_ai.input.messages", "gen_ai.prompt")
    if listed is not None:
        made.inputs = _sent(listed, history)
    listed = _get(attributes, "gen_ai.output.messages", "gen_ai.completion")
    if listed is not None:
        made.outputs = read_messages(_listed(listed))
    if not made.inputs or not made.outputs:
        given, replied = history.spelled(attributes)
        made.inputs = made.inputs or given
        made.outputs = made.outputs or replied
    if isinstance(events, list):
        _read_events(made, events, history)


def _sent(listed: Any, history: History) -> list[Message]:
    items = history.decoded(listed) if isinstance(listed, str) else None
    return history.read(_listed(listed) if items is None else items)


def _read_events(made: Span, events: list[Any], history: History) -> None:
    given = []
    for event in events:
        if not isinstance(event, dict):
            continue
        name = _event_name(event)
        if name == "gen_ai.choice":
            replied = _event_message(event)
            made.outputs += () if replied is None else (replied,)
        elif name in _EVENTS:
            given.append(event)
        elif name == "gen_ai.client.inference.operation.details":
            inner = _attributes(event.get("attributes"))
            inputs, outputs = (
                inner.get("gen_ai.input.messages"),
                inner.get("gen_ai.output.messages"),
            )
            made.inputs = made.inputs or _sent(inputs, history)
            made.outputs = made.outputs or read_messages(_listed(outputs))
    if given:
        made.inputs = [*made.inputs, *history.read(given, _event_message)]


def _event_name(event: dict[str, Any]) -> str:
    return str(event.get("name") or event.get("event.name") or "")


def _event_message(event: dict[str, Any]) -> Message | None:
    inner = _attributes(event.get("attributes"))
    body = _parsed(event.get("body", inner.get("event_body", inner.get("body"))))
    body = body if isinstance(body, dict) else inner
    message = _parsed(body.get("message"))
    body = message if isinstance(message, dict) else body
    if isinstance(calls := _parsed(body.get("tool_calls")), list):
        body = {**body, "tool_calls": calls}
    return read_message({**body, "role": _EVENTS[_event_name(event)]})


def _read_tool(made: Span, attributes: dict[str, Any], name: str) -> None:
    tool = name_of(_get(attributes, "gen_ai.tool.name", "tool.name", "traceloop.entity.name"))
    arguments = _get(
        attributes,
        "gen_ai.tool.call.arguments",
        "tool.parameters",
        "input.value",
        "traceloop.entity.input",
    )
    result = _get(attributes, "gen_ai.tool.call.result", "output.value", "traceloop.entity.output")
    identity = name_of(_get(attributes, "gen_ai.tool.call.id", "tool_call.id", "tool.id"))
    made.call = ToolCall(
        identity, tool or name.removeprefix("execute_tool ").strip() or "unknown", arguments
    )
    made.result = text_of(_parsed(result)) if result is not None else None
    failure = _get(attributes, "error.type", "exception.message")
    if made.result is None and isinstance(failure, str):
        made.result = f"Error: {failure}"


def _time(span: dict[str, Any], keys: tuple[str, ...]) -> float | None:
    value = _get(span, *keys)
    return None if value is None else seconds(value)


def _count(attributes: dict[str, Any], keys: tuple[str, ...]) -> int | None:
    value = _get(attributes, *keys)
    return value if isinstance(value, int) else None


def _get(mapping: Any, *keys: str) -> Any:
    if mapping.__class__ is dict:
        for key in keys:
            if key in mapping and (value := mapping[key]) is not None:
                return value
    return None


def _attributes(given: Any) -> dict[str, Any]:
    """Return attributes as a plain mapping, from OTLP's list of keys and typed values or a dict."""
    if isinstance(given, dict):
        if dict not in map(type, given.values()):
            return given
        flat: dict[str, Any] = {}
        for key, value in given.items():
            if isinstance(value, dict) and "." not in key:
                flat.update(_flat(key, value))
            else:
                flat[key] = value
        return flat
    if not isinstance(given, list):
        return {}
    return {
        item["key"]: _value(item.get("value"))
        for item in given
        if isinstance(item, dict) and isinstance(item.get("key"), str)
    }


def _flat(prefix: str, value: dict[str, Any], depth: int = 0) -> Iterator[tuple[str, Any]]:
    for key, inner in value.items():
        name = f"{prefix}.{key}"
        if isinstance(inner, dict) and depth < 8:
            yield from _flat(name, inner, depth + 1)
        else:
            yield name, inner


def _value(value: Any, depth: int = 0) -> Any:
    if not isinstance(value, dict) or depth > 32:
        return value
    for key, inner in value.items():
        if key == "intValue":
            return int(inner) if isinstance(inner, (int, str)) and str(inner).isdecimal() else inner
        if key == "arrayValue":
            values = inner.get("values") if isinstance(inner, dict) else None
            return [_value(v, depth + 1) for v in values] if isinstance(values, list) else []
        if key == "kvlistValue":
            values = inner.get("values") if isinstance(inner, dict) else None
            pairs = [p for p in values if isinstance(p, dict)] if isinstance(values, list) else []
            return {str(p.get("key")): _value(p.get("value"), depth + 1) for p in pairs}
        return inner
    return None


def _parsed(value: Any) -> Any:
    """Return text that holds JSON as what it holds; anything else as it is."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            return value
    return value


def _words(value: Any) -> str | None:
    parsed = _parsed(value)
    return text_of(parsed) if isinstance(parsed, (str, dict, list)) else None


def _listed(value: Any) -> list[Any]:
    parsed = _parsed(value)
    if isinstance(parsed, dict):
        inner = parsed.get("messages")
        return inner if isinstance(inner, list) else [parsed]
    return parsed if isinstance(parsed, list) else []


reader = Otel()
