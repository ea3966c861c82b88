"""What a file begins with, for readers that guess by content: the keys of its first JSON object.

Works on the first 64 KB, which may break off anywhere. Knows no format.
"""

from __future__ import annotations

import re
from functools import lru_cache

_ARRAY = re.compile(rb"\s*\[")
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}:,]', re.DOTALL)


@lru_cache(maxsize=4)
def first_object_keys(head: bytes) -> frozenset[str]:
    """Return the keys of the first object in ``head``, or of the first one in its array.

    Empty where the text does not begin with an object or an array of objects.
    """
    text = head.lstrip()
    if text.startswith(b"["):
        text = text[1:].lstrip()
    if not text.startswith(b"{"):
        return frozenset()
    keys: set[str] = set()
    depth, last = 0, b""
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token in (b"{", b"["):
            depth += 1
        elif token in (b"}", b"]"):
            depth -= 1
            if depth == 0:
                break
        elif token == b":":
            if depth == 1:
                keys.add(last[1:-1].decode("utf-8", "replace"))
        elif token != b",":
            last = token
    return frozenset(keys)


def is_array(text: bytes | memoryview) -> bool:
    """Whether ``text`` begins with a JSON array."""
    return _ARRAY.match(text) is not None
