"""Members of a zip archive in memory, each up to a size; nothing is ever written to disk.

Reads the bytes itself where the directory says they are: an archive of thousands of small members
is read several times faster than through ``zipfile``, which is asked for the directory only, and
zstd members are known, too.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from typing import IO

from .source import SourceError

MAX_MEMBER = 1 << 28
"""Largest member that is read, in bytes after decompression."""

_STORED, _DEFLATED, _ZSTD = 0, 8, 93
_LOCAL = struct.Struct("<4s5H3L2H")


def read_member(file: IO[bytes], info: zipfile.ZipInfo) -> bytes:
    """Return what a member holds.

    Args:
        file: the archive, seekable.
        info: the member, out of the archive's directory.

    Raises:
        SourceError: it is too large, encrypted, compressed in an unknown way, or broken.
    """
    if info.file_size > MAX_MEMBER or info.compress_size > MAX_MEMBER:
        raise SourceError(f"is larger than {MAX_MEMBER >> 20} MB")
    if info.flag_bits & 1:
        raise SourceError("is encrypted")
    try:
        file.seek(info.header_offset)
        local = _LOCAL.unpack(file.read(_LOCAL.size))
        if local[0] != b"PK\x03\x04":
            raise SourceError("is not where the archive's directory says")
        names = local[9] + local[10]
        compressed = file.read(names + info.compress_size)[names:]
        data = _decompressed(compressed, info.compress_type)
    except (zlib.error, OSError, ValueError, struct.error, OverflowError) as error:
        if isinstance(error, SourceError):
            raise
        raise SourceError(f"cannot be read: {error}") from error
    if len(data) > MAX_MEMBER:
        raise SourceError(f"is larger than {MAX_MEMBER >> 20} MB")
    if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
        raise SourceError("is damaged: its checksum does not fit")
    return data


def _decompressed(data: bytes, method: int) -> bytes:
    """Return at most a byte more than `MAX_MEMBER`."""
    if method == _STORED:
        return data
    if method == _DEFLATED:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, MAX_MEMBER + 1)
    if method != _ZSTD:
        raise SourceError(f"is compressed by method {method}, which is not known")
    try:
        import zstandard
    except ImportError:
        raise SourceError("is compressed with zstd; type: pip install 'haltwise[remote]'") from None
    try:
        with zstandard.ZstdDecompressor().stream_reader(data) as stream:
            plain: bytes = stream.read(MAX_MEMBER + 1)
    except zstandard.ZstdError as error:
        raise SourceError(f"cannot be read: {error}") from error
    return plain
