"""Audit of a million simulated episodes against a straightforward script, side by side.

Both read the same generated file in processes of their own, first one, then the other, without a
bootstrap (one resample); the whole audit computes every number, the straightforward script the
contrast, success, calls and the answered-after-a-run table. Prints seconds (wall and processor),
peak memory and the ratio, and the time of the audit with 2,000 resamples.

Usage: python benchmarks/bench_audit.py [--episodes 1000000]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
OURS = """
import json, sys
from haltwise.audit import audit, document, gather
path, replicates = sys.argv[1:]
print(json.dumps(document(audit(gather([path]).tally, replicates=int(replicates)))))
"""


@dataclass(frozen=True)
class Run:
    """One program run in a process of its own."""

    wall: float
    """Seconds from start to end, the start of Python included."""
    processor: float
    """Seconds of processor time."""
    memory: float
    """Peak memory in MB."""
    result: dict[str, Any]
    """What it printed."""


def measured(*arguments: str) -> Run:
    """Run Python with ``arguments`` and measure it."""
    command = [sys.executable, *arguments]
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    wrapped = (
        "import resource, runpy, sys; sys.argv = sys.argv[1:]; "
        "runpy.run_path(sys.argv[0], run_name='__main__'); "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
    )
    done = subprocess.run(
        [command[0], "-c", wrapped, *command[1:]], capture_output=True, text=True, check=True
    )
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    memory = int(done.stderr.split()[-1]) / (1e6 if sys.platform == "darwin" else 1e3)
    return Run(wall, processor, memory, json.loads(done.stdout))


def main() -> None:
    """Generate, measure, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--episodes", type=int, default=1_000_000)
    episodes: int = parser.parse_args().episodes
    from haltwise.simulated import IGNORES, simulate_search

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path, program = folder / "episodes.jsonl", folder / "ours.py"
        program.write_text(OURS, encoding="utf-8")
        runs = simulate_search(IGNORES, -(-episodes // 6))
        runs.write_judged_useless(path)
        size = path.stat().st_size / 1e6
        print(f"{len(runs):,} simulated episodes, {size:.0f} MB")
        del runs
        slow = measured(str(HERE / "straightforward_audit.py"), str(path))
        fast = measured(str(program), str(path), "1")
        full = measured(str(program), str(path), "2000")

    contrast = fast.result["contrast"]
    strata = [[s[name] for name in ("t", "n1", "x1", "n0", "x0")] for s in contrast["strata"]]
    expected = [
        [s[name] for name in ("t", "size1", "sum1", "size0", "sum0")] for s in slow.result["strata"]
    ]
    assert strata == expected, "the two count different strata"
    assert abs(contrast["value"] - slow.result["delta"]) < 1e-12
    for label, run in (
        ("straightforward (json, list, DataFrame)", slow),
        ("haltwise audit, no bootstrap", fast),
        ("haltwise audit, 2,000 resamples", full),
    ):
        print(
            f"{label:42} {run.wall:7.2f} s wall {run.processor:7.2f} s processor "
            f"{run.memory:6.0f} MB"
        )
    print(
        f"ratio without bootstrap: {slow.wall / fast.wall:.1f}x wall, "
        f"{slow.processor / fast.processor:.1f}x processor, "
        f"{slow.memory / fast.memory:.1f}x memory"
    )


if __name__ == "__main__":
    main()
