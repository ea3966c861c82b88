"""Conversion: everything arrives, in order, once; a killed run goes on where it was."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from haltwise.core.errors import InputError
from haltwise.record import SearchEpisode, read, write_episodes
from haltwise.record.convert import convert


def episode(number: int) -> SearchEpisode:
    """Return an episode with a name of its own."""
    name = f"q{number}"
    return SearchEpisode(episode_id=name, cluster_id=name, question_id=name)


def files(folder: Path) -> list[Path]:
    """Write three files of 20 episodes, the last of which repeats one and breaks a line."""
    paths = []
    for part in range(3):
        path = folder / f"{part}.jsonl"
        write_episodes(path, [episode(20 * part + n) for n in range(20)])
        paths.append(path)
    with paths[2].open("ab") as file:
        file.write(paths[0].read_bytes().split(b"\n")[3] + b"\n{broken\n")
    return paths


@pytest.mark.parametrize(
    ("name", "workers"),
    [("out.parquet", 1), ("out.jsonl", 1), ("out.jsonl.gz", 1), ("out.jsonl.zst", 2)],
)
def test_everything_arrives_once_and_in_order(tmp_path: Path, name: str, workers: int) -> None:
    """Any output and any number of workers: what `read` gives is what the file holds."""
    paths = files(tmp_path)
    target = tmp_path / name
    done = convert(paths, target, workers=workers, size=300)
    items = list(read(paths))
    episodes = [item for item in items if isinstance(item, SearchEpisode)]
    assert list(read(target)) == episodes
    assert done.episodes == len(episodes) == 60
    assert {(s.path, s.line) for s in done.skipped} == {
        (item.path, item.line) for item in items if not isinstance(item, SearchEpisode)
    }
    assert done.parts > 3
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_nothing_to_convert_is_an_error_that_says_why(tmp_path: Path) -> None:
    """Prose and an unknown ending are refused; no output and no litter is left."""
    (tmp_path / "x.txt").write_text("prose")
    with pytest.raises(InputError, match=r"x\.txt"):
        convert(tmp_path / "x.txt", tmp_path / "out.jsonl")
    with pytest.raises(InputError, match=r"\.parquet"):
        convert(tmp_path / "x.txt", tmp_path / "out.csv")
    with pytest.raises(InputError, match="nowhere"):
        convert(tmp_path / "x.txt", tmp_path / "nowhere" / "out.jsonl")
    assert [p.name for p in tmp_path.iterdir()] == ["x.txt"]


def run(*arguments: str | Path) -> subprocess.Popen[str]:
    """Start the command line in a process of its own."""
    source = Path(__file__).resolve().parents[2] / "src"
    return subprocess.Popen(
        [sys.executable, "-m", "haltwise", "convert", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(source)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_run_killed_with_kill_9_goes_on_with_its_finished_parts(tmp_path: Path) -> None:
    """Killed while it waits for the third file, it keeps the first two and no half output."""
    paths = files(tmp_path)
    data = paths[2].read_bytes()
    paths[2].unlink()
    os.mkfifo(paths[2])
    target = tmp_path / "out.parquet"
    killed = run(*paths, "-o", target)
    with paths[2].open("wb"):
        # opening returns when the reader has come this far: two parts are finished by then
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
    assert not target.exists()
    paths[2].unlink()
    paths[2].write_bytes(data)
    again = run(*paths, "-o", target, "--json")
    output, _ = again.communicate()
    document = json.loads(output)
    assert again.returncode == 0
    assert (document["schema"], document["reused"], document["parts"]) == (
        "haltwise.convert/1",
        2,
        3,
    )
    assert document["episodes"] == 60 and len(document["skipped"]) == 2
    assert list(read(target)) == [e for e in read(paths) if isinstance(e, SearchEpisode)]


def test_a_changed_input_is_read_again(tmp_path: Path) -> None:
    """A part belongs to the file as it was: size and time of change are in its name."""
    (path, *_) = files(tmp_path)
    folder = tmp_path / ".out.jsonl.parts"
    broken = tmp_path / "out.jsonl"
    broken.mkdir()
    with pytest.raises(InputError, match="cannot be written"):
        convert(path, broken)
    assert len(list(folder.iterdir())) == 2
    write_episodes(path, [episode(99)])
    broken.rmdir()
    done = convert(path, broken)
    assert (done.episodes, done.reused) == (1, 0)
