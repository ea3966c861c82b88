"""Members of a zip archive in memory, each up to a size; nothing is ever written to disk.

Knows zstd members, which Python's zipfile before 3.14 does not.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from typing import IO

from .source import SourceError

MAX_MEMBER = 1 << 28
"""Largest member that is read, in bytes after decompression."""

_ZSTD = 93
_LOCAL = struct.Struct("<4s5H3L2H")


def read_member(archive: zipfile.ZipFile, file: IO[bytes], info: zipfile.ZipInfo) -> bytes:
    """Return what a member holds.

    Raises:
        SourceError: it is too large, encrypted, or broken.
    """
    if info.file_size > MAX_MEMBER:
        raise SourceError(f"is larger than {MAX_MEMBER >> 20} MB")
    try:
        if info.compress_type == _ZSTD:
            data = _zstd(file, info)
        else:
            with archive.open(info) as member:
                data = member.read(MAX_MEMBER + 1)
    except (
        zipfile.BadZipFile,
        zlib.error,
        OSError,
        EOFError,
        RuntimeError,
        NotImplementedError,
        ValueError,
        struct.error,
    ) as error:
        raise SourceError(f"cannot be read: {error}") from error
    if len(data) > MAX_MEMBER:
        raise SourceError(f"is larger than {MAX_MEMBER >> 20} MB")
    return data


def _zstd(file: IO[bytes], info: zipfile.ZipInfo) -> bytes:
    try:
        import zstandard
    except ImportError:
        raise SourceError("is compressed with zstd; type: pip install 'haltwise[remote]'") from None
    file.seek(info.header_offset)
    local = _LOCAL.unpack(file.read(_LOCAL.size))
    if local[0] != b"PK\x03\x04":
        raise zipfile.BadZipFile("no local header where the directory says")
    file.seek(local[9] + local[10], 1)
    compressed = file.read(info.compress_size)
    try:
        with zstandard.ZstdDecompressor().stream_reader(compressed) as stream:
            data: bytes = stream.read(MAX_MEMBER + 1)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from error
    return data
