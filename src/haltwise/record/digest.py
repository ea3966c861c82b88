"""Stable 8-byte digests of names, and a set of them that stays small at ten million.

The digests are the same in every process and on every machine, so that shards can be merged.
Two names share one with probability 2^-64: about 3e-6 for any pair among ten million.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

Digests = NDArray[np.uint64]
"""One digest for each record, in the order of the records."""

_EMPTY = 64
_FEW = 1 << 14


def digest_bytes(name: bytes | memoryview) -> bytes:
    """Return the 8-byte digest of a name as bytes (little-endian)."""
    return blake2b(name, digest_size=8).digest()


def digest_many(names: list[bytes]) -> Digests:
    """Return the digests of many names."""
    digests = [blake2b(name, digest_size=8).digest() for name in names]
    return np.frombuffer(b"".join(digests), "<u8")


def mix(first: Digests, second: Digests) -> Digests:
    """Combine two digests of each record into one; the order of the two matters.

    The finaliser of splitmix64 (Steele, Lea & Flood 2014) over a multiplied sum.
    """
    with np.errstate(over="ignore"):
        z = first * np.uint64(0x9E3779B97F4A7C15) + second
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed: Digests = z ^ (z >> np.uint64(31))
    return mixed


_MASK = (1 << 64) - 1


def mix_one(first: bytes, second: bytes) -> int:
    """Combine two 8-byte digests into one number: `mix` for a single record."""
    z = int.from_bytes(first, "little") * 0x9E3779B97F4A7C15 + int.from_bytes(second, "little")
    z &= _MASK
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & _MASK
    return z ^ (z >> 31)


class DigestSet:
    """A growing set of digests: open addressing in one array, 11 to 22 bytes a digest.

    The first ones that come one by one wait in a set of Python's, which is quicker for a few.
    """

    def __init__(self) -> None:
        self._slots: Digests = np.zeros(_EMPTY, np.uint64)
        self._size = 0
        self._zero = False
        self._few: set[int] = set()

    def __len__(self) -> int:
        return self._size + self._zero + len(self._few)

    def add(self, digests: Digests) -> NDArray[np.bool_]:
        """Add digests in order; return for each whether it is new (a repetition is not)."""
        self._settle()
        fresh = np.zeros(len(digests), bool)
        distinct, first = np.unique(digests, return_index=True)
        if len(distinct) and distinct[0] == 0:
            fresh[first[0]] = not self._zero
            self._zero = True
            distinct, first = distinct[1:], first[1:]
        self._grow(self._size + len(distinct))
        new = self._insert(distinct)
        self._size += int(new.sum())
        fresh[first[new]] = True
        return fresh

    def add_one(self, digest: int) -> bool:
        """Add one digest; return whether it is new."""
        if not self._size and not self._zero and len(self._few) < _FEW:
            if digest in self._few:
                return False
            self._few.add(digest)
            return True
        self._settle()
        if digest == 0:
            new, self._zero = not self._zero, True
            return new
        self._grow(self._size + 1)
        slots = self._slots
        mask = len(slots) - 1
        slot = digest & mask
        while (found := int(slots[slot])) != digest:
            if found == 0:
                slots[slot] = digest
                self._size += 1
                return True
            slot = (slot + 1) & mask
        return False

    def values(self) -> Digests:
        """Return all digests, ascending."""
        self._settle()
        kept = np.sort(self._slots[self._slots != 0])
        return np.concatenate([np.zeros(1, np.uint64), kept]) if self._zero else kept

    def _settle(self) -> None:
        """Move the first ones into the array."""
        if self._few:
            waiting = np.array(sorted(self._few), np.uint64)
            self._few = set()
            self.add(waiting)

    def _grow(self, size: int) -> None:
        capacity = len(self._slots)
        while 3 * capacity < 4 * size:  # three slots of four at most are taken
            capacity *= 2
        if capacity > len(self._slots):
            old = self._slots[self._slots != 0]
            self._slots = np.zeros(capacity, np.uint64)
            self._insert(old)

    def _insert(self, distinct: Digests) -> NDArray[np.bool_]:
        """Insert distinct digests, none of them 0; return which were not there before.

        Each turn looks at one slot for every digest still on its way: taken by itself (known),
        empty (write; where two write, one stands and the other moves on), or taken by another.
        """
        mask = np.uint64(len(self._slots) - 1)
        new = np.zeros(len(distinct), bool)
        waiting = np.arange(len(distinct))
        slots = distinct & mask
        while len(waiting):
            values = distinct[waiting]
            found = self._slots[slots]
            empty = found == 0
            self._slots[slots[empty]] = values[empty]
            placed = empty & (self._slots[slots] == values)
            new[waiting[placed]] = True
            on = ~placed & (found != values)
            waiting = waiting[on]
            slots = (slots[on] + np.uint64(1)) & mask
        return new
