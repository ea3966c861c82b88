"""Times series of steps in turn, so that a slow moment of the machine meets all of them.

What the two benchmarks of a step against loopgain share.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping


def print_against_loopgain(series: Mapping[str, Callable[[], None]], steps: int) -> None:
    """Print microseconds a step, and how much faster than "loopgain" each of the others is.

    Args:
        series: a whole loop each, by name; "loopgain" is one of them.
        steps: steps of a loop.
    """
    times: dict[str, list[float]] = {name: [] for name in series}
    for _ in range(9):
        for name, loop in series.items():
            times[name].append(_microseconds(loop, steps))
    base = statistics.median(times.pop("loopgain"))
    print(f"loopgain, observe + should_continue: {base:6.2f} us a step")
    for name, measured in times.items():
        step = statistics.median(measured)
        print(f"haltwise, {name:26}: {step:6.2f} us a step, {base / step:5.1f}x faster")


def _microseconds(loop: Callable[[], None], steps: int, repeats: int = 400) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        loop()
    return (time.perf_counter() - start) / repeats / steps * 1e6
