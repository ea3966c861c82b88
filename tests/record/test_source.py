"""Bytes from anywhere: compression, encodings, long lines, folders, ranges."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from haltwise.record import source as module
from haltwise.record.skip import Skip
from haltwise.record.source import Shard, Source, SourceError, expand

TEXT = b'{"a": 1}\n{"b": "\xc3\xa9"}\n'


def lines_of(path: Path | str, start: int = 0, end: int | None = None) -> list[object]:
    """Return all lines and skips of a file."""
    with Source(str(path), start, end) as source:
        return list(source.lines())


@pytest.mark.parametrize(
    "data",
    [
        TEXT,
        gzip.compress(TEXT),
        gzip.compress(TEXT[:9]) + gzip.compress(TEXT[9:]),
        zstandard.compress(TEXT),
        zstandard.compress(TEXT[:9]) + zstandard.compress(TEXT[9:]),
        b"\xef\xbb\xbf" + TEXT,
        TEXT.decode().encode("utf-16"),
        b"\xfe\xff" + TEXT.decode().encode("utf-16-be"),
        TEXT.decode().encode("utf-32"),
        gzip.compress(TEXT.decode().encode("utf-16")),
    ],
    ids=["plain", "gzip", "2gzip", "zstd", "2zstd", "bom", "utf16", "utf16be", "utf32", "gzip16"],
)
def test_the_same_lines_whatever_the_wrapping(tmp_path: Path, data: bytes) -> None:
    """Compression and encoding are seen by content, under any file name."""
    path = tmp_path / "x"
    path.write_bytes(data)
    assert lines_of(path) == [(1, TEXT.split(b"\n")[0]), (2, TEXT.split(b"\n")[1])]


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress])
def test_broken_compression_gives_what_came_before_and_says_so(
    tmp_path: Path, compress: object
) -> None:
    """A file cut off in its compressed data yields its lines so far, then an error."""
    lines = b"".join(
        b'{"n": %d, "x": "%s"}\n' % (n, bytes([65 + n % 20]) * 30) for n in range(50_000)
    )
    path = tmp_path / "x"
    whole: bytes = compress(lines)  # type: ignore[operator]
    path.write_bytes(whole[: len(whole) * 2 // 3])
    with Source(str(path)) as source:
        seen = 0
        with pytest.raises(SourceError):
            for _ in source.lines():
                seen += 1
    assert seen > 10_000


def test_a_long_line_is_passed_over_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line above the limit is one skip; the lines around it are read."""
    monkeypatch.setattr(module, "MAX_LINE", 100)
    monkeypatch.setattr(module, "BLOCK", 16)
    monkeypatch.setattr(module, "HEAD", 16)
    path = tmp_path / "x"
    path.write_bytes(b"one\n" + b"x" * 200 + b"\nthree\n" + b"y" * 300)
    first, skip, third, last = lines_of(path)
    assert (first, third) == ((1, b"one"), (3, b"three"))
    assert isinstance(skip, Skip) and skip.line == 2
    assert isinstance(last, Skip) and last.line == 4


@given(
    st.lists(st.binary(max_size=40).map(lambda b: b.replace(b"\n", b"")), max_size=30),
    st.booleans(),
    st.integers(1, 50),
)
def test_blocks_are_the_file(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], end: bool, size: int
) -> None:
    """Whatever the block size, the blocks joined are the file, and their line numbers follow."""
    data = b"\n".join(lines) + (b"\n" if end else b"")
    path = tmp_path_factory.mktemp("f") / "x"
    path.write_bytes(b"start" + data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK", size)
        patch.setattr(module, "HEAD", size)
        with Source(str(path)) as source:
            blocks = list(source.blocks())
    joined = b""
    for block in blocks:
        assert isinstance(block, module.Block)
        assert block.first == joined.count(b"\n") + 1
        joined += block.data
        assert block.data.endswith(b"\n") or joined == b"start" + data
    assert joined == b"start" + data


def test_a_byte_range_numbers_its_skips_from_the_top_of_the_file(tmp_path: Path) -> None:
    """A shard that starts at line 3 names line 3 of the file, not line 1 of the shard."""
    path = tmp_path / "x"
    path.write_bytes(b"aa\nbb\ncc\ndd\n")
    assert lines_of(path, 6, 9) == [(1, b"cc")]
    with Source(str(path), 6, 9) as source:
        assert source.skip(1, "bad") == Skip(str(path), 3, "bad")


def test_folders_globs_and_names_that_lead_nowhere(tmp_path: Path) -> None:
    """Folders and globs give their files in order; what names nothing is a skip."""
    (tmp_path / "b").mkdir()
    (tmp_path / "empty").mkdir()
    for name in ("a.jsonl", "b/c.jsonl", "b/d.txt"):
        (tmp_path / name).write_bytes(TEXT)
    (tmp_path / "b" / "link").symlink_to(tmp_path / "nowhere")
    found = list(expand(tmp_path))
    assert [Path(f.path).name for f in found] == ["a.jsonl", "c.jsonl", "d.txt", "link"]
    assert isinstance(found[3], Skip)
    globbed = list(expand([str(tmp_path / "**" / "*.jsonl")]))
    assert [Path(f.path).name for f in globbed] == ["a.jsonl", "c.jsonl"]
    for nothing in (tmp_path / "empty", str(tmp_path / "*.nope")):
        assert [type(item) for item in expand(nothing)] == [Skip]
    shard = Shard("x", 1, 2, "haltwise")
    assert list(expand([shard])) == [shard]


def test_urls_are_read_through_fsspec(tmp_path: Path) -> None:
    """Any fsspec URL is read like a path; globs and folders work on it, too."""
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(TEXT))
    url = f"file://{tmp_path}"
    assert [str(Path(s.path).name) for s in expand([url])] == ["a.jsonl.gz"]
    (shard,) = expand([f"{url}/*.gz"])
    assert len(lines_of(shard.path)) == 2
    with pytest.raises(SourceError):
        Source("nosuchscheme://x")


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    """The reason is that of the operating system."""
    with pytest.raises(SourceError, match="No such file"):
        Source(str(tmp_path / "x"))
