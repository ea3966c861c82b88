"""A table of outcomes from elsewhere, laid over episodes whose traces do not say how they ended.

JSON lines: ``{"question_id": ..., "seed"?: ..., "success": true|false}``, or by ``episode_id`` or
``run``. Knows nothing of how an outcome was judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from ..core.errors import InputError
from .digest import digest_bytes
from .episode import AnyEpisode, RepairEpisode, SearchEpisode
from .readers.lines import records
from .skip import Skip
from .source import Source, SourceError

RECORD = "an outcome"

E = TypeVar("E", bound=AnyEpisode)


class _Row(msgspec.Struct):
    success: bool | None
    question_id: str | int | None = None
    seed: int | None = None
    episode_id: str | None = None
    run: str | None = None


_rows = msgspec.json.Decoder(_Row)

Key = tuple[str, str, int | None]
"""What a row names: "episode_id", "run" or "question_id"; its value; the seed, if there is one."""


class Outcomes:
    """Outcomes by episode, run, question and trial, or question."""

    def __init__(self, path: str) -> None:
        """Read the table.

        Raises:
            InputError: it cannot be read, a row is no outcome, or two rows contradict each other.
        """
        self._table: dict[Key, bool | None] = {}
        self._used: set[Key] = set()
        try:
            with Source(path) as source:
                for item in records(source, _rows, RECORD):
                    if isinstance(item, Skip):
                        raise InputError(f"{item}")
                    self._add(source, *item)
        except SourceError as error:
            raise InputError(f"{path}: {error}") from error

    def __len__(self) -> int:
        return len(self._table)

    @property
    def digest(self) -> str:
        """Names the contents of the table."""
        return digest_bytes(repr(sorted(self._table.items(), key=repr)).encode()).hex()

    @property
    def used(self) -> set[Key]:
        """Rows that an episode has asked for so far."""
        return self._used

    @property
    def unused(self) -> int:
        """Rows that no episode has asked for so far."""
        return len(self._table) - len(self._used)

    def over(self, episode: E) -> E:
        """Return the episode with its outcome from the table; as it is where there is none."""
        for key in _keys(episode):
            if key in self._table:
                self._used.add(key)
                outcome = replace(episode.outcome, success=self._table[key])
                return replace(episode, outcome=outcome)
        return episode

    def _add(self, source: Source, line: int, row: _Row) -> None:
        if row.episode_id is not None:
            key: Key = ("episode_id", row.episode_id, None)
        elif row.run is not None:
            key = ("run", row.run, None)
        elif row.question_id is not None:
            key = ("question_id", str(row.question_id), row.seed)
        else:
            skip = source.skip(line, "names no episode: question_id, run or episode_id is missing")
            raise InputError(str(skip))
        if self._table.setdefault(key, row.success) is not row.success:
            skip = source.skip(line, f"contradicts an earlier line on {key[0]} {key[1]!r}")
            raise InputError(str(skip))


def _keys(episode: SearchEpisode | RepairEpisode) -> Iterator[Key]:
    yield "episode_id", episode.episode_id, None
    if episode.run is not None:
        yield "run", episode.run, None
    if episode.seed is not None:
        yield "question_id", episode.question_id, episode.seed
    yield "question_id", episode.question_id, None
