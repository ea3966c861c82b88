"""The sufficient statistic of an audit: how many episodes of each outline each cluster has.

Every number of the audit is a function of it. Tallies add up: counting shards apart and merging
them, in any order and grouping, gives the tally of the whole, hence the same report to the last
digit, intervals included. An episode costs 20 bytes and no Python object; what an outline means is
worked out once for each distinct outline (`Sample`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.events import Verdict
from ..record.outline import CODES, Outline, Outlines
from .columns import Buckets, Columns, new
from .packing import Packing, distinct
from .trajectories import Bools, Ints, Trajectories

Values = NDArray[np.integer[Any]] | Bools
"""What each outline counts as: whole numbers from 0 up or booleans, shape (m, columns)."""
Features = Callable[[Trajectories], Values]
"""From m outlines to their values."""

_PENDING = 1 << 22
"""Entries that are held before equal ones are added up."""
_WORK = 100
"""Bytes that an entry takes while equal ones are added up, 20 of them to stay."""
_BLOCK = 1 << 22
"""Padded steps of one block of outlines."""
_ROWS = 1 << 14
"""Outlines whose values are multiplied at a time."""


class Tally:
    """Episodes by cluster and outline. Mutable; `merge` is associative and commutative."""

    def __init__(self, memory: int | None = None) -> None:
        """Start from nothing.

        Args:
            memory: bytes that entries may take, about; beyond it they go to a temporary folder and
                are worked on there, part by part, which changes no number. None: no limit.
        """
        self._table: dict[Outline, int] = {}
        self._held: list[Columns] = []
        self._most = _PENDING if memory is None else min(_PENDING, max(1, memory // _WORK))
        self._limit = None if memory is None else max(1, memory // _WORK)
        self._buckets: Buckets | None = None
        self._pending = 0
        self.episodes = 0
        """Number of episodes counted."""

    def add(self, batch: Outlines) -> None:
        """Count the episodes of a batch in."""
        ones = np.ones(len(batch), dtype=np.int64)
        self._extend(batch.table, Columns(batch.clusters, batch.index, ones))

    def merge(self, other: Tally) -> None:
        """Count everything in that ``other`` has counted."""
        table = list(other._table)
        for part in [*other._held, *(other._buckets or ())]:
            self._extend(table, part)

    def sample(self, budget: int) -> Sample:
        """Return what has been counted, ready for statistics under ``budget`` actions."""
        parts: Iterable[Columns]
        if self._buckets is None:
            whole = self._whole()
            order = np.argsort(whole.clusters)
            parts = [
                Columns(whole.clusters[order], whole.outlines[order], whole.counts[order]),
            ]
        else:
            self._spill(self._whole().added_up())
            self._buckets.add_up()
            parts = self._buckets
        return Sample(list(self._table), budget, parts)

    @property
    def judged(self) -> bool:
        """Whether any result carries a verdict of the source that is counted."""
        silent = CODES[Verdict.UNJUDGED]
        return any(outline.verdicts.strip(bytes([silent])) for outline in self._table)

    def outlines(self) -> list[Outline]:
        """Return the distinct outlines, in the order in which they came."""
        return list(self._table)

    def _extend(self, table: list[Outline], columns: Columns) -> None:
        places = np.full(len(table), -1, dtype=np.int32)
        for i in np.flatnonzero(np.bincount(columns.outlines, minlength=len(table))).tolist():
            places[i] = self._table.setdefault(table[i], len(self._table))
        self._held.append(Columns(columns.clusters, places[columns.outlines], columns.counts))
        self.episodes += int(columns.counts.sum())
        self._pending += len(columns)
        if self._pending > self._most:
            self._compact()

    def _whole(self) -> Columns:
        if not self._held:
            return Columns(np.empty(0, np.uint64), np.empty(0, np.int32), np.empty(0, np.int64))
        return Columns(
            np.concatenate([part.clusters for part in self._held]),
            np.concatenate([part.outlines for part in self._held]),
            np.concatenate([part.counts for part in self._held]),
        )

    def _compact(self) -> None:
        """Add up equal (cluster, outline) pairs, so that memory grows with distinct ones only."""
        whole = self._whole().added_up()
        if self._limit is not None and 2 * len(whole) > self._limit:
            self._spill(whole)
        else:
            self._held = [whole]
        self._pending = 0

    def _spill(self, ordered: Columns) -> None:
        if self._buckets is None:
            self._buckets = Buckets()
        self._buckets.add(ordered)
        self._held = []
        self._pending = 0


@dataclass(frozen=True, eq=False)
class Sample:
    """A finished tally: sums of features over all episodes or by cluster."""

    table: list[Outline]
    """The m distinct outlines."""
    budget: int
    """Actions allowed, the answer included: decision points beyond it are not looked at."""
    parts: Iterable[Columns]
    """The entries ordered by cluster, all of a cluster in one part."""

    @property
    def episodes(self) -> int:
        """Number of episodes."""
        return int(self.weights.sum())

    @property
    def clusters(self) -> int:
        """Number of clusters."""
        return self._sizes[0]

    @cached_property
    def weights(self) -> Ints:
        """Episodes of each outline, shape (m,)."""
        weights = np.zeros(len(self.table), np.int64)
        for part in self.parts:
            counted = np.bincount(part.outlines, weights=part.counts, minlength=len(self.table))
            weights += counted.astype(np.int64)
        return weights

    def where(self, condition: Callable[[Outline], bool]) -> Bools:
        """Return which outlines meet a condition, shape (m,)."""
        return np.fromiter(map(condition, self.table), dtype=bool, count=len(self.table))

    def of_regime(self, regime: str | None) -> Bools:
        """Return which outlines are of a regime, shape (m,)."""
        codes, column = self._regimes
        return np.asarray(column == codes.get(regime, -1))

    def count(self, condition: Callable[[Outline], bool]) -> int:
        """Return how many episodes meet a condition on their outline."""
        return int(self.weights[self.where(condition)].sum())

    def values(self, features: Features) -> Values:
        """Return what each outline counts as, shape (m, columns)."""
        ordered = np.concatenate([features(block) for block in self._blocks])
        values = np.empty_like(ordered)
        values[self._by_length] = ordered
        return values

    def total(self, values: Values, keep: Bools | None = None) -> Ints:
        """Return the sum of ``values`` over all episodes whose outline is kept, (columns,)."""
        weights = self.weights if keep is None else self.weights * keep
        totals = np.zeros(values.shape[1], dtype=np.int64)
        for part in range(0, len(values), _ROWS):  # the product widens what it multiplies
            totals += weights[part : part + _ROWS] @ values[part : part + _ROWS].astype(np.int64)
        return totals

    def pooled(self, values: Values, keep: Bools | None = None) -> tuple[Ints, Ints]:
        """Return the distinct sums of ``values`` over a cluster, and how many clusters have each.

        Shapes (sums, columns) and (sums,). The order depends on the contents alone.

        Args:
            values: what each outline counts as, from 0 up; shape (m, columns).
            keep: outlines that count; clusters without any of these are left out.
        """
        columns = values.shape[1]
        if not len(values) or not columns:
            return np.zeros((0, columns), np.int64), np.zeros(0, np.int64)
        packing = Packing.of(values.max(axis=0).astype(np.int64) * self._sizes[1])
        packed = packing.pack(values)
        found: list[tuple[list[Ints], Ints]] = []
        for part in self.parts:
            clusters, outlines, counts = part.clusters, part.outlines, part.counts
            if keep is not None:
                kept = keep[outlines]
                clusters, outlines, counts = clusters[kept], outlines[kept], counts[kept]
            if not len(outlines):
                continue
            starts = np.flatnonzero(new(clusters))
            once = bool((counts == 1).all())
            sums = [
                np.add.reduceat(word[outlines] if once else word[outlines] * counts, starts)
                for word in packed
            ]
            first, clusters_with = distinct(sums)
            found.append(([word[first] for word in sums], clusters_with))
        if not found:
            return np.zeros((0, columns), np.int64), np.zeros(0, np.int64)
        if len(found) == 1:
            words, clusters_with = found[0]
            return packing.unpack(words), clusters_with
        words = [np.concatenate(several) for several in zip(*(w for w, _ in found), strict=True)]
        first, clusters_with = distinct(words, np.concatenate([with_ for _, with_ in found]))
        return packing.unpack([word[first] for word in words]), clusters_with

    @property
    def regimes(self) -> set[str | None]:
        """The regimes that occur."""
        return set(self._regimes[0])

    @cached_property
    def _regimes(self) -> tuple[dict[str | None, int], Ints]:
        codes: dict[str | None, int] = {}
        column = [codes.setdefault(outline.regime, len(codes)) for outline in self.table]
        return codes, np.array(column, dtype=np.int64)

    @cached_property
    def _sizes(self) -> tuple[int, int]:
        """How many clusters there are, and the episodes of the largest."""
        number = largest = 0
        for part in self.parts:
            if len(part):
                episodes = np.add.reduceat(part.counts, np.flatnonzero(new(part.clusters)))
                number, largest = number + len(episodes), max(largest, int(episodes.max()))
        return number, largest

    @cached_property
    def _by_length(self) -> Ints:
        # Outlines of like length share a block, so that one long episode pads few others.
        lengths = np.array([len(outline.actions) for outline in self.table], dtype=np.int64)
        return np.argsort(lengths, kind="stable")

    @cached_property
    def _blocks(self) -> list[Trajectories]:
        ordered = [self.table[i] for i in self._by_length.tolist()]
        return [Trajectories.of(rows, self.budget) for rows in _bounded(ordered, self.budget)]


def _bounded(ordered: list[Outline], budget: int) -> Iterator[list[Outline]]:
    """Cut outlines sorted by length into runs of at most ``_BLOCK`` padded steps."""
    if not ordered:
        yield []
    start = 0
    for stop in range(1, len(ordered) + 1):
        longest = max(budget, len(ordered[min(stop, len(ordered) - 1)].actions))
        if stop == len(ordered) or (stop - start + 1) * longest > _BLOCK:
            yield ordered[start:stop]
            start = stop
