"""What came of one part of the input, and how it is kept for a run that goes on after a crash.

A part's file holds everything that the part contributes to a tally, so that reading it back is
reading the part. Files are written atomically. Ignorant of how parts are read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np

from ..record.jsonl import atomic
from ..record.outcomes import Key
from ..record.outline import Outline, Outlines
from ..record.skip import Skip


@dataclass(frozen=True)
class Part:
    """The episodes of a part, and what gave none."""

    outlines: list[Outlines] = field(default_factory=list)
    """Batches of episodes."""
    skips: list[Skip] = field(default_factory=list)
    """Records that gave no episode."""
    used: list[Key] = field(default_factory=list)
    """Rows of the outcome table that an episode of the part asked for."""

    @classmethod
    def of(cls, items: Iterable[Outlines | Skip], used: Iterable[Key] = ()) -> Part:
        """Return what a reader yielded, as one batch."""
        table: dict[Outline, int] = {}
        batches: list[Outlines] = []
        skips: list[Skip] = []
        for item in items:
            if isinstance(item, Skip):
                skips.append(item)
                continue
            places = [table.setdefault(outline, len(table)) for outline in item.table]
            index = np.array(places, np.int32)[item.index]
            batches.append(Outlines([], index, item.clusters, item.identities, item.lines))
        if not batches:
            return cls([], skips, list(used))
        whole = Outlines(
            list(table),
            np.concatenate([batch.index for batch in batches]),
            np.concatenate([batch.clusters for batch in batches]),
            np.concatenate([batch.identities for batch in batches]),
            np.concatenate([batch.lines for batch in batches]),
        )
        return cls([whole], skips, list(used))

    def keep(self, path: Path) -> None:
        """Write it to ``path``, whole or not at all."""
        batches = [
            _Batch(
                batch.table,
                batch.index.astype("<i4").tobytes(),
                batch.clusters.astype("<u8").tobytes(),
                batch.identities.astype("<u8").tobytes(),
                batch.lines.astype("<i8").tobytes(),
            )
            for batch in self.outlines
        ]
        with atomic(path) as file:
            file.write(msgspec.msgpack.encode(_Kept(batches, self.skips, self.used)))

    @classmethod
    def kept(cls, path: Path) -> Part | None:
        """Return what `keep` wrote to ``path``; None where there is no such file."""
        try:
            kept = _decoder.decode(path.read_bytes())
        except FileNotFoundError:
            return None
        outlines = [
            Outlines(
                batch.table,
                np.frombuffer(batch.index, "<i4"),
                np.frombuffer(batch.clusters, "<u8"),
                np.frombuffer(batch.identities, "<u8"),
                np.frombuffer(batch.lines, "<i8"),
            )
            for batch in kept.batches
        ]
        return cls(outlines, kept.skips, kept.used)


class _Batch(msgspec.Struct):
    table: list[Outline]
    index: bytes
    clusters: bytes
    identities: bytes
    lines: bytes


class _Kept(msgspec.Struct):
    batches: list[_Batch]
    skips: list[Skip]
    used: list[Key]


_decoder = msgspec.msgpack.Decoder(_Kept)
