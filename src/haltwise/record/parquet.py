"""Episodes as Parquet: columns for what one filters and counts by, streaming in both directions.

One row an episode. Plain fields are columns of their own; ``steps``, ``labels``, ``notes`` and
``usage`` are columns of JSON text, so that nothing an episode holds is lost on the way.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import IO, Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from .episode import AnyEpisode
from .jsonl import atomic, check

MARK = b"haltwise.episodes"
"""Key of the file's metadata that tells it from other Parquet files."""

_TEXT = ("kind", "episode_id", "cluster_id", "question_id", "question", "regime", "model", "arm")
_JSON = ("labels", "usage", "notes", "steps")

SCHEMA = pa.schema(
    [
        pa.field("schema_version", pa.int32(), nullable=False),
        *(pa.field(name, pa.string()) for name in _TEXT),
        pa.field("seed", pa.int64()),
        pa.field("run", pa.string()),
        pa.field("budget", pa.int64()),
        pa.field("gated", pa.bool_()),
        pa.field("success", pa.bool_()),
        pa.field("answer", pa.string()),
        pa.field("censored", pa.bool_()),
        pa.field("reason", pa.string()),
        *(pa.field(name, pa.string()) for name in _JSON),
    ],
    metadata={MARK: b"1"},
)
"""The columns, in order."""

_OUTCOME = ("success", "answer", "censored", "reason")
_GROUP_ROWS = 8192
_GROUP_BYTES = 64 << 20
_encode = msgspec.json.Encoder().encode


def write_parquet(path: str | os.PathLike[str], episodes: Iterable[AnyEpisode]) -> int:
    """Write ``episodes`` to ``path``, atomically and in bounded memory; return how many.

    Raises:
        InputError: the file cannot be written.
    """
    count = 0
    with atomic(path) as raw, pq.ParquetWriter(raw, SCHEMA, compression="zstd") as writer:
        rows: list[dict[str, Any]] = []
        size = 0
        for episode in episodes:
            row = _row(episode)
            rows.append(row)
            size += len(row.get("steps", ""))
            count += 1
            if len(rows) == _GROUP_ROWS or size > _GROUP_BYTES:
                writer.write_table(pa.Table.from_pylist(rows, SCHEMA))
                rows, size = [], 0
        if rows:
            writer.write_table(pa.Table.from_pylist(rows, SCHEMA))
    return count


def read_parquet(file: IO[bytes]) -> Iterator[tuple[int, AnyEpisode | str]]:
    """Yield (row from 1, episode), or in an episode's place why the row is none.

    Raises:
        ValueError: it is not a Parquet file, or not one of episodes.
    """
    try:
        opened = pq.ParquetFile(file)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"is not a Parquet file that can be read: {error}") from error
    names = set(opened.schema_arrow.names)
    missing = {"kind", "episode_id", "question_id", "steps"} - names
    if missing:
        raise ValueError(f"is Parquet, but without the column {min(missing)} of episodes")
    number = 0
    try:
        for batch in opened.iter_batches(batch_size=256):
            for row in batch.to_pylist():
                number += 1
                yield number, _episode(row)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"breaks off after row {number}: {error}") from error


def _row(episode: AnyEpisode) -> dict[str, Any]:
    row: dict[str, Any] = msgspec.to_builtins(episode)
    outcome = row.pop("outcome", {})
    for name in _OUTCOME:
        row[name] = outcome.get(name)
    for name in _JSON:
        if name in row:
            row[name] = _encode(row[name]).decode()
    return row


def _episode(row: dict[str, Any]) -> AnyEpisode | str:
    fields = {name: value for name, value in row.items() if value is not None}
    fields["outcome"] = {name: fields.pop(name) for name in _OUTCOME if name in fields}
    try:
        for name in _JSON:
            if name in fields:
                fields[name] = msgspec.json.decode(fields[name])
        episode: AnyEpisode = msgspec.convert(fields, AnyEpisode)
    except (msgspec.DecodeError, RecursionError, TypeError) as error:
        return f"is not a haltwise episode: {error}"
    return check(episode) or episode
