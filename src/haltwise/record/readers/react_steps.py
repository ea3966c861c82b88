"""Reader of ReAct step lists: a record with ``steps`` of thought, action and observation.

The question stands under ``question`` or ``claim``; the outcome under ``em``, ``reward``,
``success`` or another of their names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from ..chat import Message, ToolCall, ToolResult, text_of, written_action
from ..conversation import TASK, episode_of, first_of, name_of
from ..skip import Skip
from ..source import Source
from .base import Found
from .documents import batches, decoded
from .sniffing import first_object_keys

RECORD = "a list of ReAct steps"

_NONE: list[Any] = []
_QUESTION = ("question", "claim", "task", "query")
_THOUGHT = ("thought", "thoughts", "reasoning")
_RESULT = ("observation", "result", "tool_output", "output")
_IDS = (*TASK, "fever_id", "question_idx", "idx", "id", "_id")


class ReactSteps:
    """Thought, action, observation, as JSON."""

    name = "react-steps"
    splits = False

    def sniff(self, head: bytes, path: str) -> float:
        """Fairly sure of an object with steps that is not one of ours."""
        keys = first_object_keys(head)
        if "steps" not in keys or {"kind", "episode_id"} <= keys or "schema_version" in keys:
            return 0.0
        return 0.6 if b'"observation"' in head and b'"action"' in head else 0.2

    def read(self, source: Source) -> Iterator[Found | Skip]:
        """Yield every record as an episode or a skip."""
        for batch in batches(decoded(source, RECORD)):
            told = [(pair, None if isinstance(pair, Skip) else _told(pair[1])) for pair in batch]
            for pair, messages in told:
                if isinstance(pair, Skip):
                    yield pair
                    continue
                item, value = pair
                if messages is None:
                    yield item.skip(source, f"is not {RECORD}: steps is no list of objects")
                    continue
                question = first_of(value, _QUESTION)
                episode = episode_of(
                    messages,
                    value,
                    item.data,
                    task=name_of(first_of(value, _IDS)),
                    question=question if isinstance(question, str) else None,
                )
                yield item.line, episode


def _told(value: Any) -> list[Message] | None:
    return _messages(value.get("steps")) if isinstance(value, dict) else None


def _messages(steps: Any) -> list[Message] | None:
    """Return the messages that ``steps`` stand for; None where it is no list of objects."""
    if not isinstance(steps, list):
        return None
    messages: list[Message] = []
    for step in steps:
        if not isinstance(step, dict):
            return None
        thought = step["thought"] if "thought" in step else first_of(step, _THOUGHT)
        thought = thought if isinstance(thought, str) else None
        call = _call(step.get("action"), step)
        if call is None:
            messages.append(Message("assistant", thought, _NONE, _NONE))
            continue
        given = step["observation"] if "observation" in step else first_of(step, _RESULT)
        result = given if isinstance(given, str) else text_of(given)
        results = _NONE if result is None else [ToolResult(None, None, result)]
        messages.append(Message("assistant", thought, [call], results))
    return messages


def _call(action: Any, step: dict[str, Any]) -> ToolCall | None:
    if isinstance(action, str) and (written := action.strip()):
        call = written_action(written)
    elif isinstance(action, dict):
        name = first_of(action, ("name", "tool", "action"))
        call = ToolCall(
            None,
            name if isinstance(name, str) and name else "unknown",
            first_of(action, ("arguments", "args", "input", "action_input")),
        )
    else:
        return None
    if call.arguments is None and step.get("action_input") is not None:
        return replace(call, arguments=step["action_input"])
    return call


reader = ReactSteps()
