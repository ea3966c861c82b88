"""Reader of the judged-useless study's episodes: question_id, regime, actions, judgments, success.

One JSON object a line; optional model, condition (the arm) and split. METHODS section 1 says what a
missing judgment is: ``unknown``. Made for size: the lines of a block are decoded at once with their
values left as bytes, and an outline is made once for all lines that have the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from ...core.events import Verdict
from ..digest import digest_bytes, mix
from ..episode import REGIMES, Outcome, SearchEpisode, SearchStep
from ..outline import Outline, Outlines, cluster_digest, context_digest, outline_of
from ..skip import Skip
from ..source import Block, Source
from .base import Found
from .lines import DECODE_ERRORS, decode_block, reason_of, records
from .sniffing import first_object_keys, is_array

RECORD = "a judged-useless episode"

_VERDICTS = {"USELESS": Verdict.USELESS, "USEFUL": Verdict.USEFUL}
_MEMORY = 200_000
"""Outlines remembered by their bytes before the memory is emptied."""


class _Row(msgspec.Struct):
    question_id: str | int
    actions: list[str]
    judgments: list[str | None] | None = None
    regime: str | None = None
    success: bool | int | None = None
    model: str | None = None
    condition: str | None = None
    split: str | None = None


_NULL = msgspec.Raw(b"null")


class _RawRow(msgspec.Struct):
    question_id: msgspec.Raw
    actions: msgspec.Raw
    judgments: msgspec.Raw = _NULL
    regime: msgspec.Raw = _NULL
    success: msgspec.Raw = _NULL
    model: msgspec.Raw = _NULL
    condition: msgspec.Raw = _NULL
    split: msgspec.Raw = _NULL


_rows = msgspec.json.Decoder(_Row)
_raw_rows = msgspec.json.Decoder(_RawRow)

_Known = dict[tuple[bytes, ...], tuple[Outline, bytes]]
"""By the bytes of everything but the question: the outline, and the digest of its context."""


class JudgedUseless:
    """Episodes as the study published them."""

    name = "judged-useless"
    splits = True

    def sniff(self, head: bytes, path: str) -> float:
        """Sure of an object with question_id, actions and judgments."""
        if is_array(head):
            return 0.0
        keys = first_object_keys(head)
        if not {"question_id", "actions"} <= keys:
            return 0.0
        return 0.95 if "judgments" in keys else 0.6

    def read(self, source: Source) -> Iterator[Found | Skip]:
        """Yield every line as an episode or a skip."""
        for item in records(source, _rows, RECORD):
            if isinstance(item, Skip):
                yield item
                continue
            line, row = item
            episode = _episode(row)
            yield source.skip(line, episode) if isinstance(episode, str) else (line, episode)

    def outlines(self, source: Source) -> Iterator[Outlines | Skip]:
        """Yield the outlines of the same episodes, a batch for each block of lines."""
        known: _Known = {}
        for block in source.blocks():
            if isinstance(block, Skip):
                yield block
                continue
            if len(known) > _MEMORY:
                known.clear()
            yield from _outlines(source, block, known)


def _outlines(source: Source, block: Block, known: _Known) -> Iterator[Outlines | Skip]:
    rows, numbers, skips = decode_block(source, block, _raw_rows, RECORD, _rows)
    yield from skips
    table: dict[tuple[bytes, ...], int] = {}
    outlines: list[Outline] = []
    contexts: list[bytes] = []
    names: dict[bytes, bytes] = {}
    index: list[int] = []
    digests: list[bytes] = []
    lines: list[int] = []
    for number, row in zip(numbers, rows, strict=True):
        key = (
            bytes(row.actions),
            bytes(row.judgments),
            bytes(row.regime),
            bytes(row.success),
            bytes(row.model),
            bytes(row.condition),
            bytes(row.split),
        )
        name = bytes(row.question_id)
        digest = names.get(name)
        position = table.get(key)
        if digest is None or position is None:
            found = known.get(key)
            digest = _plain_digest(name) if digest is None else digest
            if found is None or digest is None:
                made = _decode(block, number)
                if isinstance(made, str):
                    yield source.skip(number, made)
                    continue
                digest = cluster_digest(made.question_id)
                context = context_digest(made.model, made.arm, made.regime, None, None)
                found = known[key] = (outline_of(made), context)
            names[name] = digest
            if position is None:
                position = table[key] = len(outlines)
                outlines.append(found[0])
                contexts.append(found[1])
        index.append(position)
        digests.append(digest)
        lines.append(number)
    if index:
        positions = np.array(index, np.int32)
        clusters = np.frombuffer(b"".join(digests), "<u8")
        context_of = np.frombuffer(b"".join(contexts), "<u8")[positions]
        numbered = np.array(lines) + source.lines_before
        yield Outlines(outlines, positions, clusters, mix(clusters, context_of), numbered)


def _plain_digest(name: bytes) -> bytes | None:
    """Return the digest of a question id by its JSON bytes; None where it must be decoded."""
    if not name.startswith(b'"') or b"\\" in name or not name.isascii():
        return None
    return digest_bytes(name[1:-1])


def _decode(block: Block, number: int) -> SearchEpisode | str:
    line = block.data.split(b"\n")[number - block.first]
    try:
        return _episode(_rows.decode(line))
    except DECODE_ERRORS as error:
        return reason_of(error, RECORD)


def _episode(row: _Row) -> SearchEpisode | str:
    """Return the episode of a row, or why there is none."""
    if row.success not in (None, 0, 1):
        return f"is not {RECORD}: success is true, false or null; got {row.success}"
    judgments = row.judgments or []
    if len(judgments) > len(row.actions):
        return (
            f"is not {RECORD}: {len(judgments)} judgments for {len(row.actions)} actions; "
            "there is at most one for each action"
        )
    steps = []
    for t, action in enumerate(row.actions, 1):
        if action == "finish":
            steps.append(SearchStep(t, "answer"))
            continue
        judgment = judgments[t - 1] if t <= len(judgments) else None
        verdict = _VERDICTS.get(judgment or "", Verdict.UNKNOWN)
        steps.append(SearchStep(t, action, verdicts={"recorded": verdict}))
    question = str(row.question_id)
    unknown = row.regime is not None and row.regime not in REGIMES
    return SearchEpisode(
        episode_id="/".join(
            part for part in (row.model, row.condition, row.regime, question) if part is not None
        ),
        cluster_id=question,
        question_id=question,
        regime=row.regime,
        model=row.model,
        arm=row.condition,
        labels={} if row.split is None else {"split": row.split},
        outcome=Outcome(success=None if row.success is None else bool(row.success)),
        notes=[f"regime {row.regime!r} is not one of the study's"] if unknown else [],
        steps=steps,
    )


reader = JudgedUseless()
