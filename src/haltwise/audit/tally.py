"""The sufficient statistic of an audit: how many episodes of each outline each cluster has.

Every number of the audit is a function of it. Tallies add up: counting shards apart and merging
them, in any order and grouping, gives the tally of the whole, hence the same report to the last
digit, intervals included. An episode costs 20 bytes and no Python object; what an outline means is
worked out once for each distinct outline (`Sample`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.events import Verdict
from ..record.digest import Digests
from ..record.outline import CODES, Outline, Outlines
from .packing import Packing, distinct
from .trajectories import Bools, Ints, Trajectories

Values = NDArray[np.integer[Any]] | Bools
"""What each outline counts as: whole numbers from 0 up or booleans, shape (m, columns)."""
Features = Callable[[Trajectories], Values]
"""From m outlines to their values."""

_PENDING = 1 << 22
"""Entries that are held before equal ones are added up."""
_BLOCK = 1 << 22
"""Padded steps of one block of outlines."""
_ROWS = 1 << 14
"""Outlines whose values are multiplied at a time."""


class Tally:
    """Episodes by cluster and outline. Mutable; `merge` is associative and commutative."""

    def __init__(self) -> None:
        self._table: dict[Outline, int] = {}
        self._clusters: list[Digests] = []
        self._outlines: list[NDArray[np.int32]] = []
        self._counts: list[Ints] = []
        self._pending = 0
        self.episodes = 0
        """Number of episodes counted."""

    def add(self, batch: Outlines) -> None:
        """Count the episodes of a batch in."""
        ones = np.ones(len(batch), dtype=np.int64)
        self._extend(batch.table, batch.clusters, batch.index, ones)

    def merge(self, other: Tally) -> None:
        """Count everything in that ``other`` has counted."""
        table = list(other._table)
        for part in zip(other._clusters, other._outlines, other._counts, strict=True):
            self._extend(table, *part)

    def sample(self, budget: int) -> Sample:
        """Return what has been counted, ready for statistics under ``budget`` actions."""
        clusters, outlines, counts = self._columns()
        order = np.argsort(clusters)
        return Sample(list(self._table), budget, clusters[order], outlines[order], counts[order])

    @property
    def judged(self) -> bool:
        """Whether any result carries a verdict of the source that is counted."""
        silent = CODES[Verdict.UNJUDGED]
        return any(outline.verdicts.strip(bytes([silent])) for outline in self._table)

    def outlines(self) -> list[Outline]:
        """Return the distinct outlines, in the order in which they came."""
        return list(self._table)

    def _extend(
        self, table: list[Outline], clusters: Digests, index: NDArray[np.int32], counts: Ints
    ) -> None:
        places = np.full(len(table), -1, dtype=np.int32)
        for i in np.flatnonzero(np.bincount(index, minlength=len(table))).tolist():
            places[i] = self._table.setdefault(table[i], len(self._table))
        self._clusters.append(clusters)
        self._outlines.append(places[index])
        self._counts.append(counts)
        self.episodes += int(counts.sum())
        self._pending += len(clusters)
        if self._pending > _PENDING:
            self._compact()

    def _columns(self) -> tuple[Digests, NDArray[np.int32], Ints]:
        if not self._clusters:
            return np.empty(0, np.uint64), np.empty(0, np.int32), np.empty(0, np.int64)
        clusters, outlines = np.concatenate(self._clusters), np.concatenate(self._outlines)
        return clusters, outlines, np.concatenate(self._counts)

    def _compact(self) -> None:
        """Add up equal (cluster, outline) pairs, so that memory grows with distinct ones only."""
        clusters, outlines, counts = self._columns()
        # One sort by cluster, then one by (rank of the cluster, outline): a quarter of the time of
        # `lexsort` by both.
        order = np.argsort(clusters)
        clusters, outlines, counts = clusters[order], outlines[order], counts[order]
        key = np.cumsum(_new(clusters)) * len(self._table) + outlines
        order = np.argsort(key)
        starts = np.flatnonzero(_new(key[order]))
        kept = order[starts]
        self._clusters, self._outlines = [clusters[kept]], [outlines[kept]]
        self._counts = [np.add.reduceat(counts[order], starts)]
        self._pending = 0


@dataclass(frozen=True, eq=False)
class Sample:
    """A finished tally: sums of features over all episodes or by cluster."""

    table: list[Outline]
    """The m distinct outlines."""
    budget: int
    """Actions allowed, the answer included: decision points beyond it are not looked at."""
    _clusters: Digests
    _outlines: NDArray[np.int32]
    _counts: Ints

    @property
    def episodes(self) -> int:
        """Number of episodes."""
        return int(self._counts.sum())

    @property
    def clusters(self) -> int:
        """Number of clusters."""
        return len(self._starts)

    @cached_property
    def weights(self) -> Ints:
        """Episodes of each outline, shape (m,)."""
        weights = np.bincount(self._outlines, weights=self._counts, minlength=len(self.table))
        return weights.astype(np.int64)

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
        outlines, counts, starts = self._outlines, self._counts, self._starts
        if keep is not None:
            kept = keep[outlines]
            outlines, counts = outlines[kept], counts[kept]
            starts = np.flatnonzero(_new(self._clusters[kept]))
        if not len(outlines) or not values.shape[1]:
            return np.zeros((0, values.shape[1]), np.int64), np.zeros(0, np.int64)
        packing = Packing.of(values.max(axis=0).astype(np.int64) * self._largest)
        sums = [
            np.add.reduceat(word[outlines] if self._once else word[outlines] * counts, starts)
            for word in packing.pack(values)
        ]
        found, clusters_with = distinct(sums)
        return packing.unpack([word[found] for word in sums]), clusters_with

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
    def _largest(self) -> int:
        """Episodes of the largest cluster."""
        return int(np.add.reduceat(self._counts, self._starts).max())

    @cached_property
    def _starts(self) -> Ints:
        """Where each cluster begins."""
        return np.flatnonzero(_new(self._clusters))

    @cached_property
    def _once(self) -> bool:
        """Whether every entry stands for one episode."""
        return bool((self._counts == 1).all())

    @cached_property
    def _by_length(self) -> Ints:
        # Outlines of like length share a block, so that one long episode pads few others.
        lengths = np.array([len(outline.actions) for outline in self.table], dtype=np.int64)
        return np.argsort(lengths, kind="stable")

    @cached_property
    def _blocks(self) -> list[Trajectories]:
        ordered = [self.table[i] for i in self._by_length.tolist()]
        return [Trajectories.of(rows, self.budget) for rows in _bounded(ordered, self.budget)]


def _new(ordered: NDArray[np.generic]) -> Bools:
    """Return where a sorted column takes another value than before."""
    new = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return new


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
