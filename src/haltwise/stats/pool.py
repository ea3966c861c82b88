"""Clusters that are alike, counted: what a bootstrap needs of any number of clusters.

A bootstrap of sums does not care which cluster had which statistics, only how many had the same
ones. A `Pool` therefore holds each distinct vector of cluster statistics once, with its count.
Pools merge in any order and any grouping to the same pool, so that shards of the data can be
counted apart. A vector must be that of a whole cluster: add up what a cluster has in several shards
first.
Knows nothing of what the columns mean.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from .arrays import FloatArray, IntArray, cluster_counts, cluster_matrix


class Pool:
    """A multiset of cluster statistics; `merge` is associative and commutative."""

    __slots__ = ("_counts", "columns")

    def __init__(self, columns: int, counts: Mapping[bytes, int] | None = None) -> None:
        """Start with ``counts`` as `to_dict` returned them, or empty.

        Raises:
            ValueError: a key is not ``columns`` floats long.
        """
        self.columns = columns
        """Number of statistics of a cluster."""
        self._counts: Counter[bytes] = Counter()
        for key, count in (counts or {}).items():
            if len(key) != 8 * columns:
                raise ValueError(f"a key of this pool has {8 * columns} bytes; got {len(key)}")
            self._counts[key] += count

    @classmethod
    def of(cls, rows: ArrayLike, counts: ArrayLike | None = None) -> Pool:
        """Return the pool of a (clusters x columns) matrix."""
        matrix = cluster_matrix(rows)
        pool = cls(matrix.shape[1])
        pool.add(matrix, counts)
        return pool

    def add(self, rows: ArrayLike, counts: ArrayLike | None = None) -> None:
        """Count the clusters of a (clusters x columns) matrix in.

        Raises:
            ValueError: the rows have another number of columns, or are not finite.
        """
        matrix = cluster_matrix(rows)
        if matrix.shape[1] != self.columns:
            raise ValueError(f"this pool has {self.columns} columns; got {matrix.shape[1]}")
        matrix = matrix + 0.0  # -0.0 and 0.0 are one value and must be one key
        width = 8 * self.columns
        data = matrix.tobytes()
        keys = (data[i : i + width] for i in range(0, len(data), width))
        if counts is None:
            self._counts.update(keys)
            return
        for key, count in zip(keys, cluster_counts(counts, len(matrix)).tolist(), strict=True):
            if count:
                self._counts[key] += count

    def merge(self, other: Pool) -> None:
        """Count the clusters of ``other`` in.

        Raises:
            ValueError: ``other`` has another number of columns.
        """
        if other.columns != self.columns:
            raise ValueError(f"this pool has {self.columns} columns; got {other.columns}")
        self._counts.update(other._counts)

    @property
    def clusters(self) -> int:
        """Number of clusters counted."""
        return self._counts.total()

    def __len__(self) -> int:
        """Return the number of distinct vectors."""
        return len(self._counts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pool):
            return NotImplemented
        return self.columns == other.columns and self._counts == other._counts

    __hash__ = None  # type: ignore[assignment]

    def to_dict(self) -> dict[bytes, int]:
        """Return ``{statistics: count}``; a key is the vector as 8-byte floats of this machine."""
        return dict(self._counts)

    def arrays(self) -> tuple[FloatArray, IntArray]:
        """Return the distinct vectors as a matrix, and their counts.

        The order depends on the contents alone, so that whatever is computed from the arrays is
        the same to the last bit however the pool came about.
        """
        keys = sorted(self._counts)
        rows = np.frombuffer(b"".join(keys), dtype=np.float64).reshape(len(keys), self.columns)
        counts = np.fromiter((self._counts[key] for key in keys), dtype=np.int64, count=len(keys))
        return rows, counts
