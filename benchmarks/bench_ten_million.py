"""Ten million simulated episodes audited on one machine: seconds, and the peak of memory.

    python benchmarks/bench_ten_million.py [--episodes 10000000] [--workers 2] [--memory 256MB]

Writes the episodes into a temporary folder (2.5 GB), a million a file, every question in six
regimes; runs ``haltwise audit --json`` on them with 2,000 resamples; removes them. The memory is
that of all processes of the audit together, shared pages counted once (Linux), looked at five times
a second.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from haltwise.simulated import IGNORES, simulate_search  # noqa: E402

FILE = 1_000_000


def family(process: int) -> set[int]:
    """Return a process and all that descend from it."""
    parents = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(entry.name)] = int(
                (entry / "stat").read_text().rsplit(")", 1)[1].split()[1]
            )
        except (OSError, IndexError):
            continue
    found = {process}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def memory(processes: set[int]) -> float:
    """Return what they take together, in MB, shared pages divided among those that share them."""
    total = 0
    for process in processes:
        try:
            text = Path(f"/proc/{process}/smaps_rollup").read_text()
        except OSError:
            continue
        total += next((int(row.split()[1]) for row in text.splitlines() if row[:4] == "Pss:"), 0)
    return total / 1e3


def main() -> None:
    """Write, audit, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--episodes", type=int, default=10_000_000)
    parser.add_argument("--workers", default="2")
    parser.add_argument("--memory", default="256MB")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        size = written = 0
        for number in range(-(-options.episodes // FILE)):
            questions = -(-min(FILE, options.episodes - written) // 6)
            runs = simulate_search(IGNORES, questions, seed=number)
            runs = replace(runs, question=runs.question + number * FILE)
            path = Path(name) / f"{number:03}.jsonl"
            runs.write_judged_useless(path)
            written, size = written + len(runs), size + path.stat().st_size
            del runs
        print(f"{written:,} episodes, {size / 1e9:.2f} GB, load {os.getloadavg()[0]:.1f}")
        command = [sys.executable, "-m", "haltwise", "audit", name, "--json"]
        command += ["--workers", options.workers, "--memory", options.memory]
        begun, peak = time.perf_counter(), 0.0
        before = os.times()
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        with (
            tempfile.TemporaryFile() as printed,
            subprocess.Popen(command, env=environment, stdout=printed) as audit,
        ):
            while audit.poll() is None:
                peak = max(peak, memory(family(audit.pid)))
                time.sleep(0.2)
            printed.seek(0)
            document = json.loads(printed.read())
        wall, after = time.perf_counter() - begun, os.times()
        spent = after.children_user + after.children_system
        spent -= before.children_user + before.children_system
    assert document["episodes"] == written, document["episodes"]
    contrast = document["contrast"]
    print(f"audited in {wall:.0f} s, {spent:.0f} s of processor time, {peak:.0f} MB at the peak")
    print(f"contrast {contrast['value']:.4f} [{contrast['low']:.4f}, {contrast['high']:.4f}]")
    print(f"load {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()
