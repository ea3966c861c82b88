"""Reader of verifier-vote tables: one item a line with its votes and, if known, its truth.

``{"id": ..., "verdicts": {"judge": "SUPPORTS", ...}, "expected": "SUPPORTS"}``: a vote accepts when
it says what makes an item valid (SUPPORTS, true, valid, accept, pass, yes, correct, 1). Votes that
compare A with B in swapped order (``swapped``: a list of booleans) are flipped before use. An item
is a repair loop of one round. Items with gold "not enough info" are left out, by name, where every
verifier always agreed on them: then it had been shown no evidence.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from msgspec.structs import replace

from ..conversation import digest, first_of, name_of
from ..episode import Outcome, RepairEpisode, RepairStep
from ..skip import Skip
from ..source import Source
from .base import Found
from .documents import Item, decoded
from .sniffing import first_object_keys

RECORD = "a row of votes"

_ACCEPT = {"supports", "supported", "true", "valid", "accept", "accepted", "pass", "passed"}
_ACCEPT |= {"yes", "correct", "right", "1", "a"}
_REJECT = {"refutes", "refuted", "false", "invalid", "reject", "rejected", "fail", "failed"}
_REJECT |= {"no", "incorrect", "wrong", "0", "b", "not_enough_info", "not enough info"}
_UNDECIDED = {"not_enough_info", "not enough info", "nei"}
_VOTES = ("verdicts", "votes", "judgments", "judgements")
_TRUTH = ("expected", "valid", "label", "gold", "truth", "is_correct")
_HELD = 100_000
_ENOUGH = 20
"""Undecided items from which on constant agreement is no accident."""


class Votes:
    """Tables of votes, wide: all votes of an item in its row."""

    name = "votes"
    splits = False

    def sniff(self, head: bytes, path: str) -> float:
        """Fairly sure of verdicts beside an expected label."""
        keys = first_object_keys(head)
        if "rounds" in keys or "actions" in keys:
            return 0.0
        return 0.8 if keys & set(_VOTES) and keys & set(_TRUTH) else 0.0

    def read(self, source: Source) -> Iterator[Found | Skip]:
        """Yield every row as an episode or a skip, undecided ones last."""
        held: list[tuple[Item, RepairEpisode]] = []
        unanimous = True
        for pair in decoded(source, RECORD):
            if isinstance(pair, Skip):
                yield pair
                continue
            item, value = pair
            made = _episode(value, item)
            if isinstance(made, str):
                yield item.skip(source, made)
            elif not _undecided(value):
                yield item.line, made
            else:
                held.append((replace(item, data=b""), made))
                unanimous = unanimous and all(_said(v) in _UNDECIDED for v in _listed(value))
                if len(held) > _HELD:
                    unanimous = False
                    yield from ((kept.line, episode) for kept, episode in held)
                    held.clear()
        for item, episode in held:
            if unanimous and len(held) >= _ENOUGH:
                yield item.skip(
                    source,
                    "has no truth to vote on: its gold is not-enough-info and every verifier "
                    "always said so, having been shown no evidence",
                )
            else:
                yield item.line, episode


def _episode(value: Any, item: Item) -> RepairEpisode | str:
    if not isinstance(value, dict):
        return f"is not {RECORD}: it is no object"
    votes = _listed(value)
    if votes is None:
        return f"is not {RECORD}: none of {', '.join(_VOTES)} holds votes"
    swapped = value.get("swapped")
    flips = swapped if isinstance(swapped, list) else [bool(swapped)] * len(votes)
    if len(flips) != len(votes):
        return f"is not {RECORD}: {len(flips)} entries in swapped for {len(votes)} votes"
    accepts = given = 0
    for vote, flip in zip(votes, flips, strict=True):
        if vote is None:
            continue
        accepted = _accepted(vote)
        if accepted is None:
            return f"is not {RECORD}: the vote {str(vote)[:40]!r} neither accepts nor rejects"
        given += 1
        accepts += accepted is not (flip is True)
    truth = first_of(value, _TRUTH)
    valid = None if truth is None else _accepted(truth)
    if truth is not None and valid is None:
        return f"is not {RECORD}: the label {str(truth)[:40]!r} is neither valid nor invalid"
    run = digest(item.data)
    name = name_of(value.get("task_id", value.get("id"))) or run
    claim = value.get("claim", value.get("question"))
    text = claim if isinstance(claim, str) else None
    return RepairEpisode(
        episode_id=name,
        cluster_id=name,
        question_id=name,
        question=text,
        run=run,
        outcome=Outcome(success=valid),
        steps=[RepairStep(0, None, accepts if given else None, given, valid)],
    )


def _listed(value: dict[str, Any]) -> Any:
    for key in _VOTES:
        votes = value.get(key)
        if isinstance(votes, dict):
            return list(votes.values())
        if isinstance(votes, list):
            return votes
    return None


@lru_cache(maxsize=1024)
def _word(value: str | float) -> str:
    return value.strip().lower() if isinstance(value, str) else f"{value:g}"


def _said(value: Any) -> str:
    return _word(value) if isinstance(value, (str, int, float)) else ""


_ACCEPTED = {**dict.fromkeys(_ACCEPT, True), **dict.fromkeys(_REJECT, False)}


def _accepted(value: Any) -> bool | None:
    return _ACCEPTED.get(_said(value))


def _undecided(value: dict[str, Any]) -> bool:
    return _said(first_of(value, _TRUTH)) in _UNDECIDED


reader = Votes()
