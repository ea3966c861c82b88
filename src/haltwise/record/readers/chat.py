"""Reader of OpenAI chat messages and Responses items: a conversation a record.

JSON lines, one array of records, one record, or one bare list of messages. The conversation stands
under ``messages``, ``traj``, ``conversation``, ``trajectory`` or ``input`` (Responses, with
``output`` behind it); a batch request or response has it in ``body``. What stands beside it
(task_id, trial, reward, model, usage) becomes the episode's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..chat import Message, read_messages
from ..conversation import episode_of, usage_of
from ..skip import Skip
from ..source import Source
from .base import Found
from .documents import batches, decoded
from .sniffing import first_object_keys

RECORD = "a chat conversation"

KEYS = ("messages", "traj", "conversation", "conversations", "trajectory")


class Chat:
    """OpenAI chat messages, Responses items, and what looks like them."""

    name = "chat"
    splits = False

    def sniff(self, head: bytes, path: str) -> float:
        """Fairly sure of messages under one of their names, less of a bare list of messages."""
        keys = first_object_keys(head)
        if keys & {"messages", "traj"}:
            return 0.7
        if keys & set(KEYS) or {"custom_id", "response"} <= keys or {"custom_id", "body"} <= keys:
            return 0.5
        if {"input", "output"} <= keys or {"object", "output"} <= keys:
            return 0.4
        if {"role", "content"} <= keys:
            return 0.4
        return 0.0

    def read(self, source: Source) -> Iterator[Found | Skip]:
        """Yield every record as an episode or a skip."""
        for batch in batches(decoded(source, RECORD)):
            told = [
                (pair, "" if isinstance(pair, Skip) else conversation_in(pair[1])) for pair in batch
            ]
            for pair, found in told:
                if isinstance(pair, Skip):
                    yield pair
                elif isinstance(found, str):
                    yield pair[0].skip(source, found)
                else:
                    item = pair[0]
                    record, messages = found
                    usage = usage_of(record.get("usage"))
                    yield item.line, episode_of(messages, record, item.data, usage=usage)


def conversation_in(value: Any) -> tuple[dict[str, Any], list[Message]] | str:
    """Return what stands around a conversation, and its messages; or why there is none."""
    record: dict[str, Any] = {}
    listed: list[Any] | None
    if isinstance(value, list):
        listed = value
    elif isinstance(value, dict):
        record, listed = value, _listed(value)
    else:
        return f"is not {RECORD}: it is a {type(value).__name__}"
    if listed is None:
        return f"is not {RECORD}: it has none of {', '.join(KEYS)}, or no list there"
    messages = read_messages(listed)
    if listed and not messages:
        return f"is not {RECORD}: nothing in its list has a role"
    if not listed:
        return f"is not {RECORD}: its list of messages is empty"
    return record, messages


def _listed(record: dict[str, Any]) -> list[Any] | None:
    for key in KEYS:
        if isinstance(record.get(key), list):
            listed: list[Any] = record[key]
            return listed + _reply(record) if key == "messages" else listed
    for key in ("body", "request"):
        inner = record.get(key)
        if isinstance(inner, dict) and isinstance(inner.get("messages"), list):
            return [*inner["messages"], *_reply(record)]
    given, output = record.get("input"), record.get("output")
    if isinstance(output, list) or isinstance(given, list):
        before = given if isinstance(given, list) else []
        if isinstance(given, str):
            before = [{"role": "user", "content": given}]
        return before + (output if isinstance(output, list) else [])
    return _reply(record) or None


def _reply(record: dict[str, Any]) -> list[Any]:
    """Return the messages of a response that stands beside the request."""
    response = record.get("response", record)
    if isinstance(response, dict) and isinstance(response.get("body"), dict):
        response = response["body"]
    if not isinstance(response, dict):
        return []
    choices = response.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        return [choices[0].get("message")]
    if response is not record and isinstance(response.get("content"), list):
        return [{"role": "assistant", "content": response["content"]}]
    return []


reader = Chat()
