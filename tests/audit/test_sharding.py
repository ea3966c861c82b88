"""Parts, workers, memory and crashes change no number of an audit."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.episodes import episode, tally_of
from haltwise.audit.document import document
from haltwise.audit.gather import Gathered, gather
from haltwise.audit.result import audit
from haltwise.audit.tally import Tally
from haltwise.core.errors import InputError
from haltwise.record import SearchEpisode, write_episodes
from haltwise.record.outcomes import Outcomes
from haltwise.simulated import IGNORES, simulate_search
from haltwise.testing.strategies import search_episodes


def documented(gathered: Gathered) -> dict[str, Any]:
    """Return the document of an audit with a bootstrap."""
    return document(audit(gathered.tally, replicates=50), gathered.skipped)


@settings(max_examples=30, deadline=None)
@given(st.lists(search_episodes(max_size=6), min_size=1, max_size=20), st.data())
def test_a_tally_on_disk_is_the_tally_in_memory(
    episodes: list[SearchEpisode], data: st.DataObject
) -> None:
    """Whatever goes to disk and when, and whatever is merged: the same document to the bit."""
    whole = document(audit(tally_of(episodes), replicates=20))
    small = Tally(memory=data.draw(st.integers(1, 2000)))
    while episodes:
        cut = data.draw(st.integers(1, len(episodes)))
        small.merge(tally_of(episodes[:cut]))
        episodes = episodes[cut:]
    other = Tally()
    other.merge(small)
    assert document(audit(small, replicates=20)) == whole
    assert document(audit(other, replicates=20)) == whole


@pytest.fixture
def simulated(tmp_path: Path) -> Path:
    """Return a file of 1,800 simulated episodes, some of which come twice, and a broken line."""
    path = tmp_path / "runs.jsonl"
    simulate_search(IGNORES, 300).write_judged_useless(path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines, *lines[10:30], b"{broken\n", *lines[:5]]))
    return path


@pytest.mark.parametrize(
    "how",
    [{"size": 10_000}, {"size": 3_000, "memory": 50_000}, {"size": 100_000, "workers": 2}],
    ids=str,
)
def test_parts_change_nothing(simulated: Path, how: dict[str, int]) -> None:
    """Numbers, intervals and the names of what was skipped are those of the whole file."""
    whole = documented(gather([str(simulated)]))
    assert len(whole["skipped"]) == 26
    shares: list[float] = []
    gathered = gather([str(simulated)], progress=lambda _, share: shares.append(share), **how)
    assert documented(gathered) == whole
    assert shares == sorted(shares) and shares[-1] == 1


def test_kept_parts_are_taken_up_again(simulated: Path, tmp_path: Path) -> None:
    """What was kept is not read again; at the end nothing is left behind."""
    folder = tmp_path / "parts"
    table = tmp_path / "outcomes.jsonl"
    rows = [{"question_id": f"question-{n:06d}", "success": True} for n in (3, 4, 999_999)]
    table.write_text("\n".join(map(json.dumps, rows)))
    whole = documented(gather([str(simulated)], outcomes=Outcomes(str(table))))

    class Stop(Exception):
        pass

    def stop(episodes: int, share: float) -> None:
        if share > 0.5:
            raise Stop

    with pytest.raises(Stop):
        gather(
            [str(simulated)],
            outcomes=Outcomes(str(table)),
            resume=folder,
            size=50_000,
            progress=stop,
        )
    kept = list(folder.iterdir())
    assert len(kept) >= 3
    written = {path: path.stat().st_mtime_ns for path in kept}
    outcomes = Outcomes(str(table))
    seen: list[dict[Path, int]] = []
    gathered = gather(
        [str(simulated)],
        outcomes=outcomes,
        resume=folder,
        size=50_000,
        progress=lambda *_: seen.append({p: p.stat().st_mtime_ns for p in kept}),
    )
    assert documented(gathered) == whole
    assert all(times == written for times in seen)
    assert outcomes.unused == 1
    assert not folder.exists()


def test_another_question_does_not_take_up_parts(simulated: Path, tmp_path: Path) -> None:
    """Parts belong to how they were read: other outcomes or filters read anew."""
    folder = tmp_path / "parts"
    folder.mkdir()
    (folder / "mine.txt").write_text("kept")
    first = gather([str(simulated)], resume=folder, where={"regime": "clean"})
    second = gather([str(simulated)], resume=folder)
    assert 6 * first.tally.episodes == second.tally.episodes == 1800
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]


def test_a_folder_that_cannot_be_made_is_named(simulated: Path) -> None:
    """A file where the folder should be is one sentence."""
    with pytest.raises(InputError, match=r"runs\.jsonl cannot be a folder"):
        gather([str(simulated)], resume=simulated)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_run_killed_with_kill_9_goes_on_with_its_finished_parts(tmp_path: Path) -> None:
    """Killed while it waits for the third file, it does not read the first two again."""
    paths = [tmp_path / f"{number}.jsonl" for number in range(3)]
    for number, path in enumerate(paths):
        write_episodes(path, [episode("UUH.", f"q{number}-{n}") for n in range(20)])
    data = paths[2].read_bytes()
    paths[2].unlink()
    os.mkfifo(paths[2])
    source = Path(__file__).resolve().parents[2] / "src"
    command = [sys.executable, "-m", "haltwise", "audit", *map(str, paths), "--json"]
    command += ["--resume", str(tmp_path / "parts"), "--replicates", "10"]

    def run() -> subprocess.Popen[str]:
        return subprocess.Popen(
            command,
            env={**os.environ, "PYTHONPATH": str(source)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    killed = run()
    with paths[2].open("wb"):
        # opening returns when the reader has come this far: two parts are finished by then
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
    paths[2].unlink()
    paths[2].write_bytes(data)
    assert len(list((tmp_path / "parts").iterdir())) == 2
    status = paths[0].stat()
    # whoever read it again would find duplicates of the second file
    paths[0].write_bytes(paths[0].read_bytes().replace(b"q0-", b"q1-"))
    os.utime(paths[0], ns=(status.st_atime_ns, status.st_mtime_ns))
    again = run()
    output, _ = again.communicate()
    assert again.returncode == 0
    assert json.loads(output)["episodes"] == 60
    assert not (tmp_path / "parts").exists()
