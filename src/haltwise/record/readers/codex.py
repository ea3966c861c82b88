"""Reader of Codex rollout files: one session a file, one event a line.

``response_item`` payloads are Responses items; ``token_count`` is cumulative, so the last one is
the session's. Old files hold the items bare, behind a first line with the session's id.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from ...core.events import Usage
from ..chat import Message, ToolResult, read_message
from ..clock import seconds
from ..conversation import episode_of, name_of, usage_of
from ..skip import Skip
from ..source import Source
from .base import Found
from .documents import decoded
from .sniffing import first_object_keys

RECORD = "a line of a Codex rollout"

_NOISE = ("<environment_context>", "<user_instructions>", "# AGENTS.md", "<permissions")
_KINDS = {"session_meta", "response_item", "event_msg", "turn_context", "compacted"}


class Codex:
    """Rollouts as they lie in the sessions folder."""

    name = "codex"
    splits = False

    def sniff(self, head: bytes, path: str) -> float:
        """Sure of lines with a type and a payload; fairly sure of the old layout."""
        keys = first_object_keys(head)
        if {"type", "payload"} <= keys and any(kind.encode() in head for kind in _KINDS):
            return 0.95
        old = {"id", "timestamp"} <= keys and b'"call_id"' in head
        return 0.6 if old and "sessionId" not in keys else 0.0

    def read(self, source: Source) -> Iterator[Found | Skip]:
        """Yield the skips of bad lines, then the session."""
        messages: list[Message] = []
        session: str | None = None
        model: str | None = None
        usage: Usage | None = None
        first: int | None = None
        aborted = False
        for pair in decoded(source, RECORD):
            if isinstance(pair, Skip):
                yield pair
                continue
            item, value = pair
            if not isinstance(value, dict):
                yield item.skip(source, f"is not {RECORD}: it is no object")
                continue
            first = item.line if first is None else first
            kind, payload = value.get("type"), value.get("payload")
            if not isinstance(payload, dict):
                kind, payload = "response_item", value
                if "instructions" in value or ("id" in value and "type" not in value):
                    kind = "session_meta"
            if kind == "session_meta":
                session = session or name_of(payload.get("id"))
            elif kind == "turn_context":
                model = name_of(payload.get("model")) or model
            elif kind == "event_msg":
                if payload.get("type") == "token_count" and isinstance(payload.get("info"), dict):
                    usage = usage_of(payload["info"].get("total_token_usage")) or usage
                aborted = payload.get("type") == "turn_aborted"
            elif kind == "response_item":
                aborted = False
                if (message := _message(payload, value.get("timestamp"))) is not None:
                    messages.append(message)
        if first is None:
            return
        yield (
            first,
            episode_of(
                messages,
                {},
                (session or repr(messages)).encode("utf-8", "surrogatepass"),
                run=session,
                model=model,
                usage=usage,
                reason="aborted by the user" if aborted else None,
                censored=aborted or None,
            ),
        )


def _message(payload: dict[str, Any], stamp: Any) -> Message | None:
    message = read_message(payload)
    if message is None:
        return None
    if message.role == "user" and (message.text or "").lstrip().startswith(_NOISE):
        return None
    results = [_output(result) for result in message.results]
    return replace(message, results=results, time=seconds(stamp))


def _output(result: ToolResult) -> ToolResult:
    """Return a result without the wrapping in which Codex stores it."""
    if not result.text.startswith('{"output":'):
        return result
    try:
        inner = msgspec.json.decode(result.text)
    except (msgspec.DecodeError, RecursionError):
        return result
    output = inner.get("output")
    return replace(result, text=output) if isinstance(output, str) else result


reader = Codex()
