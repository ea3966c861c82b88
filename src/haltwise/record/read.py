"""Read anything: paths in, episodes or outlines out, every unusable record as a named skip.

Records in = episodes + skips. Whether nothing at all was usable is the caller's to judge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from .digest import DigestSet, mix_one
from .episode import AnyEpisode, Episode, SearchEpisode
from .outline import Outline, Outlines, batch, cluster_digest, context_digest, outline_of
from .readers.base import Found, OutlineReader, Reader, detect, reader_named
from .skip import Skip
from .source import Paths, Shard, Source, SourceError, expand

DUPLICATE = "is a duplicate: same model, arm, regime, question and trial as an earlier episode"

REPAIR = "is a repair loop, not a search; see haltwise calibrate repair and haltwise replay"

_BATCH = 2048
_COLUMNS = {"regime", "model", "arm"}


def read(
    paths: Paths, format: str | None = None, *, seen: DigestSet | None = None
) -> Iterator[AnyEpisode | Skip]:
    """Read every record of ``paths`` in order, in constant memory (8-32 bytes an episode).

    Args:
        paths: what to read.
        format: name of a reader; None detects one for each file by its content.
        seen: identities that count as read already; those of this call are added.

    Yields:
        Each record as an episode, or as a skip if it is unusable or a duplicate of an earlier one.

    Raises:
        InputError: there is no reader called ``format``.
    """
    for item in _found(paths, format, DigestSet() if seen is None else seen):
        yield item if isinstance(item, Skip) else item[1]


def episodes_with_lines(shard: Shard) -> Iterator[Found | Skip]:
    """Read one part: (line in its file, episode) or skip; duplicates within it are skips.

    Lines are counted from the top of the file; None in a file that is no list of lines.
    """
    seen = DigestSet()
    for opened in _opened(shard, None):
        if isinstance(opened, Skip):
            yield opened
            continue
        before = opened[1].lines_before
        for item in _episodes(*opened, seen):
            if isinstance(item, Skip) or item[0] is None:
                yield item
            else:
                yield item[0] + before, item[1]


def read_outlines(
    paths: Paths,
    format: str | None = None,
    *,
    where: Mapping[str, str] | None = None,
    source: str | None = None,
    transform: Callable[[SearchEpisode], SearchEpisode] | None = None,
    seen: DigestSet | None = None,
) -> Iterator[Outlines | Skip]:
    """Read the outlines of all search episodes of ``paths`` in batches, in constant memory.

    Args:
        paths: what to read.
        format: name of a reader; None detects one for each file by its content.
        where: keep only episodes with these values; keys are those of `value_of`. What they leave
            out is neither counted nor skipped.
        source: verdict source to use; None takes the best that each episode has.
        transform: applied to each episode before its outline is made, such as a signal that adds
            verdicts.
        seen: identities that count as read already; those of this call are added.

    Raises:
        InputError: there is no reader called ``format``.
    """
    seen = DigestSet() if seen is None else seen
    where = where or {}
    direct = source in (None, "recorded") and transform is None and set(where) <= _COLUMNS
    for shard in expand(paths):
        if isinstance(shard, Skip):
            yield shard
            continue
        for opened in _opened(shard, format):
            if isinstance(opened, Skip):
                yield opened
                continue
            reader, stream = opened
            if direct and isinstance(reader, OutlineReader):
                yield from _direct(reader, stream, where, seen)
            else:
                yield from _derived(reader, stream, where, source, transform, seen)


def value_of(episode: Episode, key: str) -> str | None:
    """Return what ``--where KEY=VALUE`` compares: a field of the episode as text, or a label.

    Fields: regime, model, arm, seed, question_id, cluster_id, episode_id, run.
    """
    if key in _FIELDS:
        value = getattr(episode, key)
        return None if value is None else str(value)
    return episode.labels.get(key)


_FIELDS = {"regime", "model", "arm", "seed", "question_id", "cluster_id", "episode_id", "run"}


def identity_digest(episode: Episode) -> int:
    """Return the digest of an episode's `identity`, as `Outlines.identities` holds it."""
    context = context_digest(episode.model, episode.arm, episode.regime, episode.seed, episode.run)
    return mix_one(cluster_digest(episode.question_id), context)


def _found(paths: Paths, format: str | None, seen: DigestSet) -> Iterator[Found | Skip]:
    for shard in expand(paths):
        if isinstance(shard, Skip):
            yield shard
            continue
        for opened in _opened(shard, format):
            if isinstance(opened, Skip):
                yield opened
            else:
                yield from _episodes(*opened, seen)


def _opened(shard: Shard, format: str | None) -> Iterator[tuple[Reader, Source] | Skip]:
    """Yield the reader and the open file, and close it afterwards; or why that cannot be."""
    format = format or shard.format
    reader = reader_named(format) if format else None
    try:
        with Source(shard.path, shard.start, shard.end) as source:
            if not source.head or source.head.isspace():
                raise SourceError("is empty")
            reader = reader or detect(source.head, source.path)
            yield reader, source
    except SourceError as error:
        yield Skip(shard.path, None, str(error))


def _episodes(reader: Reader, source: Source, seen: DigestSet) -> Iterator[Found | Skip]:
    try:
        for item in reader.read(source):
            if isinstance(item, Skip) or seen.add_one(identity_digest(item[1])):
                yield item
            else:
                line, episode = item
                name = "" if line is not None else f" ({episode.episode_id})"
                yield source.skip(line, DUPLICATE + name)
    except SourceError as error:
        yield source.skip(None, str(error))


def _direct(
    reader: OutlineReader, source: Source, where: Mapping[str, str], seen: DigestSet
) -> Iterator[Outlines | Skip]:
    try:
        for item in reader.outlines(source):
            if isinstance(item, Skip):
                yield item
                continue
            if where:
                kept = [
                    all(getattr(outline, key) == value for key, value in where.items())
                    for outline in item.table
                ]
                item = item.select(np.array(kept, bool)[item.index])
            fresh = seen.add(item.identities)
            if not fresh.all():
                for line in item.lines[~fresh].tolist():
                    yield Skip(source.path, line, DUPLICATE)
                item = item.select(fresh)
            if len(item):
                yield item
    except SourceError as error:
        yield source.skip(None, str(error))


def _derived(
    reader: Reader,
    source: Source,
    where: Mapping[str, str],
    verdicts: str | None,
    transform: Callable[[SearchEpisode], SearchEpisode] | None,
    seen: DigestSet,
) -> Iterator[Outlines | Skip]:
    held: list[tuple[int, Episode, Outline]] = []
    try:
        for item in reader.read(source):
            if isinstance(item, Skip):
                yield item
                continue
            line, episode = item
            if any(value_of(episode, key) != value for key, value in where.items()):
                continue
            if not seen.add_one(identity_digest(episode)):
                name = "" if line is not None else f" ({episode.episode_id})"
                yield source.skip(line, DUPLICATE + name)
                continue
            if not isinstance(episode, SearchEpisode):
                yield source.skip(line, REPAIR)
                continue
            if transform is not None:
                episode = transform(episode)
            number = 0 if line is None else line + source.lines_before
            held.append((number, _nameless(episode), outline_of(episode, verdicts)))
            if len(held) == _BATCH:
                yield batch(held)
                held.clear()
    except SourceError as error:
        yield source.skip(None, str(error))
    if held:
        yield batch(held)


def _nameless(episode: SearchEpisode) -> Episode:
    """Return the episode without its steps, so that a batch of long traces stays small."""
    return Episode(
        episode_id="",
        cluster_id=episode.cluster_id,
        question_id=episode.question_id,
        regime=episode.regime,
        model=episode.model,
        arm=episode.arm,
        seed=episode.seed,
        run=episode.run,
    )
