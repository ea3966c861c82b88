"""Hashes of numbers."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from haltwise.stats.hashing import STEP, mixed, row_hashes


def test_finaliser_in_print() -> None:
    """SplitMix64 seeded with 1234567 gives the five numbers of its reference implementation."""
    # Published test vector of splitmix64.c: state += step, then the finaliser.
    states = np.uint64(1234567) + STEP * np.arange(1, 6, dtype=np.uint64)
    assert mixed(states).tolist() == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


@given(st.integers(0, 2**64 - 1), st.integers(0, 63))
def test_one_bit_changes_about_half(number: int, bit: int) -> None:
    """Flipping one input bit flips many output bits."""
    pair = mixed(np.array([number, number ^ (1 << bit)], dtype=np.uint64))
    assert 10 <= int(pair[0] ^ pair[1]).bit_count() <= 54


def test_rows_hash_by_value() -> None:
    """Equal numbers hash alike whatever their type; other values, orders and lengths do not."""
    rows = np.random.default_rng(0).integers(0, 3, (200, 3))
    assert (row_hashes(rows.astype(np.uint8)) == row_hashes(rows.astype(float))).all()
    assert row_hashes(np.array([[0.0]])) == row_hashes(np.array([[-0.0]]))
    distinct = np.unique(rows, axis=0)
    assert len(np.unique(row_hashes(distinct))) == len(distinct)
    assert row_hashes(np.zeros((1, 2))) != row_hashes(np.zeros((1, 3)))
