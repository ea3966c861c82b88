"""From paths to a tally: read, filter, count, name what was skipped.

The input is cut into parts that are read one after the other or by several workers; either way the
tally is the same, and so is every number of the audit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from ..record.digest import DigestSet
from ..record.episode import SearchEpisode
from ..record.outcomes import Outcomes
from ..record.outline import Outlines
from ..record.read import DUPLICATE, read_outlines
from ..record.shards import plan
from ..record.skip import Skip
from ..record.source import Shard, expand
from ..signals import Signal
from .judging import JudgedBy
from .tally import Tally

Progress = Callable[[int], None]
"""Called after each batch with the number of episodes counted so far."""


@dataclass(frozen=True)
class Gathered:
    """What the input held."""

    tally: Tally = field(default_factory=Tally)
    """The search episodes."""
    skipped: list[Skip] = field(default_factory=list)
    """Everything that gave none, by name."""


def gather(
    paths: Sequence[str],
    *,
    format: str | None = None,
    where: Mapping[str, str] | None = None,
    source: str | None = None,
    signal: Signal | None = None,
    outcomes: Outcomes | None = None,
    workers: int = 1,
    progress: Progress = lambda episodes: None,
) -> Gathered:
    """Count the search episodes of ``paths``.

    Args:
        paths: files, folders, globs or URLs.
        format: name of a reader; None detects it for each file.
        where: keep only episodes with these values.
        source: verdict source; None takes the best that each episode has.
        signal: judges the recorded results; its verdicts are then the ones that count.
        outcomes: how episodes ended, in place of what they say themselves. Which of its rows were
            used is known only where one process reads.
        workers: processes that read side by side.
        progress: told after each batch.

    Raises:
        InputError: there is no reader called ``format``.
    """
    gathered = Gathered()
    seen = DigestSet()
    read = partial(read_outlines, where=where, source=source)
    if signal is not None:
        read = partial(read, source=signal.name)
    if signal is not None or outcomes is not None:
        judge = None if signal is None else JudgedBy(signal)
        read = partial(read, transform=partial(_laid_over, outcomes, judge))
    cut = expand(paths) if workers == 1 else plan(paths, format)
    parts = [
        part if isinstance(part, Skip) else replace(part, format=format or part.format)
        for part in cut
    ]
    found: Iterator[Iterator[Outlines | Skip]] = (
        (read(part, seen=seen) for part in parts if isinstance(part, Shard))
        if workers == 1
        else _side_by_side(parts, read, workers, seen)
    )
    for part in parts:
        for item in [part] if isinstance(part, Skip) else next(found):
            if isinstance(item, Skip):
                gathered.skipped.append(item)
                continue
            gathered.tally.add(item)
            progress(gathered.tally.episodes)
    order = {part.path: place for place, part in enumerate(parts)}
    gathered.skipped.sort(key=lambda skip: (order[skip.path], skip.line or 0))
    return gathered


def _laid_over(
    outcomes: Outcomes | None, judge: JudgedBy | None, episode: SearchEpisode
) -> SearchEpisode:
    """Return the episode with what comes from elsewhere: outcomes, verdicts."""
    if outcomes is not None:
        episode = outcomes.over(episode)
    return episode if judge is None else judge(episode)


Read = Callable[[Shard], Iterator[Outlines | Skip]]


def _side_by_side(
    parts: Sequence[Shard | Skip], read: Read, workers: int, seen: DigestSet
) -> Iterator[Iterator[Outlines | Skip]]:
    """Yield what each part holds, in order, read by several processes."""
    from joblib import Parallel, delayed

    shards = [part for part in parts if isinstance(part, Shard)]
    results = Parallel(n_jobs=workers, return_as="generator")(
        delayed(_all)(read, shard) for shard in shards
    )
    for shard, found in zip(shards, results, strict=True):
        yield _unseen(shard, found, seen)


def _all(read: Read, shard: Shard) -> list[Outlines | Skip]:
    return list(read(shard))


def _unseen(
    shard: Shard, found: Iterable[Outlines | Skip], seen: DigestSet
) -> Iterator[Outlines | Skip]:
    """Take out what an earlier part had, and name it."""
    for item in found:
        if isinstance(item, Skip):
            yield item
            continue
        fresh = seen.add(item.identities)
        for line in item.lines[~fresh].tolist():
            yield Skip(shard.path, line or None, DUPLICATE)
        yield item.select(fresh)
