"""An audit by one process, by two, and on a local Ray cluster of two nodes: seconds, same numbers.

    python benchmarks/bench_scaling.py [--episodes 1000000]

Simulated episodes in one file, 2,000 resamples each; the documents must be equal to the last digit.
Workers are started anew each time. Ray is left out where it is not installed (extra ``ray``).
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from haltwise.audit import audit, document, gather  # noqa: E402
from haltwise.simulated import IGNORES, simulate_search  # noqa: E402


@contextmanager
def cluster() -> Iterator[None]:
    """Start a Ray cluster of two nodes on this machine, and stop it."""
    import ray
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        made.add_node(num_cpus=1)
        environment = {"env_vars": {"PYTHONPATH": str(ROOT / "src")}}
        ray.init(address=made.address, runtime_env=environment, log_to_driver=False)
        yield
    finally:
        ray.shutdown()
        made.shutdown()


def timed(path: Path, **how: Any) -> tuple[float, dict[str, Any]]:
    """Return the seconds of an audit, and its document."""
    begun = time.perf_counter()
    gathered = gather([str(path)], size=16 << 20, **how)
    made = document(audit(gathered.tally))
    return time.perf_counter() - begun, made


def main() -> None:
    """Measure and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--episodes", type=int, default=1_000_000)
    episodes: int = parser.parse_args().episodes
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "episodes.jsonl"
        runs = simulate_search(IGNORES, -(-episodes // 6))
        runs.write_judged_useless(path)
        print(f"{len(runs):,} episodes, load {os.getloadavg()[0]:.1f}")
        del runs
        one, expected = timed(path)
        print(f"1 process            {one:6.1f} s")
        two, found = timed(path, workers=2)
        assert found == expected
        print(f"2 processes          {two:6.1f} s   {one / two:.2f}x, same numbers")
        if importlib.util.find_spec("ray") is None:
            print("Ray is not installed")
            return
        with cluster():
            timed(path, workers=2, engine="ray")
            nodes, found = timed(path, workers=2, engine="ray")
        assert found == expected
        print(f"2 nodes of Ray       {nodes:6.1f} s   {one / nodes:.2f}x, same numbers")


if __name__ == "__main__":
    main()
