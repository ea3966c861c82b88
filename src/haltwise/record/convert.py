"""Convert traces of any format into one file of episodes, so that a crash costs one part at most.

The input is cut into parts (`haltwise.record.shards`). Each part is read, and its episodes are
written to a folder beside the output, atomically, named by the file's size and time of change. Once
all are there they are joined, in the order of the input and without duplicates, into the output,
which appears whole or not at all. Knows nothing of the command line.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from ..core.errors import InputError
from .digest import DigestSet
from .engine import Engine, side_by_side
from .episode import AnyEpisode
from .jsonl import atomic, decoder, write_episodes
from .outcomes import Outcomes
from .parquet import write_parquet
from .read import DUPLICATE, episodes_with_lines, identity_digest
from .shards import SHARD, part_name, plan
from .skip import Skip
from .source import Paths, Shard, Source

ENDINGS = (".parquet", ".jsonl", ".jsonl.gz", ".jsonl.zst")
"""What an output may be called, by its ending."""


@dataclass(frozen=True, slots=True)
class Converted:
    """What came of a conversion."""

    episodes: int
    """Episodes in the output."""
    parts: int
    """Parts of the input."""
    reused: int
    """Parts that an earlier, interrupted run had finished."""
    skipped: list[Skip]
    """Every record that gave no episode."""


class _Part(msgspec.Struct):
    """What is kept beside a finished part."""

    lines: list[int | None]
    skips: list[Skip]


_parts = msgspec.json.Decoder(_Part)


def convert(
    paths: Paths,
    output: str | os.PathLike[str],
    format: str | None = None,
    *,
    workers: int = 1,
    engine: Engine = "local",
    outcomes: Outcomes | None = None,
    size: int = SHARD,
    progress: Callable[[Shard], None] = lambda shard: None,
) -> Converted:
    """Convert ``paths`` to ``output``; call it again after a crash and it goes on.

    Args:
        paths: what to read.
        output: the file to write: Parquet, or JSON lines, as its ending says.
        format: name of a reader; None detects one for each file.
        workers: how many read parts side by side, at least 1.
        engine: where they run; see `haltwise.record.engine`.
        outcomes: how episodes ended, in place of what they say themselves.
        size: bytes of a part, about.
        progress: called with each part that has been read.

    Raises:
        InputError: the ending is not known, the output cannot be written, or nothing in ``paths``
            is an episode.
    """
    target = Path(output)
    if not target.name.endswith(ENDINGS):
        raise InputError(f"{target} ends in none of {', '.join(ENDINGS)}")
    if not target.parent.is_dir():
        raise InputError(f"{target} cannot be written: there is no folder {target.parent}")
    folder = target.with_name(f".{target.name}.parts")
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror}") from None
    skips: list[Skip] = []
    names: list[tuple[Shard, Path]] = []
    reused = 0

    def wanted() -> Iterator[tuple[Shard, Path]]:
        nonlocal reused
        for shard in plan(paths, format, size):
            if isinstance(shard, Skip):
                skips.append(shard)
                continue
            name = folder / f"{part_name(shard)}.jsonl"
            names.append((shard, name))
            if name.with_suffix(".json").exists():
                reused += 1
                progress(shard)
            else:
                yield shard, name

    for shard in side_by_side(_write_part, wanted(), workers, engine):
        progress(shard)
    count = 0

    def joined() -> Iterator[AnyEpisode]:
        nonlocal count
        for episode in _joined(names, skips):
            count += 1
            yield episode if outcomes is None else outcomes.over(episode)

    write = write_parquet if target.name.endswith(".parquet") else write_episodes
    first = joined()
    head = next(first, None)
    if head is None:
        shutil.rmtree(folder)
        reason = f"; {skips[0]}" if skips else ""
        raise InputError(f"nothing to convert: no episode in the input{reason}")
    write(target, _chain(head, first))
    shutil.rmtree(folder)
    return Converted(count, len(names), reused, skips)


def _chain(head: AnyEpisode, rest: Iterator[AnyEpisode]) -> Iterator[AnyEpisode]:
    yield head
    yield from rest


def _write_part(part: tuple[Shard, Path]) -> Shard:
    shard, name = part
    lines: list[int | None] = []
    skips: list[Skip] = []

    def episodes() -> Iterator[AnyEpisode]:
        for item in episodes_with_lines(shard):
            if isinstance(item, Skip):
                skips.append(item)
            else:
                lines.append(item[0])
                yield item[1]

    write_episodes(name, episodes())
    with atomic(name.with_suffix(".json")) as file:
        file.write(msgspec.json.encode(_Part(lines, skips)))
    return shard


def _joined(names: list[tuple[Shard, Path]], skips: list[Skip]) -> Iterator[AnyEpisode]:
    seen = DigestSet()
    for shard, name in names:
        part = _parts.decode(name.with_suffix(".json").read_bytes())
        skips.extend(part.skips)
        if not part.lines:
            continue
        with Source(str(name)) as source:
            for line, item in zip(part.lines, source.lines(), strict=True):
                assert not isinstance(item, Skip)
                episode = decoder.decode(item[1])
                if seen.add_one(identity_digest(episode)):
                    yield episode
                else:
                    named = "" if line is not None else f" ({episode.episode_id})"
                    skips.append(Skip(shard.path, line, DUPLICATE + named))
