"""Reader of episodes in Parquet, as `haltwise.record.parquet` writes them."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

from ..skip import Skip
from ..source import Source, SourceError, is_url
from .base import Found


class Parquet:
    """One episode a row."""

    name = "parquet"
    splits = False

    def sniff(self, head: bytes, path: str) -> float:
        """Sure of the file's magic bytes."""
        return 1.0 if head.startswith(b"PAR1") else 0.0

    def read(self, source: Source) -> Iterator[Found | Skip]:
        """Yield every row as an episode or a skip."""
        from ..parquet import read_parquet

        local = source.plain and not is_url(source.path) and Path(source.path).is_file()
        with Path(source.path).open("rb") if local else io.BytesIO(source.whole()) as file:
            try:
                for number, item in read_parquet(file):
                    if isinstance(item, str):
                        yield source.skip(None, f"row {number} {item}")
                    else:
                        yield None, item
            except ValueError as error:
                raise SourceError(str(error)) from error


reader = Parquet()
