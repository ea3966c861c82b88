"""Reading: nothing is dropped in silence, and outlines agree with episodes."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from haltwise.core.errors import InputError
from haltwise.core.events import Verdict
from haltwise.record import RepairEpisode, SearchEpisode, Skip, read, read_outlines
from haltwise.record.digest import DigestSet
from haltwise.record.outline import Outline, Outlines, cluster_digest, outline_of
from haltwise.record.read import identity_digest

GOOD = {
    "question_id": "q1",
    "regime": "persistent",
    "actions": ["search", "lookup", "finish"],
    "judgments": ["USELESS", "USEFUL"],
    "success": True,
}


def write(path: Path, *records: Any) -> Path:
    """Write records as JSON lines; bytes as they are."""
    lines = [r if isinstance(r, bytes) else json.dumps(r).encode() for r in records]
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


def split(items: Any) -> tuple[list[Any], list[Skip]]:
    """Return episodes and skips apart."""
    items = list(items)
    return [i for i in items if not isinstance(i, Skip)], [i for i in items if isinstance(i, Skip)]


def flat(paths: Any, **options: Any) -> tuple[list[tuple[Outline, int, int]], list[Skip]]:
    """Return (outline, cluster, identity) of every episode, and the skips."""
    batches, skips = split(read_outlines(paths, **options))
    rows = [
        (b.table[i], c, d)
        for b in batches
        for i, c, d in zip(b.index, b.clusters.tolist(), b.identities.tolist(), strict=True)
    ]
    return rows, skips


def test_a_judged_useless_line_becomes_an_episode(tmp_path: Path) -> None:
    """Verdicts stand at their steps, finish is the answer, a missing judgment is unknown."""
    row = {**GOOD, "judgments": ["USELESS"], "model": "m", "condition": "unaided", "split": "test"}
    (episode,) = read(write(tmp_path / "x", row))
    assert isinstance(episode, SearchEpisode)
    assert [s.action for s in episode.steps] == ["search", "lookup", "answer"]
    assert episode.steps[0].verdicts == {"recorded": Verdict.USELESS}
    assert episode.steps[1].verdicts == {"recorded": Verdict.UNKNOWN}
    assert (episode.model, episode.arm, episode.labels) == ("m", "unaided", {"split": "test"})
    assert episode.outcome.success is True


def test_an_unknown_regime_is_kept_and_named(tmp_path: Path) -> None:
    """A regime of somebody's own is no error; the note names it."""
    (episode,) = read(write(tmp_path / "x", {**GOOD, "regime": "tuesday"}))
    assert isinstance(episode, SearchEpisode)
    assert episode.regime == "tuesday" and "tuesday" in episode.notes[0]


BAD = [
    b'{"question_id": "q", "actions": ["sea',
    b"[1, 2]",
    b"null",
    b'"text"',
    b'{"question_id": "q"} {"question_id": "q"}',
    b"\xff\xfe\x00",
    b'{"question_id": "q", "actions": NaN}',
    b'{"question_id":' + b"[" * 100_000,
    {**GOOD, "question_id": None},
    {**GOOD, "question_id": 1.5},
    {**GOOD, "actions": "search"},
    {**GOOD, "actions": [1]},
    {**GOOD, "judgments": [1]},
    {**GOOD, "judgments": ["USELESS"] * 9},
    {**GOOD, "success": "yes"},
    {**GOOD, "success": 7},
    {**GOOD, "regime": 3},
    {"actions": []},
]


@pytest.mark.parametrize("bad", BAD, ids=range(len(BAD)))
def test_a_bad_line_is_named_and_its_neighbours_are_read(tmp_path: Path, bad: Any) -> None:
    """The skip carries file and line; both ways of reading say the same."""
    path = write(tmp_path / "x", GOOD, bad, {**GOOD, "question_id": "q2"})
    episodes, skips = split(read(path))
    assert len(episodes) == 2
    assert [(s.path, s.line) for s in skips] == [(str(path), 2)]
    rows, outline_skips = flat(path)
    assert len(rows) == 2
    assert outline_skips == skips


def test_a_truncated_last_line_is_a_skip(tmp_path: Path) -> None:
    """A file that was being written is read up to its last whole line."""
    path = tmp_path / "x"
    path.write_bytes(json.dumps(GOOD).encode() + b"\n" + json.dumps(GOOD).encode()[:50])
    episodes, skips = split(read(path))
    assert len(episodes) == 1
    assert skips[0].line == 2 and "breaks off" in skips[0].reason


@pytest.mark.parametrize(
    "data", [b"", b"\n \n", b"hello\n", b"{}", b"\x00\x01\x02", b"{" * 99_999], ids=range(6)
)
def test_a_file_of_no_known_format_is_one_skip(tmp_path: Path, data: bytes) -> None:
    """Empty files, prose and binary data are named as whole files."""
    path = tmp_path / "x"
    path.write_bytes(data)
    episodes, skips = split(read(path))
    assert episodes == [] and [s.line for s in skips] == [None]


def test_a_folder_gives_its_readable_files_and_names_the_others(tmp_path: Path) -> None:
    """One unreadable file beside a good one costs nothing but a named skip."""
    write(tmp_path / "a.jsonl", GOOD)
    (tmp_path / "notes.txt").write_text("shopping list")
    episodes, skips = split(read(tmp_path))
    assert len(episodes) == 1
    assert [s.path for s in skips] == [str(tmp_path / "notes.txt")]


def test_one_very_long_line_is_read(tmp_path: Path) -> None:
    """A very long line is a record like any other."""
    row = {**GOOD, "padding": "x" * 20_000_000}
    path = write(tmp_path / "x", row, {**GOOD, "question_id": "q2"})
    assert len(split(read(path))[0]) == 2
    assert len(flat(path)[0]) == 2


def test_duplicates_are_named_and_the_first_is_kept(tmp_path: Path) -> None:
    """The same question in another regime is no duplicate; the same once more is one."""
    rows = [GOOD, {**GOOD, "regime": "clean"}, {**GOOD, "success": False}]
    path = write(tmp_path / "x", *rows)
    episodes, skips = split(read([path, path]))
    assert [e.outcome.success for e in episodes] == [True, True]
    assert [s.line for s in skips] == [3, 1, 2, 3]
    outlines, outline_skips = flat([path, path])
    assert len(outlines) == 2 and outline_skips == skips


def test_known_identities_are_not_read_again(tmp_path: Path) -> None:
    """A set of identities carried from one reading to the next spans shards."""
    path = write(tmp_path / "x", GOOD)
    seen = DigestSet()
    assert len(split(read(path, seen=seen))[0]) == 1
    assert len(flat(path, seen=seen)[0]) == 0


def test_where_keeps_only_what_was_asked_for(tmp_path: Path) -> None:
    """Filters by column and by label leave the rest out, neither counted nor skipped."""
    rows = [
        {**GOOD, "split": "test"},
        {**GOOD, "regime": "clean", "split": "test"},
        {**GOOD, "question_id": "q2", "split": "dev"},
    ]
    path = write(tmp_path / "x", *rows)
    assert len(flat(path, where={"regime": "persistent"})[0]) == 2
    assert len(flat(path, where={"split": "test"})[0]) == 2
    assert len(flat(path, where={"split": "test", "regime": "clean"})[0]) == 1
    assert flat(path, where={"question_id": "q2"})[1] == []


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    """``--format`` names a reader that is there, or the message lists those that are."""
    path = write(tmp_path / "x", GOOD)
    with pytest.raises(InputError, match="judged-useless"):
        list(read(path, "no-such"))
    assert len(split(read(path, "judged-useless"))[0]) == 1


texts = st.text(max_size=8)
rows = st.fixed_dictionaries(
    {
        "question_id": texts | st.integers(0, 3),
        "actions": st.lists(st.sampled_from(["search", "lookup", "finish"]) | texts, max_size=4),
    },
    optional={
        "judgments": st.lists(st.sampled_from(["USELESS", "USEFUL", "x", None]), max_size=4),
        "regime": st.sampled_from(["clean", "persistent", None]) | texts,
        "success": st.sampled_from([True, False, None, 0, 1, 2]),
        "model": st.none() | texts,
        "condition": st.none() | texts,
        "split": st.none() | texts | st.integers(),
        "other": st.integers(),
    },
)


@given(st.lists(rows, max_size=12), st.booleans())
@settings(max_examples=60)
def test_outlines_agree_with_episodes(
    tmp_path_factory: pytest.TempPathFactory, records: list[Any], ascii_only: bool
) -> None:
    """The way straight from bytes gives the outlines, digests and skips of the way by episodes."""
    path = tmp_path_factory.mktemp("f") / "x.jsonl"
    lines = [json.dumps(GOOD), *(json.dumps(r, ensure_ascii=ascii_only) for r in records)]
    path.write_text("\n".join(lines), encoding="utf-8", errors="surrogatepass")
    episodes, skips = split(read(path))
    outlines, outline_skips = flat(path)
    expected = [
        (outline_of(e), int.from_bytes(cluster_digest(e.cluster_id), "little"), identity_digest(e))
        for e in episodes
    ]
    assert sorted(map(repr, outlines)) == sorted(map(repr, expected))
    assert sorted(map(str, outline_skips)) == sorted(map(str, skips))
    assert len(episodes) + len(skips) == len(lines)


def test_the_published_file_is_read_whole(shared_data: Callable[[str], Path]) -> None:
    """1,500 episodes of 300 questions, with as many verdicts as plain json counts."""
    path = shared_data("judged_useless/qwen3-8b_unaided_test300.jsonl")
    plain = [json.loads(line) for line in path.read_text().splitlines()]
    rows, skips = flat(path)
    assert skips == [] and len(rows) == len(plain) == 1500
    assert len({cluster for _, cluster, _ in rows}) == 300
    useless = sum(row["judgments"].count("USELESS") for row in plain)
    assert sum(outline.verdicts.count(0) for outline, _, _ in rows) == useless
    assert [o.success for o, _, _ in rows] == [row["success"] for row in plain]


def test_repair_loops_by_hand(tmp_path: Path) -> None:
    """Votes, truth and gating stand as written; impossible votes are named."""
    good = {"task_id": 7, "gated": True, "rounds": [{"accepts": 5, "votes": 8, "valid": True}, {}]}
    bad = {"task_id": "t", "rounds": [{"accepts": 9, "votes": 8}]}
    empty = {"task_id": "t", "rounds": []}
    episodes, skips = split(read(write(tmp_path / "x.gz", good, bad, empty)))
    (episode,) = episodes
    assert isinstance(episode, RepairEpisode)
    assert (episode.steps[0].accepts, episode.steps[0].valid, episode.gated) == (5, True, True)
    assert episode.steps[1].votes is None and episode.outcome.success is None
    assert [s.line for s in skips] == [2, 3]
    assert "accepts (9) is more than votes (8)" in skips[0].reason


def test_repair_loops_are_no_searches(tmp_path: Path) -> None:
    """Asked for outlines, a repair loop is a skip that names the right command."""
    loop = {"task_id": "t", "rounds": [{"accepts": 5, "votes": 8}]}
    path = tmp_path / "x"
    path.write_bytes(gzip.compress(json.dumps(loop).encode()))
    rows, skips = flat(path)
    assert rows == [] and "haltwise calibrate repair" in skips[0].reason


def test_error_series(shared_data: Callable[[str], Path]) -> None:
    """800 loops of 20 rounds; failed iterations are missing rounds, by an independent count."""
    path = shared_data("repair_loops/loopgain_b20.jsonl")
    plain = [json.loads(line) for line in path.read_text().splitlines()]
    episodes, skips = split(read(path))
    assert skips == [] and len(episodes) == len(plain) == 800
    missing = sum(step.valid is None for e in episodes for step in e.steps)
    assert missing == sum(row["errors"].count(1000000.0) for row in plain)
    valid = sum(step.valid is True for e in episodes for step in e.steps)
    assert valid == sum(error == 0 for row in plain for error in row["errors"])
    assert {e.cluster_id for e in episodes} == {str(row["prompt_id"]) for row in plain}


def test_judgments_in_any_case(tmp_path: Path) -> None:
    """Case does not matter to a judgment; any other word, and none, is unknown (METHODS 1)."""
    path = tmp_path / "judged.jsonl"
    words = ["useless", "USELESS", "Useful", "maybe", "", None]
    row = {"question_id": "q", "actions": ["search"] * 6, "judgments": words, "success": False}
    path.write_text(json.dumps(row) + "\n")
    (episode,) = read([str(path)])
    assert isinstance(episode, SearchEpisode)
    expected = ["useless", "useless", "useful", "unknown", "unknown", "unknown"]
    assert [step.verdicts["recorded"].value for step in episode.steps] == expected
    (outlines,) = read_outlines([str(path)])
    assert isinstance(outlines, Outlines)
    assert outlines.table == [outline_of(episode)]


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ({"acepts": 5, "votes": 8}, "unknown key 'acepts'; did you mean 'accepts'?"),
        ({"accept": 5, "votes": 8}, "unknown key 'accept'; did you mean 'accepts'?"),
        ({"accepts": 5, "votes": 8, "zzz": 1}, "'zzz' (known: accepts, votes, valid, candidate)"),
        ({"votes": 8}, "votes is 8, but accepts is missing"),
    ],
)
def test_misspelt_rounds_are_named(tmp_path: Path, part: dict[str, int], words: str) -> None:
    """A round with a key that nobody knows, or votes without accepts, is a skip that says which."""
    good = {"task_id": "a", "rounds": [{"accepts": 5, "votes": 8}, {"votes": 0}, {}]}
    bad = {"task_id": "b", "rounds": [{"accepts": 5, "votes": 8}, part]}
    episodes, skips = split(read(write(tmp_path / "x.jsonl", good, bad)))
    assert len(episodes) == 1
    (skip,) = skips
    assert skip.line == 2 and words in skip.reason and "round" in skip.reason


@given(st.lists(st.integers(0, 6) | st.lists(st.integers(0, 6), max_size=4), max_size=12))
def test_a_digest_set_is_a_set(turns: list[int | list[int]]) -> None:
    """One by one, in batches, or mixed: each digest is new once."""
    seen, known = DigestSet(), set[int]()
    for turn in turns:
        batch = [turn] if isinstance(turn, int) else turn
        expected = []
        for digest in batch:
            expected.append(digest not in known)
            known.add(digest)
        if isinstance(turn, int):
            assert [seen.add_one(turn)] == expected
        else:
            assert seen.add(np.array(turn, np.uint64)).tolist() == expected
        assert len(seen) == len(known)
    assert seen.values().tolist() == sorted(known)


def test_what_stands_before_a_broken_end_of_a_file_is_read(tmp_path: Path) -> None:
    """A compressed file that breaks off gives every conversation before, then says that it does."""
    message = {"role": "user", "content": "x" * 1000}
    lines = [json.dumps({"id": str(n), "messages": [message]}) for n in range(40)]
    whole = gzip.compress("\n".join(lines).encode(), 0)
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(whole[: len(whole) * 3 // 4])
    found = list(read(path, "chat"))
    assert 28 <= sum(not isinstance(item, Skip) for item in found) <= 31
    assert isinstance(found[-1], Skip) and "ends in the middle" in found[-1].reason
