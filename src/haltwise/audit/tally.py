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

import numpy as np
from numpy.typing import NDArray

from ..record.digest import Digests
from ..record.outline import Outline, Outlines
from .trajectories import Bools, Ints, Trajectories

Features = Callable[[Trajectories], NDArray[np.generic]]
"""From m outlines to whole numbers or booleans, shape (m, columns): what each outline counts as."""

_PENDING = 1 << 22
"""Entries that are held before equal ones are added up."""
_BLOCK = 1 << 22
"""Padded steps of one block of outlines."""
_CACHED = 1 << 17
"""Numbers summed at a time: 1 MB stays in the cache, which is six times faster than 32 MB."""


class Tally:
    """Episodes by cluster and outline. Mutable; `merge` is associative and commutative."""

    def __init__(self) -> None:
        self._table: dict[Outline, int] = {}
        self._clusters: list[Digests] = []
        self._outlines: list[NDArray[np.int32]] = []
        self._counts: list[Ints] = []
        self._pending = 0

    @property
    def episodes(self) -> int:
        """Number of episodes counted."""
        return int(sum(int(counts.sum()) for counts in self._counts))

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
        clusters, outlines, counts = self._compact()
        return Sample(list(self._table), budget, clusters, outlines, counts)

    def outlines(self) -> list[Outline]:
        """Return the distinct outlines, in the order in which they came."""
        return list(self._table)

    def _extend(
        self, table: list[Outline], clusters: Digests, index: NDArray[np.int32], counts: Ints
    ) -> None:
        places = [self._table.setdefault(outline, len(self._table)) for outline in table]
        self._clusters.append(clusters)
        self._outlines.append(np.array(places, dtype=np.int32)[index])
        self._counts.append(counts)
        self._pending += len(clusters)
        if self._pending > _PENDING:
            self._compact()

    def _compact(self) -> tuple[Digests, NDArray[np.int32], Ints]:
        """Add up equal (cluster, outline) pairs; return them sorted by cluster."""
        if not self._clusters:
            return np.empty(0, np.uint64), np.empty(0, np.int32), np.empty(0, np.int64)
        clusters, outlines = np.concatenate(self._clusters), np.concatenate(self._outlines)
        counts = np.concatenate(self._counts)
        # One sort by cluster, then one by (rank of the cluster, outline): a quarter of the time of
        # `lexsort` by both.
        order = np.argsort(clusters)
        clusters, outlines, counts = clusters[order], outlines[order], counts[order]
        key = np.cumsum(_new(clusters)) * len(self._table) + outlines
        order = np.argsort(key)
        starts = np.flatnonzero(_new(key[order]))
        kept = order[starts]
        merged = (clusters[kept], outlines[kept], np.add.reduceat(counts[order], starts))
        self._clusters, self._outlines, self._counts = [merged[0]], [merged[1]], [merged[2]]
        self._pending = 0
        return merged


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
        return int(np.count_nonzero(_new(self._clusters)))

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
        return self.where(lambda outline: outline.regime == regime)

    def count(self, condition: Callable[[Outline], bool]) -> int:
        """Return how many episodes meet a condition on their outline."""
        return int(self.weights[self.where(condition)].sum())

    def values(self, features: Features) -> Ints:
        """Return what each outline counts as, shape (m, columns)."""
        found = [np.asarray(features(block), dtype=np.int64) for block in self._blocks]
        ordered = np.concatenate(found)
        values = np.empty_like(ordered)
        values[self._by_length] = ordered
        return values

    def total(self, values: Ints, keep: Bools | None = None) -> Ints:
        """Return the sum of ``values`` over all episodes whose outline is kept, (columns,)."""
        weights = self.weights if keep is None else self.weights * keep
        return weights @ values

    def pooled(self, values: Ints, keep: Bools | None = None) -> tuple[Ints, Ints]:
        """Return the distinct sums of ``values`` over a cluster, and how many clusters have each.

        Shapes (sums, columns) and (sums,). The order depends on the contents alone.

        Args:
            values: what each outline counts as, from 0 up; shape (m, columns).
            keep: outlines that count; clusters without any of these are left out.
        """
        clusters, outlines, counts = self._clusters, self._outlines, self._counts
        if keep is not None:
            kept = keep[outlines]
            clusters, outlines, counts = clusters[kept], outlines[kept], counts[kept]
        starts = np.flatnonzero(_new(clusters))
        # A cluster with one episode sums to what its outline counts as: no work by the cluster.
        alone = (np.diff(starts, append=len(clusters)) == 1) & (counts[starts] == 1)
        single = np.bincount(outlines[starts[alone]], minlength=len(self.table))
        several = _sums(values, outlines, counts, starts, ~alone)
        found = np.flatnonzero(single)
        rows = np.concatenate([values[found], several])
        return _distinct(rows, np.concatenate([single[found], np.ones(len(several), np.int64)]))

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


def _sums(
    values: Ints, outlines: NDArray[np.int32], counts: Ints, starts: Ints, wanted: Bools
) -> Ints:
    """Return the sums over the clusters wanted, in order."""
    ends = np.append(starts[1:], len(outlines))
    if not wanted.all():
        inside = np.repeat(wanted, ends - starts)
        outlines, counts, lengths = outlines[inside], counts[inside], (ends - starts)[wanted]
        ends = np.cumsum(lengths)
        starts = ends - lengths
    sums = np.empty((len(starts), values.shape[1]), dtype=np.int64)
    step = max(1, _CACHED // max(1, values.shape[1]) * len(starts) // max(1, len(outlines)))
    for first in range(0, len(starts), step):
        part = slice(first, first + step)
        begin, end = starts[first], ends[part][-1]
        rows = values[outlines[begin:end]] * counts[begin:end, None]
        sums[part] = np.add.reduceat(rows, starts[part] - begin, axis=0)
    return sums


def _distinct(rows: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Add up the counts of equal rows."""
    if not rows.size:
        return rows[:1], counts.sum(keepdims=True)[: len(rows)]
    # Rows of few values are short byte strings, which sort ten times faster than rows.
    narrow = rows.astype(np.min_scalar_type(rows.max()))
    keys = np.ascontiguousarray(narrow).view(np.dtype((np.void, narrow.itemsize * rows.shape[1])))
    _, first, place = np.unique(keys.ravel(), return_index=True, return_inverse=True)
    totals = np.bincount(place, weights=counts)
    return rows[first], totals.astype(np.int64)
