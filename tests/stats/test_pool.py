"""Pools of cluster statistics."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from haltwise.stats.pool import pool

matrices = st.integers(0, 30).flatmap(
    lambda n: arrays(np.float64, (n, 3), elements=st.sampled_from([0.0, -0.0, 1.0, 2.5, -3.0]))
)


def merged(*pools):  # type: ignore[no-untyped-def]
    """Merge pools as the module says: stack the rows, join the counts, pool again."""
    return pool(np.vstack([rows for rows, _ in pools]), np.concatenate([c for _, c in pools]))


def same(one, other) -> bool:  # type: ignore[no-untyped-def]
    """Return whether two pools agree to the last bit."""
    return all(a.tobytes() == b.tobytes() for a, b in zip(one, other, strict=True))


@given(matrices)
def test_counts_distinct_rows(rows: np.ndarray) -> None:
    """A pool holds what a Counter of the rows holds (0.0 and -0.0 are one value)."""
    distinct, counts = pool(rows)
    expected = Counter(tuple(float(x) + 0.0 for x in row) for row in rows)
    assert dict(zip(map(tuple, distinct.tolist()), counts.tolist(), strict=True)) == expected


@given(matrices, matrices, matrices)
def test_merge_is_a_commutative_monoid(a, b, c) -> None:  # type: ignore[no-untyped-def]
    """Merging is associative and commutative, and an empty pool changes nothing."""
    a, b, c, nothing = pool(a), pool(b), pool(c), pool(np.empty((0, 3)))
    assert same(merged(merged(a, b), c), merged(a, merged(b, c)))
    assert same(merged(a, b, c), merged(c, b, a))
    assert same(merged(a, nothing), a)


@given(matrices, st.randoms(use_true_random=False), st.booleans())
def test_contents_alone_decide(rows, random, collide) -> None:  # type: ignore[no-untyped-def]
    """Any order and grouping give the same pool, bit for bit, even if all hashes collide."""
    with pytest.MonkeyPatch.context() as patch:
        if collide:
            patch.setattr(
                "haltwise.stats.pool.row_hashes", lambda m: np.zeros(len(m), dtype=np.uint64)
            )
        order = list(range(len(rows)))
        random.shuffle(order)
        cut = random.randint(0, len(rows))
        assert same(merged(pool(rows[order[:cut]]), pool(rows[order[cut:]])), pool(rows))
        distinct, counts = pool(rows)
    assert len(distinct) == len({tuple(row + 0.0) for row in rows})
    np.testing.assert_allclose(counts @ distinct, rows.sum(axis=0), atol=1e-12)


def test_counts_stand_for_repeated_rows() -> None:
    """A row with a count is that many equal rows, and a count of 0 is no row."""
    assert same(pool([[1, 2], [3, 4], [5, 6]], [2, 1, 0]), pool([[1, 2], [3, 4], [1, 2]]))
    assert len(pool([[1, 2]], [0])[0]) == 0


def test_whole_numbers_keep_their_type() -> None:
    """Short whole numbers stay short, and come in the order of the same floats."""
    rows = np.random.default_rng(0).integers(0, 3, (50, 4)).astype(np.uint8)
    short, floats = pool(rows), pool(rows.astype(float))
    assert short[0].dtype == np.uint8
    assert same((short[0].astype(float), short[1]), floats)


def test_wrong_shapes_are_refused() -> None:
    """NaN, other shapes and odd counts are errors."""
    with pytest.raises(ValueError, match="finite"):
        pool([[1, np.nan]])
    with pytest.raises(ValueError, match="matrix"):
        pool([1, 2])
    with pytest.raises(ValueError, match="whole numbers"):
        pool([[1, 2]], [1.5])
