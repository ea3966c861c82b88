"""Our own files: what is written is read back, whole or not at all; old versions stay readable."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from haltwise.core.errors import InputError
from haltwise.core.events import Usage, Verdict
from haltwise.record import AnyEpisode, RepairEpisode, SearchEpisode, Skip, read, write_episodes
from haltwise.record.jsonl import decoder, encode
from haltwise.record.parquet import write_parquet
from record.strategies import episodes as any_episode

GOLDEN = sorted((Path(__file__).parent / "golden").glob("version-*.jsonl"))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_every_version_ever_written_is_read(path: Path) -> None:
    """The golden file of a version gives its three episodes, with every field in its place."""
    search, empty, repair = read(path)
    assert isinstance(search, SearchEpisode) and isinstance(repair, RepairEpisode)
    assert isinstance(empty, SearchEpisode) and empty.steps == [] and empty.run == "abc"
    assert (search.budget, search.seed, search.labels) == (8, 3, {"split": "test"})
    assert search.usage == Usage(2, 10, 4)
    first, second, third = search.steps
    assert first.verdicts == {"recorded": Verdict.USELESS, "lexical": Verdict.SOURCE_ERROR}
    assert first.beliefs is not None and first.beliefs.usefulness == 1
    assert first.answer_now is not None and first.answer_now.success is True
    assert [call.action for call in second.parallel] == ["search", "lookup"]
    assert third.action == "answer"
    assert repair.gated is True and repair.steps[0].accepts == 5
    assert repair.steps[1].accepts is None and repair.steps[2].valid is True


def test_version_1_is_written_as_it_stands_in_its_golden_file() -> None:
    """Writing has not drifted: each golden line decodes and encodes to itself."""
    for line in GOLDEN[0].read_bytes().splitlines():
        assert encode(decoder.decode(line)) == line


@given(any_episode)
def test_one_line_there_and_back(episode: AnyEpisode) -> None:
    """Any episode survives encoding, in one line."""
    line = encode(episode)
    assert b"\n" not in line
    assert decoder.decode(line) == episode


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz", "x.jsonl.zst", "x.parquet"])
@given(st.lists(any_episode, max_size=5, unique_by=lambda e: e.question_id))
@settings(max_examples=15)
def test_a_file_there_and_back(
    tmp_path_factory: pytest.TempPathFactory, name: str, episodes: list[AnyEpisode]
) -> None:
    """JSON lines, compressed or not, and Parquet give back the episodes, in order."""
    path = tmp_path_factory.mktemp("f") / name
    write = write_parquet if path.suffix == ".parquet" else write_episodes
    assert write(path, episodes) == len(episodes)
    items = list(read(path))
    if episodes or path.suffix == ".parquet":
        assert items == episodes


def test_the_same_episodes_make_the_same_bytes(tmp_path: Path) -> None:
    """A gzip file carries no clock and no name."""
    episode = SearchEpisode(episode_id="e", cluster_id="q", question_id="q")
    for name in ("a.gz", "b.gz"):
        write_episodes(tmp_path / name, [episode])
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()).count(b"\n") == 1


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path: Path) -> None:
    """What stood there stays, whole, when the episodes break off."""
    path = tmp_path / "x.jsonl"
    path.write_text("old")

    def broken() -> object:
        yield SearchEpisode(episode_id="e", cluster_id="q", question_id="q")
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError):
        write_episodes(path, broken())  # type: ignore[arg-type]
    assert path.read_text() == "old"
    assert [item.name for item in tmp_path.iterdir()] == ["x.jsonl"]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    """The message says which file could not be written, and why."""
    with pytest.raises(InputError, match="nowhere"):
        write_episodes(tmp_path / "nowhere" / "x.jsonl", [])


def test_a_newer_version_and_impossible_votes_are_named(tmp_path: Path) -> None:
    """A file of a later haltwise is refused line by line, with the line to type."""
    path = tmp_path / "x"
    path.write_text(
        '{"kind":"search","schema_version":99,"episode_id":"e","cluster_id":"q","question_id":"q"}\n'
        '{"kind":"repair","episode_id":"e","cluster_id":"q","question_id":"q",'
        '"steps":[{"round":0,"accepts":3,"votes":2}]}\n'
        '{"kind":"walk","episode_id":"e","cluster_id":"q","question_id":"q"}\n'
    )
    newer, votes, kind = read(path)
    assert isinstance(newer, Skip) and "pip install" in newer.reason
    assert isinstance(votes, Skip) and "round 0" in votes.reason
    assert isinstance(kind, Skip) and "walk" in kind.reason


@pytest.mark.parametrize(
    ("kind", "step", "reason"),
    [
        ("repair", '"round":0,"accept_probability":5.0', "between 0 and 1; got 5.0"),
        ("repair", '"round":0,"views":{"a":[9,3]}', "view 'a': accepts (9) is more than votes (3)"),
        ("repair", '"round":0,"errors":-1', "errors is 0 or more; got -1"),
        ("repair", '"round":0,"time":-2.5', "time is 0 or more seconds; got -2.5"),
        ("search", '"t":-1,"action":"a"', "t counts steps from 1 and rises; got -1 after 0"),
        ("search", '"t":2,"action":"a"},{"t":2,"action":"a"', "got 2 after 2"),
        ("search", '"t":1,"action":"a","time":-1', "step 1: time is 0 or more"),
    ],
)
def test_values_out_of_range_are_named(tmp_path: Path, kind: str, step: str, reason: str) -> None:
    """A number that cannot be is skipped by line, with what it may be."""
    path = tmp_path / "x"
    path.write_text(
        f'{{"kind":"{kind}","episode_id":"e","cluster_id":"q","question_id":"q",'
        f'"steps":[{{{step}}}]}}\n'
    )
    (skip,) = read(path)
    assert isinstance(skip, Skip) and reason in skip.reason


@pytest.mark.parametrize("cut", [4, 200, -10])
def test_a_broken_parquet_file_is_one_skip(tmp_path: Path, cut: int) -> None:
    """A Parquet file that was cut off is named, without a traceback."""
    path = tmp_path / "x.parquet"
    write_parquet(path, [SearchEpisode(episode_id="e", cluster_id="q", question_id="q")])
    path.write_bytes(path.read_bytes()[:cut])
    (skip,) = read(path)
    assert isinstance(skip, Skip)


def test_foreign_parquet_is_named(tmp_path: Path) -> None:
    """A Parquet file of something else says which column is missing."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"a": [1]}), tmp_path / "x.parquet")
    (skip,) = read(tmp_path / "x.parquet")
    assert isinstance(skip, Skip) and "episode_id" in skip.reason
