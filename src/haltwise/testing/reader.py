"""The contract of a trace reader, as a function to call from a test.

``check_reader(reader, sample)`` raises AssertionError with one sentence where a reader breaks it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from ..record.episode import RepairEpisode, SearchEpisode
from ..record.jsonl import check, decoder, encode
from ..record.readers.base import Found, OutlineReader, Reader
from ..record.skip import Skip
from ..record.source import Source, SourceError


def check_reader(reader: Reader, sample: bytes, *, mutations: int = 50, seed: int = 0) -> None:
    """Check a reader on one good file of its format.

    It knows the sample and gives at least one episode of it; reading is repeatable; every episode
    survives our own format; outlines, where it makes them itself, are those of its episodes; and
    whatever is broken in the sample, it gives episodes and skips and raises nothing.

    Args:
        reader: the reader.
        sample: the bytes of a file of its format, good from beginning to end.
        mutations: broken versions of the sample to try.
        seed: which ones.

    Raises:
        AssertionError: the contract is broken.
    """
    assert isinstance(reader, Reader), "a reader has name, splits, sniff and read"
    with TemporaryDirectory() as folder:
        path = Path(folder) / "sample"
        path.write_bytes(sample)
        with Source(str(path)) as source:
            score = reader.sniff(source.head, str(path))
        assert 0 < score <= 1, f"{reader.name}: sniff gives {score} on its own sample"
        items = list(_read(reader, path))
        found = [item for item in items if not isinstance(item, Skip)]
        assert len(found) == len(items), f"{reader.name}: skips in a good sample: {items}"
        assert found, f"{reader.name}: no episode in a good sample"
        assert items == list(_read(reader, path)), f"{reader.name}: reading twice differs"
        for _, episode in found:
            assert isinstance(episode, (SearchEpisode, RepairEpisode))
            assert check(episode) is None, f"{reader.name}: {check(episode)}"
            assert decoder.decode(encode(episode)) == episode, (
                f"{reader.name}: an episode changes when it is written and read"
            )
        if isinstance(reader, OutlineReader):
            with Source(str(path)) as source:
                count = sum(
                    0 if isinstance(made, Skip) else len(made) for made in reader.outlines(source)
                )
            assert count == len(found), f"{reader.name}: {count} outlines, {len(found)} episodes"
        for broken in mutated(sample, mutations, seed):
            path.write_bytes(broken)
            for item in _read(reader, path):
                if not isinstance(item, Skip):
                    encode(item[1])


def mutated(sample: bytes, count: int, seed: int) -> Iterator[bytes]:
    """Yield broken versions of ``sample``: cut, spliced, with bytes changed or pieces repeated."""
    rng = random.Random(seed)
    for _ in range(count):
        data = bytearray(sample)
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(data)) if data else 0
            kind = rng.randrange(6)
            if kind == 0:
                del data[at:]
            elif kind == 1:
                del data[at : at + rng.randint(1, 40)]
            elif kind == 2:
                data[at : at + 1] = bytes([rng.randrange(256)])
            elif kind == 3:
                data[at:at] = rng.choice(_PIECES)
            elif kind == 4:
                end = at + rng.randint(1, 200)
                data[at:at] = data[at:end]
            else:
                found = data.find(b":", at)
                if found >= 0:
                    data[found + 1 : found + 1 + rng.randint(1, 30)] = rng.choice(_VALUES)
        yield bytes(data)


_PIECES = (
    b'"', b"\\", b"{", b"}", b"[", b"]", b",", b"\n", b"\x00", b"\xff", b"[" * 5000,
    b'{"a":' * 5000, b"\n{}\n", b"\nnull\n", b"\n[]\n", b"\n1e999\n",
)  # fmt: skip
_VALUES = (
    b"null", b"[]", b"{}", b"1", b"-1", b'""', b"1e308", b"true", b'["x"]', b'{"x":1}',
    b'"\\ud800"', b"99999999999999999999",
)  # fmt: skip


def _read(reader: Reader, path: Path) -> Iterator[Found | Skip]:
    try:
        with Source(str(path)) as source:
            yield from reader.read(source)
    except SourceError as error:
        yield Skip(str(path), None, str(error))
