"""Packed sums are the sums."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from haltwise.audit.packing import Packing, distinct

rows = arrays.arrays(
    np.int64, st.tuples(st.integers(1, 8), st.integers(1, 30)), elements=st.integers(0, 3000)
)


@given(rows)
def test_adding_words_adds_every_column(matrix: np.ndarray) -> None:
    """Words of rows, added up, unpack to the sums of the columns."""
    packing = Packing.of(matrix.sum(axis=0))
    words = [word.sum(keepdims=True) for word in packing.pack(matrix)]
    assert packing.unpack(words)[0].tolist() == matrix.sum(axis=0).tolist()


@given(rows)
def test_distinct_rows_with_their_counts(matrix: np.ndarray) -> None:
    """Distinct words stand for the distinct rows, each with the number of its occurrences."""
    packing = Packing.of(matrix.max(axis=0))
    first, counts = distinct(packing.pack(matrix))
    expected = np.unique(matrix, axis=0, return_counts=True)
    found = sorted(zip(matrix[first].tolist(), counts.tolist(), strict=True))
    assert found == sorted(zip(expected[0].tolist(), expected[1].tolist(), strict=True))


def test_wide_columns_get_words_of_their_own() -> None:
    """Two columns of 40 bits do not fit into one word."""
    packing = Packing.of(np.array([2**40 - 1, 2**40 - 1]))
    assert packing.words == 2
    matrix = np.array([[2**39, 2**40 - 1]])
    assert packing.unpack(packing.pack(matrix)).tolist() == matrix.tolist()
