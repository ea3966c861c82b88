"""A report on 100,000 simulated episodes: size, time and memory; and next to the audit alone.

    python benchmarks/bench_report.py [episodes]

The episodes carry answer-now branches, so that every part of the report is there. Figures and the
load of the machine are printed; the aim is below 3 MB in below 20 s on two idle cores.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from pathlib import Path

from haltwise.cli.main import run
from haltwise.record.jsonl import write_episodes
from haltwise.simulated.search import IGNORES, simulate_search

EPISODES = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000


def timed(line: list[str]) -> tuple[float, float]:
    """Run a command and return seconds by the clock and of the processor."""
    clock, processor = time.perf_counter(), time.process_time()
    assert run(line) == 0
    return time.perf_counter() - clock, time.process_time() - processor


def main() -> None:
    """Write the episodes, make the report and the audit, print."""
    with tempfile.TemporaryDirectory() as name:
        traces, page = Path(name) / "traces.jsonl", Path(name) / "report.html"
        runs = simulate_search(IGNORES, -(-EPISODES // 6), seed=1)
        write_episodes(traces, runs.episodes())
        audit = timed(["audit", str(traces), "--json"])
        report = timed(["report", str(traces), "-o", str(page)])
        megabytes = page.stat().st_size / 1e6
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{len(runs.question):,} episodes ({traces.stat().st_size / 1e6:.0f} MB): report of "
            f"{megabytes:.2f} MB in {report[0]:.1f} s ({report[1]:.1f} s of processor time), "
            f"audit alone {audit[0]:.1f} s ({audit[1]:.1f} s); peak memory {memory:.0f} MB; "
            f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores",
            file=sys.stderr,
        )


if __name__ == "__main__":
    main()
