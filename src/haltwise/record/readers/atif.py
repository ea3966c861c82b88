"""Reader of ATIF trajectories (``trajectory.json``): one run a document.

A step of the agent carries its tool calls and their observations side by side.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...core.events import Usage
from ..chat import Message, ToolCall, ToolResult, text_of
from ..clock import seconds
from ..conversation import episode_of, first_of, name_of
from ..skip import Skip
from ..source import Source
from .base import Found
from .documents import decoded
from .sniffing import first_object_keys

RECORD = "an ATIF trajectory"

_ROLES = {"agent": "assistant", "user": "user", "system": "system"}


class Atif:
    """The Agent Trajectory Interchange Format, every version."""

    name = "atif"
    splits = False

    def sniff(self, head: bytes, path: str) -> float:
        """Sure of a schema version that begins with ATIF."""
        keys = first_object_keys(head)
        if b"ATIF-v" in head and keys & {"schema_version", "steps", "agent"}:
            return 1.0
        return 0.7 if {"agent", "steps", "session_id"} <= keys else 0.0

    def read(self, source: Source) -> Iterator[Found | Skip]:
        """Yield the run as an episode or a skip."""
        for pair in decoded(source, RECORD):
            if isinstance(pair, Skip):
                yield pair
                continue
            item, value = pair
            steps = value.get("steps") if isinstance(value, dict) else None
            if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
                yield item.skip(source, f"is not {RECORD}: steps is no list of objects")
                continue
            agent = value.get("agent")
            agent = agent if isinstance(agent, dict) else {}
            messages = [_message(step, number) for number, step in enumerate(steps)]
            episode = episode_of(
                messages,
                value,
                item.data,
                run=name_of(first_of(value, ("trajectory_id", "session_id"))),
                model=name_of(agent.get("model_name")),
                usage=_usage(value.get("final_metrics")),
            )
            yield item.line, episode


def _message(step: dict[str, Any], number: int) -> Message:
    given = step.get("tool_calls")
    calls = [
        ToolCall(
            name_of(call.get("tool_call_id")),
            name_of(call.get("function_name")) or "unknown",
            call.get("arguments"),
        )
        for call in (given if isinstance(given, list) else [])
        if isinstance(call, dict)
    ]
    observation = step.get("observation")
    found = observation.get("results") if isinstance(observation, dict) else None
    results = [
        ToolResult(name_of(part.get("source_call_id")), None, text_of(part.get("content")) or "")
        for part in (found if isinstance(found, list) and calls else [])
        if isinstance(part, dict)
    ]
    source = step.get("source")
    role = _ROLES.get(source, "system") if isinstance(source, str) else "system"
    text = text_of(step.get("message")) or name_of(step.get("reasoning_content"))
    return Message(
        role, text or None, calls, results, f"step {number}", seconds(step.get("timestamp"))
    )


def _usage(metrics: Any) -> Usage | None:
    if not isinstance(metrics, dict):
        return None
    counts = [
        value if isinstance(value := metrics.get(key), int) else None
        for key in ("total_prompt_tokens", "total_completion_tokens")
    ]
    return None if counts == [None, None] else Usage(None, *counts)


reader = Atif()
