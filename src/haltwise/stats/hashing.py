"""Hashes of numbers, on whole arrays: the randomness that depends on what is hashed alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.uint64]

STEP = np.uint64(0x9E3779B97F4A7C15)
"""Odd constant between one input and the next: 2^64 divided by the golden ratio."""


def mixed(bits: Bits) -> Bits:
    """Scramble 64 bits in place and return them: the finaliser of SplitMix64, a bijection.

    Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators".
    """
    bits ^= bits >> np.uint64(30)
    bits *= np.uint64(0xBF58476D1CE4E5B9)
    bits ^= bits >> np.uint64(27)
    bits *= np.uint64(0x94D049BB133111EB)
    bits ^= bits >> np.uint64(31)
    return bits


def row_hashes(matrix: NDArray[Any]) -> Bits:
    """Hash each row to 64 bits; equal numbers hash alike whatever their type."""
    hashes = np.zeros(len(matrix), dtype=np.uint64)
    for column in matrix.T:
        # 0.0 + makes one value of 0.0 and -0.0.
        hashes = mixed(hashes + STEP) ^ (0.0 + column.astype(np.float64)).view(np.uint64)
    return mixed(hashes + STEP)
