"""Reader of repair loops that people write by hand: a task and its rounds of votes.

``{"task_id": ..., "rounds": [{"accepts": 5, "votes": 8, "valid": true|false|null}, ...]}``, one a
line; a round may carry ``candidate``, the loop ``regime``, ``gated``, ``model`` and ``seed``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from difflib import get_close_matches

import msgspec

from ..digest import digest_bytes
from ..episode import Outcome, RepairEpisode, RepairStep
from ..jsonl import votes_problem
from ..skip import Skip
from ..source import Source
from .base import Found
from .lines import records
from .sniffing import first_object_keys, is_array

RECORD = "a repair loop"


class _Round(msgspec.Struct, forbid_unknown_fields=True):
    accepts: int | None = None
    votes: int | None = None
    valid: bool | None = None
    candidate: str | None = None


class _Loop(msgspec.Struct):
    task_id: str | int
    rounds: list[_Round]
    regime: str | None = None
    gated: bool | None = None
    model: str | None = None
    seed: int | None = None


_loops = msgspec.json.Decoder(_Loop)


class RepairJsonl:
    """One verify-repair loop a line."""

    name = "repair"
    splits = True

    def sniff(self, head: bytes, path: str) -> float:
        """Sure of an object with task_id and rounds."""
        return (
            0.95 if {"task_id", "rounds"} <= first_object_keys(head) and not is_array(head) else 0
        )

    def read(self, source: Source) -> Iterator[Found | Skip]:
        """Yield every line as an episode or a skip."""
        for item in records(source, _loops, RECORD):
            if isinstance(item, Skip):
                yield replace(item, reason=_named(item.reason))
                continue
            line, loop = item
            problem = _problem(loop)
            yield (line, _episode(loop)) if problem is None else source.skip(line, problem)


_UNKNOWN = re.compile(r"Object contains unknown field `(.*)` - at `\$\.rounds\[")


def _named(reason: str) -> str:
    """Return a decoder's reason; where a round has an unknown key, with the keys that are known."""
    found = _UNKNOWN.search(reason)
    if found is None:
        return reason
    key = found.group(1)
    near = get_close_matches(key, _Round.__struct_fields__, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    known = ", ".join(_Round.__struct_fields__)
    return f"is not {RECORD}: a round has an unknown key {key!r}{hint} (known: {known})"


def _problem(loop: _Loop) -> str | None:
    if not loop.rounds:
        return f"is not {RECORD}: rounds is empty; the initial plan is round 0"
    for number, part in enumerate(loop.rounds):
        if problem := votes_problem(part.accepts, part.votes):
            return f"is not {RECORD}: round {number}: {problem}"
        if part.votes and part.accepts is None:
            return f"is not {RECORD}: round {number}: votes is {part.votes}, but accepts is missing"
    return None


def _episode(loop: _Loop) -> RepairEpisode:
    task = str(loop.task_id)
    run = None if loop.seed is not None else digest_bytes(msgspec.json.encode(loop)).hex()
    return RepairEpisode(
        episode_id=f"{task}/{run if run is not None else loop.seed}",
        cluster_id=task,
        question_id=task,
        regime=loop.regime,
        model=loop.model,
        seed=loop.seed,
        run=run,
        gated=loop.gated,
        outcome=Outcome(success=loop.rounds[-1].valid),
        steps=[
            RepairStep(k, part.candidate, part.accepts, part.votes, part.valid)
            for k, part in enumerate(loop.rounds)
        ],
    )


reader = RepairJsonl()
