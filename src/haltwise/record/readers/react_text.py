"""Reader of ReAct text logs: Question, then Thought / Action / Observation, numbered or not.

Reflexion's logs say more, and it is used: the trial (a label), the section (correct, incorrect,
halted) and "Answer is CORRECT". The position of an episode within its question is its seed. A text
without a question is one episode.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec
from msgspec.structs import replace

from ..chat import Message, ToolResult, written_action
from ..conversation import digest
from ..episode import Outcome, SearchEpisode
from ..skip import Skip
from ..source import Source
from ..turns import loop_of
from .base import Found

_FIELD = re.compile(
    rb"(Question|Claim|Thought|Action Input|Action|Observation|Final Answer|Correct answer)"
    rb"(?: \d+)? ?:[ \t]*",
)
_FIRST = frozenset(b"QCTAOFB-")
_TRIAL = re.compile(rb"BEGIN TRIAL (\d{1,9})")
_SECTION = re.compile(rb"-+ BEGIN (CORRECT|INCORRECT|HALTED) AGENTS")

_QUESTION, _THOUGHT, _ACTION, _RESULT = b"Question", b"Thought", b"Action", b"Observation"


@dataclass
class _Log:
    """One episode while its lines come in."""

    line: int
    trial: str | None
    section: str | None
    fields: list[tuple[bytes, list[bytes]]] = field(default_factory=list)


class ReactText:
    """Logs of text agents."""

    name = "react-text"
    splits = False

    def sniff(self, head: bytes, path: str) -> float:
        """Sure of a text with thoughts, actions and observations at the beginning of lines."""
        if head.lstrip()[:1] in (b"{", b"["):
            return 0.0
        found = {m.group(1) for line in head.splitlines() if (m := _FIELD.match(line.lstrip()))}
        if {_ACTION, _RESULT} <= found or {_THOUGHT, _ACTION} <= found:
            return 0.9
        return 0.0

    def read(self, source: Source) -> Iterator[Found | Skip]:
        """Yield every question of the log as an episode."""
        positions: Counter[str] = Counter()
        for log in _logs(source):
            if isinstance(log, Skip):
                yield log
            else:
                yield log.line, _episode(log, positions)


def _logs(source: Source) -> Iterator[_Log | Skip]:
    log: _Log | None = None
    trial: str | None = None
    section: str | None = None
    fresh = True
    for block in source.blocks():
        if isinstance(block, Skip):
            yield block
            continue
        for number, line in enumerate(block.data.split(b"\n"), block.first):
            if line and line[0] in _FIRST:
                if (found := _FIELD.match(line)) is not None:
                    name = found.group(1)
                    rest = line[found.end() :]
                    opens = name in (_QUESTION, b"Claim")
                    if log is None or (opens and fresh):
                        if log is not None:
                            yield log
                        log = _Log(number, trial, section)
                    elif opens:
                        log.fields[-1][1].append(line)
                        continue
                    log.fields.append((name, [rest]))
                    fresh = False
                    continue
                if (found := _TRIAL.match(line)) is not None:
                    trial = found.group(1).decode()
                elif (found := _SECTION.match(line)) is not None:
                    section = found.group(1).decode().lower()
                    if log is not None:
                        yield log
                        log = None
                    continue
            fresh = not line or line.isspace() or line.startswith((b"#", b"-", b"="))
            if log is not None and not (fresh and line):
                log.fields[-1][1].append(line)
    if log is not None:
        yield log


def _episode(log: _Log, positions: Counter[str]) -> SearchEpisode:
    replaced = False
    question: str | None = None
    truth: bool | None = None
    final: str | None = None
    messages: list[Message] = []
    thought: str | None = None
    for name, lines in log.fields:
        raw = b"\n".join(lines).strip()
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            text, replaced = raw.decode(errors="replace"), True
        if name in (_QUESTION, b"Claim") and question is None:
            question = text
            messages.append(Message("user", text, [], []))
        elif name == _THOUGHT:
            thought = text
        elif name == _ACTION:
            call = written_action(text)
            messages.append(Message("assistant", thought, [call], []))
            thought = None
        elif name == b"Action Input" and messages and messages[-1].calls:
            call = messages[-1].calls[0]
            messages[-1] = replace(messages[-1], calls=[replace(call, arguments=text)])
        elif name == _RESULT:
            messages.append(Message("tool", None, [], [ToolResult(None, None, text)]))
            if text.startswith("Answer is "):
                truth = text.startswith("Answer is CORRECT")
        elif name == b"Final Answer":
            final = text
    if final is not None:
        messages.append(Message("assistant", final, [], []))
    loop = loop_of(messages)
    if truth is None and log.section is not None:
        truth = log.section == "correct"
    named = digest(question or "")
    positions[named] += 1
    notes = list(loop.notes)
    if replaced:
        notes.append("bytes that are not UTF-8 were replaced")
    halted = log.section == "halted" and loop.answer is None
    episode = SearchEpisode(
        episode_id=f"{named}/{positions[named]}",
        cluster_id=named,
        question_id=named,
        question=question,
        seed=positions[named],
        labels={} if log.trial is None else {"trial": log.trial},
        outcome=Outcome(truth, loop.answer, halted or loop.censored, log.section),
        notes=notes,
        steps=loop.steps,
    )
    return msgspec.structs.replace(episode, run=digest(repr(messages))) if not question else episode


reader = ReactText()
