"""From paths to a tally: read, filter, count, name what was skipped.

The input is cut into parts that are read one after the other or by several workers; either way the
tally is the same, and so is every number of the audit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from ..core.errors import InputError
from ..record.digest import DigestSet
from ..record.engine import Engine, side_by_side
from ..record.episode import SearchEpisode
from ..record.outcomes import Key, Outcomes
from ..record.outline import Outlines
from ..record.read import DUPLICATE, read_outlines
from ..record.shards import SHARD, part_name, plan
from ..record.skip import Skip
from ..record.source import Shard, is_url
from ..signals import Signal
from .judging import JudgedBy
from .part import Part
from .tally import Tally

Progress = Callable[[int, float], None]
"""Called after each batch with the number of episodes so far, and the share of bytes read."""


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
    engine: Engine = "local",
    memory: int | None = None,
    resume: Path | None = None,
    size: int = SHARD,
    progress: Progress = lambda episodes, share: None,
) -> Gathered:
    """Count the search episodes of ``paths``.

    Args:
        paths: files, folders, globs or URLs.
        format: name of a reader; None detects it for each file.
        where: keep only episodes with these values.
        source: verdict source; None takes the best that each episode has.
        signal: judges the recorded results; its verdicts are then the ones that count.
        outcomes: how episodes ended, in place of what they say themselves.
        workers: how many read side by side.
        engine: where they run; see `haltwise.record.engine`.
        memory: bytes that the tally may take before it goes to disk; see `Tally`.
        resume: a folder that finished parts are kept in, and taken from if they are there: of the
            same bytes, read in the same way. It is emptied of them when all are counted.
        size: bytes of a part, about.
        progress: told after each batch.

    Raises:
        InputError: there is no reader called ``format``, or ``resume`` cannot be a folder.
    """
    gathered = Gathered(Tally(memory))
    parts = [
        part if isinstance(part, Skip) else replace(part, format=format or part.format)
        for part in plan(paths, format, size)
    ]
    shards = [part for part in parts if isinstance(part, Shard)]
    gathered.skipped.extend(part for part in parts if isinstance(part, Skip))
    read = partial(read_outlines, where=where, source=source if signal is None else signal.name)
    seen = DigestSet()
    done, total = 0, max(1, sum(map(_bytes, shards)))
    for shard, found in zip(
        shards, _found(shards, read, signal, outcomes, workers, engine, resume, seen), strict=True
    ):
        for item in found:
            if isinstance(item, Skip):
                gathered.skipped.append(item)
                continue
            gathered.tally.add(item)
            progress(gathered.tally.episodes, done / total)
        done += _bytes(shard)
        progress(gathered.tally.episodes, done / total)
    if resume is not None:
        _clear(resume, [_kept(resume, shard, read, signal, outcomes) for shard in shards])
    order = {part.path: place for place, part in enumerate(parts)}
    gathered.skipped.sort(key=lambda skip: (order[skip.path], skip.line or 0, skip.reason))
    return gathered


Read = Callable[..., Iterator[Outlines | Skip]]
"""`read_outlines` with everything but the part and what was seen."""


def _found(
    shards: Sequence[Shard],
    read: Read,
    signal: Signal | None,
    outcomes: Outcomes | None,
    workers: int,
    engine: Engine,
    resume: Path | None,
    seen: DigestSet,
) -> Iterator[Iterable[Outlines | Skip]]:
    """Yield what each part holds, without what an earlier part had."""
    if workers == 1 and engine == "local" and resume is None:
        transform = _transform(signal, outcomes)
        for shard in shards:
            yield read(shard, seen=seen, transform=transform)
        return
    if resume is not None:
        try:
            resume.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{resume} cannot be a folder for parts: {error.strerror}") from None
    jobs = ((shard, resume and _kept(resume, shard, read, signal, outcomes)) for shard in shards)
    work = partial(_part, read, signal, outcomes)
    for shard, part in zip(shards, side_by_side(work, jobs, workers, engine), strict=True):
        if outcomes is not None:
            outcomes.used.update(part.used)
        yield _unseen(shard, [*part.skips, *part.outlines], seen)


def _part(
    read: Read,
    signal: Signal | None,
    outcomes: Outcomes | None,
    job: tuple[Shard, Path | None],
) -> Part:
    """Return what a part holds: as it was kept, or read and kept for the next time."""
    shard, path = job
    if path is not None and (kept := Part.kept(path)) is not None:
        return kept
    before: set[Key] = set()
    if outcomes is not None:
        before = set(outcomes.used)
        outcomes.used.clear()
    part = Part.of(read(shard, transform=_transform(signal, outcomes)))
    if outcomes is not None:
        part = replace(part, used=sorted(outcomes.used, key=str))
        outcomes.used.update(before)
    if path is not None:
        part.keep(path)
    return part


def _kept(
    folder: Path, shard: Shard, read: Read, signal: Signal | None, outcomes: Outcomes | None
) -> Path:
    """Return where a part is kept: under a name of its bytes and of how they were read."""
    from .. import __version__

    how = getattr(read, "keywords", {})
    digest = None if outcomes is None else outcomes.digest
    return folder / part_name(shard, f"{__version__}/{how}/{signal!r}/{digest}")


def _clear(folder: Path, names: Iterable[Path]) -> None:
    for name in names:
        name.unlink(missing_ok=True)
    if not any(folder.iterdir()):
        folder.rmdir()


def _bytes(shard: Shard) -> int:
    if shard.end is not None:
        return shard.end - shard.start
    if is_url(shard.path) or not Path(shard.path).is_file():
        return 0
    return Path(shard.path).stat().st_size - shard.start


def _transform(
    signal: Signal | None, outcomes: Outcomes | None
) -> Callable[[SearchEpisode], SearchEpisode] | None:
    if signal is None and outcomes is None:
        return None
    return partial(_laid_over, outcomes, None if signal is None else JudgedBy(signal))


def _laid_over(
    outcomes: Outcomes | None, judge: JudgedBy | None, episode: SearchEpisode
) -> SearchEpisode:
    """Return the episode with what comes from elsewhere: outcomes, verdicts."""
    if outcomes is not None:
        episode = outcomes.over(episode)
    return episode if judge is None else judge(episode)


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
