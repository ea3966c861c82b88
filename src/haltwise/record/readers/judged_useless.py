"""Reader of the judged-useless study's episodes: question_id, regime, actions, judgments, success.

One JSON object a line; optional model, condition (the arm) and split. METHODS section 1 says what a
missing judgment is: ``unknown``, as is any word but useless and useful, whose case does not matter.
Made for size: the lines of a block are decoded at once with their values left as bytes, and an
outline is made once for all lines that have the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from ...core.events import Verdict
from ..digest import digest_bytes, digest_many, mix
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

_HEAD = re.compile(
    rb'^[ \t\r]*\{[ \t\r]*"question_id"[ \t\r]*:[ \t\r]*"([\x20\x21\x23-\x5b\x5d-\x7e]*)$',
    re.MULTILINE,
)
"""A line up to the end of its question id, if that comes first and is plain ASCII."""


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
            made = _repeated(source, block, known)
            if made is not None:
                yield made
            else:
                yield from _outlines(source, block, known)


def _repeated(source: Source, block: Block, known: _Known) -> Outlines | None:
    """Make the outlines of a block whose lines all begin with the question id.

    Each line is cut in two behind the id, and both halves are numbered in one pass over the bytes:
    only distinct halves are looked at in Python (ten times faster than a decoded object a line).
    What follows the id means the same behind every id, as long as it names no second one.

    Returns:
        The outlines, or None if any line is not as described, or not an episode.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    data = block.data
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")).astype(np.int32) + 1
    offsets = np.concatenate([np.zeros(1, np.int32), ends])
    if offsets[-1] != len(data):
        offsets = np.append(offsets, np.int32(len(data)))
    buffer = pa.py_buffer(data)
    count = len(offsets) - 1
    lines = pa.Array.from_buffers(pa.binary(), count, [None, pa.py_buffer(offsets), buffer])
    cuts = _numbers(pc.find_substring(lines, b'",'))
    if cuts.min() < 0:
        return None
    halves = np.empty(2 * count + 1, np.int32)
    halves[0::2] = offsets
    halves[1::2] = offsets[:-1] + cuts
    cut = pa.Array.from_buffers(pa.binary(), 2 * count, [None, pa.py_buffer(halves), buffer])
    encoded = cut.dictionary_encode()
    codes = _numbers(encoded.indices)
    values = encoded.dictionary.to_pylist()

    heads = np.unique(codes[0::2])
    names = _HEAD.findall(b"\n".join([values[head] for head in heads.tolist()]))
    if len(names) != len(heads):
        return None
    digests = np.zeros(len(values), np.uint64)
    digests[heads] = digest_many(names)
    table: list[Outline] = []
    contexts: list[bytes] = []
    position = np.zeros(len(values), np.int32)
    rests, first = np.unique(codes[1::2], return_index=True)
    for code, line in zip(rests.tolist(), first.tolist(), strict=True):
        rest = values[code]
        found = known.get((rest,))
        if found is None:
            if b"\\" in rest or b"question_id" in rest:
                return None
            made = _decode(values[codes[2 * line]] + rest)
            if isinstance(made, str):
                return None
            context = context_digest(made.model, made.arm, made.regime, None, None)
            found = known[(rest,)] = (outline_of(made), context)
        position[code] = len(table)
        table.append(found[0])
        contexts.append(found[1])
    index = position[codes[1::2]]
    clusters = digests[codes[0::2]]
    context_of = np.frombuffer(b"".join(contexts), "<u8")[index]
    numbers = np.arange(block.first, block.first + count) + source.lines_before
    return Outlines(table, index, clusters, mix(clusters, context_of), numbers)


def _numbers(array: Any) -> NDArray[np.int32]:
    """Return 32-bit numbers without gaps as they lie; `to_numpy` would import pandas: 0.5 s."""
    return np.frombuffer(array.buffers()[1], np.int32, count=len(array))


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
                made = _decode(block.data.split(b"\n")[number - block.first])
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


def _decode(line: bytes) -> SearchEpisode | str:
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
        verdict = _VERDICTS.get((judgment or "").upper(), Verdict.UNKNOWN)
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
