"""Decode files of one JSON record a line: fast by the block, line by line where a block is bad.

Knows how to name the bad line; ignorant of what the records are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec

from ..skip import Skip
from ..source import Block, Source

T = TypeVar("T")

DECODE_ERRORS = (msgspec.DecodeError, RecursionError, UnicodeError)
"""What decoding bytes from outside may raise; RecursionError for very deep nesting."""


def reason_of(error: BaseException, record: str) -> str:
    """Return a decoding error as the reason of a skip.

    Args:
        error: one of `DECODE_ERRORS`.
        record: what was expected, with its article: "a judged-useless episode".
    """
    if isinstance(error, RecursionError):
        return f"is not {record}: its JSON is nested too deeply"
    text = str(error)
    if "truncated" in text:
        return f"breaks off in the middle of its JSON (expected {record})"
    return f"is not {record}: {text}"


def decode_block(
    source: Source,
    block: Block,
    decoder: msgspec.json.Decoder[T],
    record: str,
    strict: msgspec.json.Decoder[Any] | None = None,
) -> tuple[list[T], range | list[int], list[Skip]]:
    """Decode the lines of a block.

    Args:
        source: the file, for naming lines.
        block: the lines.
        decoder: decodes one line.
        record: what was expected, as for `reason_of`.
        strict: the decoder whose words explain a bad line, where ``decoder`` leaves values as
            bytes and sees less.

    Returns:
        The records, their line numbers, and a skip for every line that is none.
    """
    data = block.data
    try:
        rows = decoder.decode_lines(data)
    except DECODE_ERRORS:
        rows = []
    count = data.count(b"\n") + (not data.endswith(b"\n"))
    if len(rows) == count == data.count(b"\n{") + data.startswith(b"{"):
        return rows, range(block.first, block.first + count), []
    rows, numbers, skips = [], [], []
    for number, line in block.lines():
        try:
            rows.append(decoder.decode(line))
            numbers.append(number)
        except DECODE_ERRORS as error:
            skips.append(source.skip(number, _explained(line, strict, error, record)))
    return rows, numbers, skips


def _explained(
    line: bytes | memoryview,
    strict: msgspec.json.Decoder[Any] | None,
    error: BaseException,
    record: str,
) -> str:
    if strict is not None:
        try:
            strict.decode(line)
        except DECODE_ERRORS as stricter:
            error = stricter
    return reason_of(error, record)


def records(
    source: Source, decoder: msgspec.json.Decoder[T], record: str
) -> Iterator[tuple[int, T] | Skip]:
    """Yield (line number, record) for every line of ``source``, or a skip."""
    for block in source.blocks():
        if isinstance(block, Skip):
            yield block
            continue
        rows, numbers, skips = decode_block(source, block, decoder, record)
        if not skips:
            yield from zip(numbers, rows, strict=True)
            continue
        good = iter(zip(numbers, rows, strict=True))
        following = next(good, None)
        before = source.lines_before
        for skip in skips:
            while following is not None and following[0] + before < (skip.line or 0):
                yield following
                following = next(good, None)
            yield skip
        if following is not None:
            yield following
        yield from good
