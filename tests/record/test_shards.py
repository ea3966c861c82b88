"""Shards: the parts together are the whole."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haltwise.record import SearchEpisode, Skip, read, write_episodes
from haltwise.record.digest import DigestSet
from haltwise.record.jsonl import encode
from haltwise.record.shards import plan
from haltwise.record.source import Shard


def episode(number: int) -> SearchEpisode:
    """Return an episode whose line grows with its number."""
    name = f"q{number}"
    return SearchEpisode(
        episode_id=name, cluster_id=name, question_id=name, question="x" * (number % 37)
    )


@given(st.integers(1, 60), st.integers(1, 3000), st.booleans())
def test_parts_in_order_are_the_whole(
    tmp_path_factory: pytest.TempPathFactory, count: int, size: int, end: bool
) -> None:
    """Whatever the size of a part, every line is in one part, skips and numbers included."""
    path = tmp_path_factory.mktemp("f") / "x.jsonl"
    lines = [encode(episode(n)) for n in range(count)]
    lines.insert(count // 2 + 1, b"{broken")
    path.write_bytes(b"\n".join(lines) + (b"\n" if end else b""))
    parts = list(plan(path, size=size))
    assert all(isinstance(part, Shard) for part in parts)
    seen = DigestSet()
    pieces = [item for part in parts for item in read([part], seen=seen)]  # type: ignore[list-item]
    assert pieces == list(read(path))


def test_compressed_files_and_documents_are_one_part(tmp_path: Path) -> None:
    """Only plain files of lines are cut; the part carries the format that was detected."""
    data = b"".join(encode(episode(n)) + b"\n" for n in range(100))
    (tmp_path / "a.gz").write_bytes(gzip.compress(data))
    (tmp_path / "b.jsonl").write_bytes(b"\xef\xbb\xbf" + data)
    parts = list(plan(tmp_path, size=100))
    assert parts == [
        Shard(str(tmp_path / "a.gz"), format="haltwise"),
        Shard(str(tmp_path / "b.jsonl"), format="haltwise"),
    ]


def test_what_cannot_be_read_is_a_skip_of_the_plan(tmp_path: Path) -> None:
    """Files of no known format are named while planning, before any worker starts."""
    write_episodes(tmp_path / "a.jsonl", [episode(1)])
    (tmp_path / "b.txt").write_text("prose")
    shard, skip = plan([tmp_path])
    assert isinstance(shard, Shard) and isinstance(skip, Skip)
