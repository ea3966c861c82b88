"""Reader of Claude Code session files: one line a piece of a message.

A session is one episode, and so is each sub-agent in it (a side chain); a copy that a resumed
session carries begins with the same line and is a duplicate. Lines that share a
``message.id`` are one reply, and their usage is that reply's: it is counted once. Lines that are no
messages (summaries, snapshots, queue operations) belong to no episode and are counted in a note.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from ...core.events import Usage
from ..chat import Message, read_message
from ..clock import seconds
from ..conversation import add_usage, digest, episode_of, usage_of
from ..episode import SearchEpisode
from ..skip import Skip
from ..source import Source
from .base import Found
from .documents import decoded
from .sniffing import first_object_keys

RECORD = "a line of a Claude Code session"

_KINDS = {"user", "assistant", "system"}
_NOISE = ("<command-", "<local-command-", "<bash-", "Caveat: The messages below")
_INTERRUPTED = "[Request interrupted by user"


@dataclass
class _Session:
    line: int | None
    messages: list[Message] = field(default_factory=list)
    usage: dict[str, Usage] = field(default_factory=dict)
    model: str | None = None
    interrupted: bool = False
    seen: set[str] = field(default_factory=set)
    repeated: int = 0
    first: str | None = None


class ClaudeCode:
    """Session files as they lie in the projects folder."""

    name = "claude-code"
    splits = False

    def sniff(self, head: bytes, path: str) -> float:
        """Sure of lines with sessionId and isSidechain."""
        keys = first_object_keys(head)
        if {"sessionId", "uuid"} <= keys or b'"isSidechain"' in head:
            return 0.95 if b'"sessionId"' in head else 0.0
        if keys & {"messageId", "leafUuid"} or {"operation", "sessionId"} <= keys:
            return 0.9
        return 0.0

    def read(self, source: Source) -> Iterator[Found | Skip]:
        """Yield the skips of bad lines as they come, then every session and side chain."""
        sessions: dict[tuple[str, str | None], _Session] = {}
        other = 0
        lines = 0
        for pair in decoded(source, RECORD):
            if isinstance(pair, Skip):
                yield pair
                continue
            item, value = pair
            lines += 1
            if not isinstance(value, dict):
                yield item.skip(source, f"is not {RECORD}: it is no object")
                continue
            session = value.get("sessionId")
            if value.get("type") not in _KINDS or not isinstance(session, str):
                other += 1
                continue
            chain = None
            if value.get("isSidechain") is True:
                agent = value.get("agentId")
                chain = agent if isinstance(agent, str) else "sidechain"
            known = sessions.setdefault((session, chain), _Session(item.line))
            _take(known, value)
        if not sessions and lines:
            yield source.skip(None, "holds no message of a session, only bookkeeping lines")
        for (session, chain), known in sessions.items():
            yield known.line, _episode(session, chain, known, other)


def _take(session: _Session, value: dict[str, Any]) -> None:
    unique = value.get("uuid")
    if isinstance(unique, str):
        if unique in session.seen:
            session.repeated += 1
            return
        session.seen.add(unique)
        session.first = session.first or unique
    message = value.get("message")
    if not isinstance(message, dict):
        return
    read = read_message({"role": value["type"], **message})
    if read is None:
        return
    reply = message.get("id")
    if read.role == "assistant":
        usage = usage_of(message.get("usage"))
        if usage is not None:
            session.usage[reply if isinstance(reply, str) else str(len(session.usage))] = usage
        model = message.get("model")
        if isinstance(model, str) and not model.startswith("<"):
            session.model = model
    elif read.text is not None and not read.results:
        if read.text.startswith(_INTERRUPTED):
            session.interrupted = True
            return
        if value.get("isMeta") is True or read.text.startswith(_NOISE):
            return
    session.interrupted = False
    session.messages.append(replace(read, time=seconds(value.get("timestamp"))))


def _episode(session: str, chain: str | None, known: _Session, other: int) -> SearchEpisode:
    usage: Usage | None = None
    for part in known.usage.values():
        usage = add_usage(usage, part)
    notes = []
    if chain is not None:
        notes.append(f"side chain {chain} of session {session}")
    if other:
        notes.append(f"{other} line(s) of the file are no messages")
    if known.repeated:
        notes.append(f"{known.repeated} line(s) came twice")
    run = "/".join(part for part in (session, chain, known.first) if part)
    return episode_of(
        known.messages,
        {},
        run.encode(),
        run=run,
        model=known.model,
        reason="interrupted by the user" if known.interrupted else None,
        usage=usage,
        notes=notes,
        censored=known.interrupted or None,
        task=None if any(m.role == "user" and m.text for m in known.messages) else digest(run),
    )


reader = ClaudeCode()
