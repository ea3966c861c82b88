"""Cut the input into parts that workers read side by side.

A part is a whole file, or a byte range of an uncompressed local file whose format is one record a
line, cut at line ends. Reading all parts in order gives what reading the whole gives, but for
duplicates across parts: those share a `haltwise.record.digest.DigestSet` or are found when merged.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from .digest import digest_bytes
from .readers.base import detect, reader_named
from .skip import Skip
from .source import Paths, Shard, Source, SourceError, expand, file_version, is_url

SHARD = 64 << 20
"""Bytes of a part, about."""


def plan(paths: Paths, format: str | None = None, size: int = SHARD) -> Iterator[Shard | Skip]:
    """Yield the parts of ``paths`` in order, and a skip for every file that cannot be read at all.

    Args:
        paths: what to read.
        format: name of a reader; None detects one for each file, and the parts carry it.
        size: bytes of a part, about; a line is never cut.

    Raises:
        InputError: there is no reader called ``format``.
    """
    for item in expand(paths):
        if isinstance(item, Skip) or item.start or item.end is not None:
            yield item
            continue
        try:
            yield from _parts(item, format or item.format, size)
        except SourceError as error:
            yield Skip(item.path, None, str(error))


def part_name(shard: Shard, salt: str = "") -> str:
    """Return a name for what was made of a part: the same for the same bytes of the same file.

    Args:
        shard: the part.
        salt: what else the result depends on.
    """
    version = file_version(shard.path)
    text = f"{salt}/{shard.path}/{shard.start}/{shard.end}/{shard.format}/{version}"
    kept = f"once-{os.getpid()}" if version is None else "part"
    return f"{kept}-{digest_bytes(text.encode('utf-8', 'surrogateescape')).hex()}"


def _parts(whole: Shard, format: str | None, size: int) -> Iterator[Shard]:
    if not is_url(whole.path) and Path(whole.path).exists() and not Path(whole.path).is_file():
        yield Shard(whole.path, format=format)  # a pipe can be opened but once
        return
    with Source(whole.path) as source:
        reader = reader_named(format) if format else detect(source.head, source.path)
        plain = source.plain
    if not reader.splits or not plain or is_url(whole.path) or not Path(whole.path).is_file():
        yield Shard(whole.path, format=reader.name)
        return
    length = Path(whole.path).stat().st_size
    if length <= size:
        yield Shard(whole.path, format=reader.name)
        return
    with Path(whole.path).open("rb") as file:
        start = 0
        while start < length:
            file.seek(start + size - 1)
            end = length
            if start + size < length:
                while chunk := file.read(1 << 20):
                    found = chunk.find(b"\n")
                    if found >= 0:
                        end = file.tell() - len(chunk) + found + 1
                        break
            yield Shard(whole.path, start, end, reader.name)
            start = end
