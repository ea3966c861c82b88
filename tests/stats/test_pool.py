"""Pools of cluster statistics."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from haltwise.stats.pool import Pool

matrices = st.integers(0, 30).flatmap(
    lambda n: arrays(np.float64, (n, 3), elements=st.sampled_from([0.0, -0.0, 1.0, 2.5, -3.0]))
)


@given(matrices, matrices, matrices)
def test_merge_is_a_commutative_monoid(a, b, c) -> None:  # type: ignore[no-untyped-def]
    """Merging is associative and commutative, and an empty pool changes nothing."""

    def merged(*parts):  # type: ignore[no-untyped-def]
        pool = Pool(3)
        for part in parts:
            pool.merge(part)
        return pool

    pa, pb, pc = Pool.of(a), Pool.of(b), Pool.of(c)
    assert merged(merged(pa, pb), pc) == merged(pa, merged(pb, pc)) == merged(pc, pb, pa)
    assert merged(pa, Pool(3)) == pa


@given(matrices, st.randoms(use_true_random=False))
def test_contents_alone_decide_the_arrays(rows, random) -> None:  # type: ignore[no-untyped-def]
    """Any order and any grouping of the same clusters give the same arrays, bit for bit."""
    order = list(range(len(rows)))
    random.shuffle(order)
    cut = random.randint(0, len(rows))
    pool = Pool(3)
    for part in (rows[order[:cut]], rows[order[cut:]]):
        pool.merge(Pool.of(part))
    for got, expected in zip(pool.arrays(), Pool.of(rows).arrays(), strict=True):
        assert got.tobytes() == expected.tobytes()
    distinct, counts = pool.arrays()
    assert counts.sum() == pool.clusters == len(rows)
    assert len(pool) == len(distinct) == len({tuple(row + 0.0) for row in rows})
    np.testing.assert_allclose(counts @ distinct, rows.sum(axis=0), atol=1e-12)


def test_counts_stand_for_repeated_rows() -> None:
    """A row with a count is that many equal rows, and a count of 0 is no row."""
    assert Pool.of([[1, 2], [3, 4], [5, 6]], [2, 1, 0]) == Pool.of([[1, 2], [3, 4], [1, 2]])


def test_dictionary_round_trip() -> None:
    """A pool is rebuilt from its dictionary, which holds plain bytes and numbers."""
    pool = Pool.of([[1, 2], [3, 4], [1, 2]])
    assert Pool(2, pool.to_dict()) == pool


def test_wrong_shapes_are_refused() -> None:
    """Other column numbers, NaN and odd counts are errors."""
    pool = Pool(2)
    with pytest.raises(ValueError, match="2 columns"):
        pool.add([[1, 2, 3]])
    with pytest.raises(ValueError, match="2 columns"):
        pool.merge(Pool(3))
    with pytest.raises(ValueError, match="finite"):
        pool.add([[1, np.nan]])
    with pytest.raises(ValueError, match="matrix"):
        pool.add([1, 2])
    with pytest.raises(ValueError, match="whole numbers"):
        pool.add([[1, 2]], [1.5])
    with pytest.raises(ValueError, match="16 bytes"):
        Pool(2, {b"1234": 1})
