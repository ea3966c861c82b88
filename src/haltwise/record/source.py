"""Where bytes come from: paths, folders, globs, URLs; gzip, zstd and UTF-16 undone on the way.

Yields blocks of whole lines in constant memory. Ignorant of what the lines mean.
"""

from __future__ import annotations

import codecs
import glob
import gzip
import io
import os
import stat
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from ..core.errors import InputError
from .skip import Skip

HEAD = 1 << 16
"""Bytes at the beginning that detection looks at."""
BLOCK = 1 << 20
"""Bytes read at a time."""
MAX_LINE = 1 << 28
"""Longest line that is read, in bytes; a longer one is passed over and named."""
MAX_DOCUMENT = 1 << 30
"""Largest document (a file that is one JSON value), in bytes after decompression."""

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class SourceError(InputError):
    """A file cannot be read (further); the message is the reason of its `Skip`."""


@dataclass(frozen=True, slots=True)
class Shard:
    """A part of the input that one worker reads: a file, or some whole lines of it."""

    path: str
    """The file."""
    start: int = 0
    """First byte, the beginning of a line."""
    end: int | None = None
    """Byte to stop before, the end of a line; None for the end of the file."""
    format: str | None = None
    """Name of the reader; None detects it."""


Paths = str | os.PathLike[str] | Shard | Iterable[str | os.PathLike[str] | Shard]
"""A file, folder, glob, fsspec URL or shard, or several of them."""


@dataclass(frozen=True, slots=True)
class Block:
    """Some whole lines of a file."""

    first: int
    """Number of its first line, from 1, counted from where the source starts."""
    data: bytes
    """The lines with their line ends; the last line of a file may lack one."""

    def lines(self) -> Iterator[tuple[int, memoryview]]:
        """Yield (number, line) for every line that is not blank, without a copy."""
        data, view = self.data, memoryview(self.data)
        number, start, size = self.first, 0, len(self.data)
        while start < size:
            end = data.find(b"\n", start)
            end = size if end < 0 else end
            if end > start and (data[start] > 32 or not data[start:end].isspace()):
                yield number, view[start:end]
            number, start = number + 1, end + 1


class Source:
    """One open file, decompressed and in UTF-8. Read it once, from front to back.

    Attributes:
        path: the file as it was named.
        plain: whether its bytes are the text itself: not compressed, no byte order mark.
        head: its first 64 KB, decompressed and in UTF-8.
    """

    def __init__(self, path: str, start: int = 0, end: int | None = None) -> None:
        """Open ``path``.

        Args:
            path: a file, or any URL that fsspec knows.
            start: first byte to read, the beginning of a line (uncompressed files only).
            end: byte to stop before, the end of a line; None reads to the end.

        Raises:
            SourceError: it cannot be opened.
        """
        self.path = path
        self.plain = True
        self._start, self._end = start, end
        self._before: int | None = None if start else 0
        self._failure: SourceError | None = None
        self._raw = open_raw(path)
        try:
            self._stream: IO[bytes] = self._decoded(start, end)
            self.head = self._read(HEAD)
        except BaseException:
            self._raw.close()
            raise

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *_: object) -> None:
        self._raw.close()

    def blocks(self) -> Iterator[Block | Skip]:
        """Yield the file as blocks of whole lines, and a skip for a line that is too long.

        Raises:
            SourceError: the file ends in the middle of its compressed data, or is not text.
        """
        parts: list[bytes] = []
        held, line, too_long = 0, 1, False
        chunk = self.head
        while chunk:
            cut = chunk.rfind(b"\n") + 1
            if cut:
                if too_long:
                    yield self._too_long(line)
                    line += 1
                    whole = chunk[chunk.index(b"\n") + 1 : cut]
                else:
                    whole = b"".join([*parts, memoryview(chunk)[:cut]])
                chunk = chunk[cut:]
                parts, held, too_long = [], 0, False
                if whole:
                    yield Block(line, whole)
                    line += whole.count(b"\n")
            held += len(chunk)
            if held > MAX_LINE:
                parts, too_long = [], True
            elif chunk:
                parts.append(chunk)
            try:
                chunk = self._read(BLOCK)
            except SourceError:
                if parts:
                    yield Block(line, b"".join(parts))
                raise
        if too_long:
            yield self._too_long(line)
        elif parts:
            yield Block(line, b"".join(parts))

    def lines(self) -> Iterator[tuple[int, memoryview] | Skip]:
        """Yield (number, line) for every line that is not blank; see `blocks`."""
        for block in self.blocks():
            if isinstance(block, Skip):
                yield block
            else:
                yield from block.lines()

    def whole(self) -> bytes:
        """Return everything at once.

        Raises:
            SourceError: it is larger than `MAX_DOCUMENT`, or breaks off.
        """
        parts, size = [self.head], len(self.head)
        while chunk := self._read(BLOCK):
            parts.append(chunk)
            size += len(chunk)
            if size > MAX_DOCUMENT:
                raise SourceError(
                    f"one document of more than {MAX_DOCUMENT >> 20} MB; "
                    "write its records as JSON lines"
                )
        return b"".join(parts)

    def skip(self, line: int | None, reason: str) -> Skip:
        """Return the skip of a line of this file, numbered from the beginning of the file."""
        return Skip(self.path, None if line is None else line + self.lines_before, reason)

    def _too_long(self, line: int) -> Skip:
        return self.skip(line, f"the line is longer than {MAX_LINE >> 20} MB")

    @property
    def lines_before(self) -> int:
        """Number of lines before the byte where this source starts; counted when it is needed."""
        if self._before is None:
            self._before = _lines_before(self.path, self._start)
        return self._before

    def _decoded(self, start: int, end: int | None) -> IO[bytes]:
        stream = decompressed(self._raw)
        self.plain = stream is self._raw
        if start or end is not None:
            if stream is not self._raw:
                raise SourceError("a compressed file has no byte ranges")
            self._raw.seek(start)
            return _Range(self._raw, None if end is None else end - start)  # type: ignore[return-value]
        first = b""
        try:
            while len(first) < 4 and (chunk := stream.read(4)):
                first += chunk
        except Exception as error:
            raise _source_error(error) from error
        for bom, encoding in _BOMS:
            if first.startswith(bom):
                self.plain = False
                if encoding == "utf-8":
                    return _Joined(first[len(bom) :], stream)  # type: ignore[return-value]
                return _Transcoded(_Joined(first, stream), encoding)  # type: ignore[return-value]
        return _Joined(first, stream)  # type: ignore[return-value]

    def _read(self, size: int) -> bytes:
        """Return ``size`` bytes or a little more, fewer at the end, and all before a failure."""
        parts: list[bytes] = []
        while size > 0 and self._failure is None:
            try:
                chunk = self._stream.read(size)
            except Exception as error:
                self._failure = _source_error(error)
                break
            if not chunk:
                break
            parts.append(chunk)
            size -= len(chunk)
        if not parts and self._failure is not None:
            raise self._failure
        return b"".join(parts)


_counted: dict[str, tuple[str, int, int]] = {}
"""For the file of each path: its version, and how many lines stand before which byte of it."""


def _lines_before(path: str, start: int) -> int:
    """Count lines from where the last count of this file ended: once over all parts of it."""
    version = file_version(path)
    known, byte, lines = _counted.get(path, ("", 0, 0))
    if version is None or known != version or byte > start:
        byte = lines = 0
    with open_raw(path) as raw:
        raw.seek(byte)
        left = start - byte
        while left and (chunk := raw.read(min(left, BLOCK))):
            lines += chunk.count(b"\n")
            left -= len(chunk)
    if version is not None:
        if path not in _counted and len(_counted) >= 64:
            _counted.clear()
        _counted[path] = (version, start, lines)
    return lines


def file_version(path: str) -> str | None:
    """Return what changes when a local file does: its size and time; None for anything else."""
    if is_url(path) or not Path(path).is_file():
        return None
    status = Path(path).stat()
    return f"{status.st_size}/{status.st_mtime_ns}"


def _source_error(error: Exception) -> SourceError:
    if isinstance(error, UnicodeDecodeError):
        made = SourceError(f"is marked as {error.encoding} and is not: {error.reason}")
    elif isinstance(error, EOFError):
        made = SourceError("ends in the middle of its compressed data")
    elif isinstance(error, (OSError, zlib.error)) or type(error).__name__ == "ZstdError":
        made = SourceError(f"cannot be read further: {error}")
    else:
        raise error
    made.__cause__ = error
    return made


class _Gzip:
    """A gzip stream that gives what it has before it fails."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._stream = gzip.GzipFile(fileobj=raw)

    def read(self, size: int) -> bytes:
        return self._stream.read1(size)


class _Zstd:
    """A zstd stream of any number of frames that tells when it is cut off.

    Fed 2 KB at a time: a block of 4 bytes may stand for 128 KB, so that one turn makes 64 MB at
    most, whatever was sent.
    """

    def __init__(self, raw: IO[bytes], factory: Any) -> None:
        self._raw, self._factory = raw, factory
        self._frame = factory.decompressobj()
        self._begun = False

    def read(self, size: int) -> bytes:
        while True:
            compressed = self._raw.read(2048)
            if not compressed:
                if self._begun:
                    raise EOFError
                return b""
            data = b""
            while compressed:
                self._begun = True
                data += self._frame.decompress(compressed)
                if not self._frame.eof:
                    break
                compressed = self._frame.unused_data
                self._frame = self._factory.decompressobj()
                self._begun = False
            if data:
                return data


class _Range:
    """At most ``size`` bytes of a stream, from where it stands."""

    def __init__(self, stream: IO[bytes], size: int | None) -> None:
        self._stream, self._left = stream, size

    def read(self, size: int) -> bytes:
        data = self._stream.read(size if self._left is None else min(size, self._left))
        if self._left is not None:
            self._left -= len(data)
        return data


class _Joined:
    """A few bytes that were read already, then the rest of the stream."""

    def __init__(self, first: bytes, stream: Any) -> None:
        self._first, self._stream = first, stream

    def read(self, size: int) -> bytes:
        first, self._first = self._first, b""
        if first:
            return first
        data: bytes = self._stream.read(size)
        return data


class _Transcoded:
    """A stream in another encoding as UTF-8."""

    def __init__(self, stream: Any, encoding: str) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(encoding)()

    def read(self, size: int) -> bytes:
        while True:
            chunk = self._stream.read(size)
            text = self._decoder.decode(chunk, final=not chunk)
            if text or not chunk:
                return text.encode("utf-8", "surrogatepass")


def open_raw(path: str) -> IO[bytes]:
    """Open a local path or an fsspec URL for reading as it is.

    Raises:
        SourceError: it cannot be opened; the message says why.
    """
    if is_url(path):
        return _open_url(path)
    try:
        return Path(path).open("rb")
    except OSError as error:
        raise SourceError(error.strerror or str(error)) from error


def decompressed(raw: IO[bytes]) -> IO[bytes]:
    """Return a stream of what ``raw`` holds once gzip or zstd, seen by its content, is undone."""
    magic = raw.peek(4)[:4] if isinstance(raw, io.BufferedReader) else _peek(raw)
    if magic.startswith(_GZIP):
        return _Gzip(raw)  # type: ignore[return-value]
    if magic.startswith(_ZSTD):
        try:
            import zstandard
        except ImportError:
            raise SourceError(
                "is compressed with zstd; type: pip install 'haltwise[remote]'"
            ) from None
        return _Zstd(raw, zstandard.ZstdDecompressor())  # type: ignore[return-value]
    return raw


def _peek(raw: IO[bytes]) -> bytes:
    magic = raw.read(4)
    raw.seek(0)
    return magic


def is_url(path: str) -> bool:
    """Whether ``path`` is for fsspec."""
    return "://" in path


def _fsspec() -> Any:
    try:
        import fsspec
    except ImportError:
        raise SourceError("is remote; type: pip install 'haltwise[remote]'") from None
    return fsspec


def _open_url(url: str) -> IO[bytes]:
    fsspec = _fsspec()
    try:
        stream: IO[bytes] = fsspec.open(url, "rb").open()
    except (OSError, ValueError, ImportError) as error:
        raise SourceError(str(error) or type(error).__name__) from error
    return stream


def expand(paths: Paths) -> Iterator[Shard | Skip]:
    """Yield every file that ``paths`` name: files, folders (all files below), globs, URLs.

    In the order given, folders and globs sorted. What names nothing is a skip.
    """
    if isinstance(paths, (str, os.PathLike, Shard)):
        paths = [paths]
    for given in paths:
        if isinstance(given, Shard):
            yield given
            continue
        for item in _expand_one(os.fspath(given)):
            yield item if isinstance(item, Skip) else Shard(item)


def _expand_one(path: str) -> Iterator[str | Skip]:
    if is_url(path):
        yield from _expand_url(path)
    elif Path(path).is_dir():
        yield from _walk(path)
    elif Path(path).exists() or not glob.has_magic(path):
        yield path
    elif found := sorted(glob.glob(path, recursive=True)):  # noqa: PTH207 (an absolute pattern)
        for name in found:
            yield from _walk(name) if Path(name).is_dir() else (name,)
    else:
        yield Skip(path, None, "no file has a name like this")


def _walk(folder: str) -> Iterator[str | Skip]:
    failed: list[OSError] = []
    empty = True
    for parent, folders, names in os.walk(folder, onerror=failed.append):
        folders.sort()
        for name in sorted(names):
            empty = False
            path = os.path.join(parent, name)  # noqa: PTH118 (fast on millions of names)
            try:
                regular = stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116
            except OSError as error:
                yield Skip(path, None, error.strerror or str(error))
                continue
            yield path if regular else Skip(path, None, "is not a regular file")
    for failure in failed:
        yield Skip(str(failure.filename), None, failure.strerror or str(failure))
    if empty and not failed:
        yield Skip(folder, None, "is an empty folder")


def _expand_url(url: str) -> Iterator[str | Skip]:
    try:
        system, _, _ = _fsspec().get_fs_token_paths(url, expand=False)
        scheme = url.split("://", 1)[0]
        if glob.has_magic(url):
            names = sorted(system.glob(url))
        elif not url.startswith(("http://", "https://")) and system.isdir(url):
            names = sorted(system.find(url))
        else:
            yield url
            return
    except SourceError as error:
        yield Skip(url, None, str(error))
        return
    except (OSError, ValueError, ImportError) as error:
        yield Skip(url, None, str(error) or type(error).__name__)
        return
    if not names:
        yield Skip(url, None, "no file has a name like this")
    for name in names:
        yield name if is_url(name) else f"{scheme}://{name}"
