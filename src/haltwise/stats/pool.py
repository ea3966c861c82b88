"""Clusters that are alike, counted: what a bootstrap needs of any number of clusters.

A bootstrap of sums does not care which cluster had which statistics, only how many had the same
ones, so that distinct rows with counts are enough. Pools merge: stack the rows of two, put their
counts one after the other, and pool again; in any order and grouping the result is the same to the
last bit. A row must be that of a whole cluster: add up what a cluster has in several shards first.
Knows nothing of what the columns mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import IntArray, cluster_counts, cluster_matrix
from .hashing import row_hashes

_BLOCK = 1 << 16
"""Rows compared at a time, which bounds the memory."""


def pool(rows: ArrayLike, counts: ArrayLike | None = None) -> tuple[NDArray[Any], IntArray]:
    """Return the distinct rows, and how many clusters have each.

    The order depends on the contents alone. Whole numbers keep their type: short ones save memory.

    Args:
        rows: cluster statistics, shape (clusters, columns).
        counts: how many clusters each row stands for; None: one. Rows with 0 are left out.

    Raises:
        ValueError: shapes do not fit, or a value is not finite.
    """
    matrix = cluster_matrix(rows)
    repeats = cluster_counts(counts, len(matrix))
    hashes = row_hashes(matrix)
    order = np.argsort(hashes, kind="stable")
    new = _new(hashes[order])
    if not _alike(matrix, order, np.flatnonzero(~new)):
        # Two rows share a hash: let the values decide.
        order = np.lexsort((*matrix.T, hashes))
        new = _new(hashes[order])
        for column in matrix.T:
            new |= _new(column[order])
    starts = np.flatnonzero(new)
    if not len(starts):
        return matrix, repeats
    totals = np.add.reduceat(repeats[order], starts)
    kept = totals > 0
    return matrix[order[starts[kept]]], totals[kept]


def _new(ordered: NDArray[Any]) -> NDArray[np.bool_]:
    """Return where a column takes another value than just before."""
    new = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return new


def _alike(matrix: NDArray[Any], order: IntArray, places: IntArray) -> bool:
    """Return whether the rows at these places of the order equal the ones just before them."""
    for start in range(0, len(places), _BLOCK):
        some = places[start : start + _BLOCK]
        if not np.array_equal(matrix[order[some]], matrix[order[some - 1]]):
            return False
    return True
