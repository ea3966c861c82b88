"""The records of a JSON file, however it is laid out: lines, one array, or one object.

Records come as raw bytes, one at a time. Ignorant of what they hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from ..skip import Skip
from ..source import Source, SourceError
from .lines import DECODE_ERRORS, reason_of
from .sniffing import is_array

_raw = msgspec.json.Decoder(msgspec.Raw)
_array = msgspec.json.Decoder(list[msgspec.Raw])
_any = msgspec.json.Decoder()


class Item(msgspec.Struct, frozen=True, gc=False):
    """One record as it stands in the file."""

    line: int | None
    """Its line where the file is a list of lines, else None."""
    number: int
    """Its position among the records, from 1."""
    data: bytes | memoryview
    """Its JSON text."""

    def skip(self, source: Source, reason: str) -> Skip:
        """Return the skip of this record."""
        place = reason if self.line is not None else f"record {self.number} {reason}"
        return source.skip(self.line, place)


Pair = tuple[Item, Any] | Skip
"""A record with its decoded value, or why there is none."""

_RECORDS = 16
_BYTES = 1 << 18


def items(source: Source, record: str) -> Iterator[Item | Skip]:
    """Yield every record of a file of JSON lines, of one array of records, or of one record.

    An array whose first element is an array or an object with a role is itself one record where
    it stands on a line of its own among others.

    Args:
        source: the file.
        record: what was expected, with its article.
    """
    lines = source.lines()
    first = next(lines, None)
    if first is None:
        return
    if isinstance(first, Skip):
        yield first
        yield from _by_line(lines, 1)
        return
    number, text = first
    if _is_json(text):
        second = next(lines, None)
        if second is not None or not is_array(text):
            yield Item(number, 1, text)
            if second is not None:
                yield from _by_line(_chain(second, lines), 2)
            return
        yield from _elements(text)
        return
    second = next(lines, None)
    if second is None or isinstance(second, Skip) or _is_json(second[1]):
        yield source.skip(number, reason_of(_problem(text), record))
        if second is not None:
            yield from _by_line(_chain(second, lines), 2)
        return
    parts: list[memoryview] = [text, second[1]]
    for line in lines:
        if isinstance(line, Skip):
            yield line
        else:
            parts.append(line[1])
    whole = b"\n".join(parts)
    del parts
    if not _is_json(whole):
        yield source.skip(None, reason_of(_problem(whole), record))
    elif is_array(whole):
        yield from _elements(whole)
    else:
        yield Item(None, 1, whole)


def decoded(source: Source, record: str) -> Iterator[Pair]:
    """Yield every record of `items` with its decoded value, or a skip."""
    decode = _any.decode
    for item in items(source, record):
        if isinstance(item, Skip):
            yield item
            continue
        try:
            value = decode(item.data)
        except DECODE_ERRORS as error:
            yield item.skip(source, reason_of(error, record))
        else:
            yield item, value


def batches(pairs: Iterator[Pair]) -> Iterator[list[Pair]]:
    """Yield what `decoded` yields, in lists of at most 16 records and about 256 KB.

    To read the messages of several records, then to make all their episodes, is a tenth quicker
    than to take turns: the processor keeps the code of each at hand. What came before the file
    breaks off is yielded first.
    """
    held: list[Pair] = []
    size = 0
    try:
        for pair in pairs:
            held.append(pair)
            size += 0 if isinstance(pair, Skip) else len(pair[0].data)
            if len(held) >= _RECORDS or size > _BYTES:
                yield held
                held, size = [], 0
    except SourceError:
        if held:
            yield held
        raise
    if held:
        yield held


def _elements(text: bytes | memoryview) -> Iterator[Item]:
    """Yield the elements of an array; an array of chat messages is one record itself."""
    elements = _array.decode(text)
    if elements and _is_message(elements[0]):
        yield Item(None, 1, text)
        return
    for number, element in enumerate(elements, 1):
        yield Item(None, number, memoryview(element))


def _is_message(element: msgspec.Raw) -> bool:
    try:
        value = _any.decode(element)
    except DECODE_ERRORS:
        return False
    if not isinstance(value, dict):
        return False
    return isinstance(value.get("role"), str) or (
        isinstance(value.get("type"), str)
        and value["type"].endswith(("_call", "_call_output", "message", "reasoning", "human"))
    )


def _by_line(lines: Iterator[tuple[int, memoryview] | Skip], number: int) -> Iterator[Item | Skip]:
    for count, line in enumerate(lines, number):
        yield line if isinstance(line, Skip) else Item(line[0], count, line[1])


def _chain(
    first: tuple[int, memoryview] | Skip, rest: Iterator[tuple[int, memoryview] | Skip]
) -> Iterator[tuple[int, memoryview] | Skip]:
    yield first
    yield from rest


def _is_json(text: bytes | memoryview) -> bool:
    try:
        _raw.decode(text)
    except DECODE_ERRORS:
        return False
    return True


def _problem(text: bytes | memoryview) -> BaseException:
    try:
        _raw.decode(text)
    except DECODE_ERRORS as error:
        return error
    return ValueError("is JSON")
