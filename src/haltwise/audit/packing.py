"""Several small counts side by side in one 64-bit word, so that adding words adds all of them.

Sums by cluster over twenty columns of small counts are one sum of words, and clusters with equal
sums are found by sorting words: ten times faster than rows of columns. Knows no statistics.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

_BITS = 62


@dataclass(frozen=True)
class Packing:
    """Where each column lies: in which word, and from which bit on."""

    word: tuple[int, ...]
    shift: tuple[int, ...]
    bits: tuple[int, ...]

    @classmethod
    def of(cls, largest: Ints) -> Packing:
        """Return a packing in which no sum overflows.

        Args:
            largest: the largest sum that can occur in each column, below 2^62.
        """
        words, shifts, widths = [], [], []
        word = used = 0
        for bound in largest.tolist():
            bits = max(1, int(bound).bit_length())
            if used + bits > _BITS:
                word, used = word + 1, 0
            words.append(word)
            shifts.append(used)
            widths.append(bits)
            used += bits
        return cls(tuple(words), tuple(shifts), tuple(widths))

    @property
    def words(self) -> int:
        """Number of words of a row."""
        return self.word[-1] + 1 if self.word else 0

    def pack(self, rows: NDArray[Any]) -> list[Ints]:
        """Return the words of each row, one array a word."""
        packed = [np.zeros(len(rows), dtype=np.int64) for _ in range(self.words)]
        for column, (word, shift) in enumerate(zip(self.word, self.shift, strict=True)):
            packed[word] += rows[:, column].astype(np.int64) << shift
        return packed

    def unpack(self, packed: list[Ints]) -> Ints:
        """Return the rows of words: the inverse of `pack`, also after words were added up."""
        length = len(packed[0]) if packed else 0
        rows = np.empty((length, len(self.word)), dtype=np.int64)
        for column, (word, shift) in enumerate(zip(self.word, self.shift, strict=True)):
            rows[:, column] = packed[word] >> shift & ((1 << self.bits[column]) - 1)
        return rows


def distinct(words: list[Ints], counts: Ints | None = None) -> tuple[Ints, Ints]:
    """Return where each distinct row of at least one word first stands, and how often it occurs.

    Args:
        words: the words of each row.
        counts: how often each row counts; None: once.
    """
    code = words[0]
    for word in words[1:]:
        _, left = np.unique(code, return_inverse=True)
        found, right = np.unique(word, return_inverse=True)
        code = left * len(found) + right
    if counts is None:
        _, first, counts = np.unique(code, return_index=True, return_counts=True)
        return first, counts
    order = np.argsort(code, kind="stable")
    new = np.ones(len(order), bool)
    np.not_equal(code[order][1:], code[order][:-1], out=new[1:])
    starts = np.flatnonzero(new)
    return order[starts], np.add.reduceat(counts[order], starts)
