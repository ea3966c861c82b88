"""Reader of LangSmith runs: exported lists and lines of runs, and the SDK's own payloads.

A payload has ``post`` (begun) and ``patch`` (ended) halves of the same runs. A trace is an episode.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...core.events import Usage
from ..chat import Message, ToolCall, read_messages, text_of
from ..clock import seconds
from ..conversation import first_of, name_of, success_of, usage_of
from ..skip import Skip
from ..source import Source
from ..spans import Span, Trace
from .base import Found
from .documents import decoded
from .otel import episode_of_trace
from .sniffing import first_object_keys

RECORD = "a LangSmith run"


class LangSmith:
    """Runs, as exported or as sent."""

    name = "langsmith"
    splits = False

    def sniff(self, head: bytes, path: str) -> float:
        """Sure of runs with a run_type."""
        keys = first_object_keys(head)
        if keys & {"post", "patch"} and b'"run_type"' in head:
            return 0.95
        return 0.9 if "run_type" in keys else 0.0

    def read(self, source: Source) -> Iterator[Found | Skip]:
        """Yield the skips of what is no run, then every trace."""
        runs: dict[str, dict[str, Any]] = {}
        lines: dict[str, int | None] = {}
        for pair in decoded(source, RECORD):
            if isinstance(pair, Skip):
                yield pair
                continue
            item, value = pair
            found = False
            for run in _runs(value):
                name = name_of(run.get("id"))
                if name is None:
                    continue
                found = True
                lines.setdefault(name, item.line)
                known = runs.setdefault(name, {})
                known.update({key: given for key, given in run.items() if given not in (None, {})})
            if not found:
                yield item.skip(source, f"is not {RECORD}: it has no id")
        traces: dict[str, Trace] = {}
        for name, run in runs.items():
            trace = name_of(run.get("trace_id")) or name_of(run.get("parent_run_id")) or name
            _take(traces.setdefault(trace, Trace(lines[name])), run)
        for name, made in traces.items():
            yield made.line, episode_of_trace(name, made)


def _runs(value: Any) -> Iterator[dict[str, Any]]:
    if not isinstance(value, dict):
        return
    nested = False
    for key in ("post", "patch", "runs", "child_runs"):
        inner = value.get(key)
        if isinstance(inner, list):
            nested = True
            for run in inner:
                yield from _runs(run)
    if not nested or "run_type" in value:
        yield value


def _take(trace: Trace, run: dict[str, Any]) -> None:
    kind = run.get("run_type")
    inputs = run.get("inputs") if isinstance(run.get("inputs"), dict) else {}
    outputs = run.get("outputs") if isinstance(run.get("outputs"), dict) else {}
    assert isinstance(inputs, dict) and isinstance(outputs, dict)
    made = Span("other", seconds(run.get("start_time")), seconds(run.get("end_time")))
    if kind in ("llm", "chat_model"):
        made.kind = "llm"
        made.inputs = _history(inputs)
        made.outputs = _reply(outputs)
        made.model = _model(run, inputs)
        made.usage = _usage(run, outputs)
    elif kind in ("tool", "retriever"):
        made.kind = "tool"
        given = first_of(inputs, ("input", "query")) if len(inputs) == 1 else inputs
        made.call = ToolCall(
            name_of(outputs.get("tool_call_id")), name_of(run.get("name")) or "unknown", given
        )
        if outputs:
            made.result = text_of(first_of(outputs, ("output", "documents", "result")) or outputs)
        elif isinstance(run.get("error"), str):
            made.result = f"Error: {run['error']}"
    elif run.get("parent_run_id") is None:
        trace.question = trace.question or text_of(first_of(inputs, ("input", "question")))
        trace.answer = trace.answer or text_of(first_of(outputs, ("output", "answer")))
        stats = run.get("feedback_stats")
        for score in stats.values() if isinstance(stats, dict) else ():
            if isinstance(score, dict) and trace.success is None:
                trace.success = success_of(score.get("avg"))
    trace.spans.append(made)


def _history(inputs: dict[str, Any]) -> list[Message]:
    messages = inputs.get("messages")
    if isinstance(messages, list) and messages and isinstance(messages[0], list):
        messages = messages[0]
    return read_messages(messages) if isinstance(messages, list) else []


def _reply(outputs: dict[str, Any]) -> list[Message]:
    choices = outputs.get("choices")
    if isinstance(choices, list):
        return read_messages(c.get("message") for c in choices[:1] if isinstance(c, dict))
    found = outputs.get("generations")
    while isinstance(found, list) and found:
        found = found[0]
    if isinstance(found, dict):
        return read_messages([found.get("message")])
    for key in ("message", "output", "messages"):
        inner = outputs.get(key)
        if isinstance(inner, (dict, list)):
            return read_messages(inner[-1:] if isinstance(inner, list) else [inner])
    return read_messages([outputs]) if "role" in outputs else []


def _model(run: dict[str, Any], inputs: dict[str, Any]) -> str | None:
    extra = run.get("extra")
    metadata = extra.get("metadata") if isinstance(extra, dict) else None
    named = metadata.get("ls_model_name") if isinstance(metadata, dict) else None
    return name_of(named) or name_of(inputs.get("model"))


def _usage(run: dict[str, Any], outputs: dict[str, Any]) -> Usage | None:
    given = first_of(outputs, ("usage_metadata", "usage"))
    made = usage_of(given) or usage_of(run)
    return None if made is None else Usage(1, made.input_tokens, made.output_tokens)


reader = LangSmith()
