"""Input made to hurt: archives out of bounds, bombs, deep nesting, quadratic traps."""

from __future__ import annotations

import gzip
import io
import json
import time
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from haltwise.record import SearchEpisode, Skip, read
from haltwise.record import archive as archive_module
from haltwise.record import source as source_module
from haltwise.record.readers import inspect_log
from haltwise.record.readers.base import readers
from haltwise.testing.reader import mutated
from record.readers.dialects import DIALECTS, HEADER, chat_messages, inspect_eval, inspect_sample


def write(path: Path, data: bytes) -> Path:
    """Write a file and return its path."""
    path.write_bytes(data)
    return path


def log_of(sample: dict[str, Any]) -> bytes:
    """Return an Inspect log of one sample."""
    return json.dumps({**HEADER, "samples": [sample]}).encode()


def archive(members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a zip archive with these members."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as made:
        for name, data in members.items():
            made.writestr(name, data)
    return file.getvalue()


def test_bad_members_among_many_are_skipped_in_their_place(tmp_path: Path) -> None:
    """Of forty samples the broken, the listless and the failed one are named, in order."""
    bad = {
        5: (b'{"id": 5, "messages": [', "breaks off"),
        17: (b"[1]", "is no object"),
        30: (b'{"id": 30, "error": {"message": "gone"}}', "ended in an error (gone)"),
    }
    members = {"header.json": json.dumps(HEADER).encode()}
    for n in range(40):
        good = json.dumps({**inspect_sample(), "id": n, "events": [[{}]]}).encode()
        members[f"samples/{n:02}_epoch_2.json"] = bad[n][0] if n in bad else good
    items = list(read(write(tmp_path / "many.eval", archive(members))))
    assert len(items) == 40
    for n, item in enumerate(items):
        if n in bad:
            assert isinstance(item, Skip) and bad[n][1] in item.reason and f"{n:02}_" in item.reason
        else:
            assert isinstance(item, SearchEpisode) and item.question_id == f"rivers/{n}"


def test_members_that_point_outside_are_not_followed(tmp_path: Path) -> None:
    """Names with .. and absolute names are no samples, and no file is made anywhere."""
    inside = tmp_path / "inside"
    inside.mkdir()
    members = {
        "../escaped.json": b"{}",
        "/tmp/absolute.json": b"{}",
        "samples/../../escaped.json": b"{}",
        "header.json": json.dumps(HEADER).encode(),
        "samples/7_epoch_2.json": json.dumps(inspect_sample()).encode(),
    }
    items = list(read(write(inside / "x.eval", archive(members))))
    assert [type(item) for item in items] == [SearchEpisode]
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["inside", "x.eval"]


def test_a_bomb_in_an_archive_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A member above the size is named, whatever size the directory claims for it."""
    monkeypatch.setattr(archive_module, "MAX_MEMBER", 100_000)
    honest = archive({"samples/a.json": b" " * 1_000_000, "header.json": b"{}"})
    (skip,) = read(write(tmp_path / "honest.eval", honest))
    assert isinstance(skip, Skip) and "larger than" in skip.reason
    lying = bytearray(honest)
    size = (1_000_000).to_bytes(4, "little")
    at = lying.rfind(b"PK\x01\x02", 0, lying.rfind(b"PK\x01\x02"))
    at = lying.find(size, at)
    lying[at : at + 4] = (50).to_bytes(4, "little")
    (skip,) = read(write(tmp_path / "lying.eval", bytes(lying)))
    assert isinstance(skip, Skip)


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
def test_a_compressed_bomb_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compress: Callable[[bytes], bytes]
) -> None:
    """An endless line and an endless document are named, not held."""
    monkeypatch.setattr(source_module, "MAX_LINE", 1 << 20)
    monkeypatch.setattr(source_module, "MAX_DOCUMENT", 1 << 20)
    line = compress(b'{"messages": [' + b" " * 20_000_000)
    for name in ("chat", "judged-useless", "inspect"):
        items = list(read(write(tmp_path / "x", line), name))
        assert items and all(isinstance(item, Skip) for item in items)


def test_attachments_cannot_multiply(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text referred to a thousand times counts a thousand times; references in it stand."""
    sample = inspect_sample()
    sample["attachments"]["abc123"] = "attachment://abc123 " * 10
    (episode,) = read(write(tmp_path / "x.json", log_of(sample)))
    assert isinstance(episode, SearchEpisode)
    assert episode.steps[0].parallel[0].result == "attachment://abc123 " * 10
    monkeypatch.setattr(inspect_log, "_MAX_EXPANDED", 10_000)
    sample["messages"][3]["content"] = "attachment://abc123 " * 1000
    (skip,) = read(write(tmp_path / "y.json", log_of(sample)))
    assert isinstance(skip, Skip) and "attachments" in skip.reason


def test_zstd_members_are_read(tmp_path: Path) -> None:
    """Newer logs compress with zstd, which zipfile does not know before Python 3.14."""
    plain = json.dumps(inspect_sample()).encode()
    packed = zstandard.compress(plain)
    data = bytearray(archive({"samples/7_epoch_2.json": packed}, zipfile.ZIP_STORED))
    for at, method, size, crc in (
        (data.find(b"PK\x03\x04"), 8, 22, 14),
        (data.find(b"PK\x01\x02"), 10, 24, 16),
    ):
        data[at + method : at + method + 2] = (93).to_bytes(2, "little")
        data[at + size : at + size + 4] = len(plain).to_bytes(4, "little")
        data[at + crc : at + crc + 4] = zlib.crc32(plain).to_bytes(4, "little")
    (episode,) = read(write(tmp_path / "x.eval", bytes(data)))
    assert isinstance(episode, SearchEpisode) and len(episode.steps) == 3


def test_a_damaged_archive_names_what_is_damaged(tmp_path: Path) -> None:
    """A cut archive is one skip; a flipped byte in a member is a skip of that member."""
    whole = inspect_eval()
    (skip,) = read(write(tmp_path / "a.eval", whole[: len(whole) // 2]))
    assert isinstance(skip, Skip)
    flipped = bytearray(whole)
    flipped[whole.index(b"samples/") + 200] ^= 0xFF
    items = list(read(write(tmp_path / "b.eval", bytes(flipped))))
    assert [type(item) for item in items] == [Skip]
    assert "samples/7_epoch_2.json" in str(items[0])


@pytest.mark.parametrize("name", sorted(readers()))
@pytest.mark.parametrize(
    "data",
    [b"[" * 200_000, b'{"a":' * 100_000, b'{"messages":' + b"[" * 200_000 + b"]" * 200_000 + b"}"],
    ids=["arrays", "objects", "closed"],
)
def test_deep_nesting_is_a_skip(tmp_path: Path, name: str, data: bytes) -> None:
    """No reader follows nesting down to a crash."""
    items = list(read(write(tmp_path / "x", data), name))
    assert not [i for i in items if not isinstance(i, Skip) and name != "react-text"]


SLOW = {
    "react-text": lambda n: b"Question: x\n" + b"Thought 1: a\nAction 1: b\n" * n,
    "chat": lambda n: json.dumps({"messages": chat_messages() * (n // 8)}).encode(),
    "chat lines": lambda n: b'{"messages": [{"role": "user", "content": "x"}]}\n' * n,
    "claude-code": lambda n: DIALECTS["claude-code.jsonl"][1]() * (n // 20),
    "otel": lambda n: b"\n".join([DIALECTS["otel-events.jsonl"][1]()] * (n // 20)),
    "judged-useless": lambda n: b'{"question_id": "\\u0041", "actions": ["finish"]}\n' * n,
    "spaces": lambda n: (
        b'{"messages": [{"role": "assistant", "content": "' + b" " * 100 * n + b'"}]}'
    ),
}


@pytest.mark.parametrize("name", SLOW)
def test_time_grows_with_the_size_and_not_with_its_square(tmp_path: Path, name: str) -> None:
    """Eight times the input takes less than thirty times the time; its square would be 64."""
    make = SLOW[name]
    format = name if name in readers() else "chat"
    times = []
    for size in (300, 2400):
        path = write(tmp_path / "x", make(size))
        best = float("inf")
        for _ in range(3):
            begun = time.process_time()
            list(read(path, format))
            best = min(best, time.process_time() - begun)
        times.append(best)
    assert times[1] < 30 * max(times[0], 0.002)


SAMPLES = (
    "trajectories/react_fever_250.jsonl",
    "trajectories/swe_agent/12_function_calling_simple.traj",
    "trajectories/inspect/log_formats.eval",
    "trajectories/inspect/log_tool_call_error.json",
    "trajectories/langsmith/langsmith_py_wrap_openai_stream.json",
    "trajectories/claude_code/tools-Task-tool_result.jsonl",
    "trajectories/reflexion_react_hotpotqa.txt",
    "trajectories/tau_airline_even.json",
    "votes/fever_verifiers.jsonl",
    "repair_loops/loopgain_b20.jsonl",
    "judged_useless/qwen3-8b_unaided_test300.jsonl",
)


@pytest.mark.parametrize("name", SAMPLES)
def test_broken_real_traces_break_nothing(
    shared_data: Callable[[str], Path], tmp_path: Path, name: str
) -> None:
    """Real files with pieces cut, doubled or replaced: episodes and named skips, no error."""
    data = shared_data(name).read_bytes()
    if not name.endswith(".eval"):
        data = data[: data.find(b"\n", 30_000) + 1] or data[:60_000]
    for broken in mutated(data, 12, seed=7):
        items = list(read(write(tmp_path / Path(name).name, broken)))
        assert items
