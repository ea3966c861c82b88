"""Reader of SWE-agent ``.traj`` files: one run a document.

The steps stand in ``trajectory`` (action, observation, thought); older or simpler files have only
``history``, which is a conversation. The instance is named by the file; ``submit`` is the answer.
Whether the instance was resolved is not in the file: give a table of outcomes for that.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from ...core.events import Usage
from ..chat import Message, ToolCall, ToolResult, read_messages, text_of
from ..conversation import digest, episode_of
from ..skip import Skip
from ..source import Source
from .base import Found
from .documents import decoded
from .sniffing import first_object_keys

RECORD = "a SWE-agent trajectory"


class SweAgent:
    """Runs of SWE-agent and EnIGMA."""

    name = "swe-agent"
    splits = False

    def sniff(self, head: bytes, path: str) -> float:
        """Sure of a trajectory beside history, environment or info; less of history alone."""
        keys = first_object_keys(head)
        if "trajectory" in keys and keys & {"history", "environment", "info", "replay_config"}:
            return 0.9
        if "environment" in keys and b'"observation"' in head:
            return 0.7
        named = path.endswith(".traj") or "environment" in keys
        return 0.85 if "history" in keys and named else 0.0

    def read(self, source: Source) -> Iterator[Found | Skip]:
        """Yield the run as an episode or a skip."""
        for pair in decoded(source, RECORD):
            if isinstance(pair, Skip):
                yield pair
                continue
            item, value = pair
            steps = value.get("trajectory") if isinstance(value, dict) else None
            history = value.get("history") if isinstance(value, dict) else None
            spoken = read_messages(history) if isinstance(history, list) else []
            if isinstance(steps, list) and all(isinstance(step, dict) for step in steps):
                messages = [m for step in steps for m in _messages(step)]
            elif spoken:
                messages = spoken
            else:
                yield item.skip(source, f"is not {RECORD}: neither trajectory nor history")
                continue
            asked = next((m.text for m in spoken if m.role == "user" and m.text), None)
            instance = _instance(source.path, value)
            info = value.get("info")
            info = info if isinstance(info, dict) else {}
            status = info.get("exit_status")
            episode = episode_of(
                messages,
                value,
                item.data,
                task=instance,
                run=digest(item.data),
                question=asked,
                reason=status if isinstance(status, str) else None,
                usage=_usage(info.get("model_stats")),
            )
            yield item.line, episode


def _messages(step: dict[str, Any]) -> Iterator[Message]:
    thought, action = step.get("thought"), step.get("action")
    thought = thought if isinstance(thought, str) else None
    if not isinstance(action, str) or not action.strip():
        yield Message("assistant", thought, [], [])
        return
    words = action.strip().split(None, 1)
    arguments = words[1] if len(words) > 1 else None
    yield Message("assistant", thought, [ToolCall(None, words[0], arguments)], [])
    result = text_of(step.get("observation"))
    if result is not None:
        yield Message("tool", None, [], [ToolResult(None, None, result)])


def _instance(path: str, value: dict[str, Any]) -> str:
    given = value.get("instance_id")
    if isinstance(given, str) and given:
        return given
    return PurePath(path).name.removesuffix(".gz").removesuffix(".traj")


def _usage(stats: Any) -> Usage | None:
    """Return what the model cost; SWE-agent writes 0 where it did not count."""
    if not isinstance(stats, dict):
        return None
    counts = [
        value if isinstance(value := stats.get(key), int) and value > 0 else None
        for key in ("api_calls", "tokens_sent", "tokens_received")
    ]
    return None if counts == [None] * 3 else Usage(*counts)


reader = SweAgent()
