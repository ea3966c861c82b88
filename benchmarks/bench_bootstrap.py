"""Time the bootstrap of the time-matched contrast against `scipy.stats.bootstrap`, in one run.

Simulated questions with five episodes each and decision points at t = 3..6, in proportions like
those of the published unaided agent. SciPy is given the statistic in three forms:

- decision points: what one writes first; the statistic collects the decision points of the drawn
  questions and computes the contrast from them;
- sums: the statistic adds up the rows of sums per question that our bootstrap uses;
- sums, vectorised: the same on whole arrays (paired columns, vectorized=True).

Usage: python benchmarks/bench_bootstrap.py [--replicates 2000] [--large 5000]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import scipy.stats

from haltwise.stats.bootstrap import poisson_resample, resample
from haltwise.stats.pool import pool
from haltwise.stats.ratios import pooled_risk_difference
from haltwise.stats.risk_difference import pooled

CELLS = [slice(0, 4), slice(4, 8), slice(8, 12), slice(12, 16)]
STATISTIC = pooled_risk_difference(range(4), range(4, 8), range(8, 12), range(12, 16))


def main() -> None:
    """Print seconds and ratios by number of questions and by form."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replicates", type=int, default=2000)
    parser.add_argument("--large", type=int, default=5_000, help="questions of the second table")
    options = parser.parse_args()
    for questions in (300, options.large):
        compare(questions, options.replicates)


def compare(questions: int, replicates: int) -> None:
    """Print one table."""
    points = simulated(questions)
    sums = np.array([table(p) for p in points])
    rows, _ = pool(sums)
    ours: dict[str, Callable[[], tuple[float, float]]] = {
        "resample": lambda: ends(resample(sums, replicates=replicates).estimate(STATISTIC)),
        "poisson_resample": lambda: ends(
            poisson_resample(sums, replicates=replicates).estimate(STATISTIC)
        ),
    }

    def scipys(data, statistic, **kind) -> tuple[float, float]:  # type: ignore[no-untyped-def]
        interval = scipy.stats.bootstrap(
            data, statistic, n_resamples=replicates, method="percentile", **kind,
            batch=max(1, 4_000_000 // questions), rng=np.random.default_rng(0),
        ).confidence_interval  # fmt: skip
        return float(interval.low), float(interval.high)

    index = (np.arange(questions),)
    theirs: dict[str, Callable[[], tuple[float, float]]] = {
        "decision points": lambda: scipys(
            index,
            lambda drawn: contrast(table(np.concatenate([points[i] for i in drawn]))),
            vectorized=False,
        ),
        "sums": lambda: scipys(
            index, lambda drawn: contrast(sums[drawn].sum(axis=0)), vectorized=False
        ),
        "sums, vectorised": lambda: scipys(
            tuple(sums.T),
            lambda *columns, axis: contrast(np.stack([c.sum(axis=axis) for c in columns], -1)),
            paired=True,
            vectorized=True,
        ),
    }
    print(f"{questions:,} questions, {len(rows):,} distinct rows, {replicates:,} resamples")
    timed = {name: best(function) for name, function in ours.items()}
    for name, (seconds, interval) in timed.items():
        print(f"  haltwise, {name:16s} {seconds * 1000:10.1f} ms  {shown(interval)}")
    for name, function in theirs.items():
        seconds, interval = best(function)
        ratios = ", ".join(f"{seconds / own:.0f}x" for own, _ in timed.values())
        print(f"  scipy, {name:19s} {seconds * 1000:10.1f} ms  {shown(interval)}  {ratios}")


def simulated(questions: int) -> list[np.ndarray]:
    """Return the decision points of each question: rows (t, group, event).

    As in the published file, about half of the questions are alike (the same episodes go on to the
    end on nothing but useless results, none answers), and one row in three is distinct at 300.
    """
    rng = np.random.default_rng(0)
    usual = np.array([[1, 1, 1, 1]] * 2 + [[1, -1, -1, -1]] + [[-1] * 4] * 2)
    share = np.array([0.4, 0.3, 0.25, 0.25])  # of episodes at t in group 1
    other = np.array([0.06, 0.12, 0.15, 0.15])
    points = []
    for _ in range(questions):
        drawn = rng.random((5, 4))
        group = np.where(drawn < share, 1, np.where(drawn > 1 - other, 0, -1))
        event = rng.random((5, 4)) < np.where(group == 1, 0.012, 0.14)
        if rng.random() < 0.66:
            group, event = usual, np.zeros((5, 4), dtype=bool)
        _, t = np.nonzero(group >= 0)
        points.append(np.column_stack([t, group[group >= 0], event[group >= 0]]).astype(np.int64))
    return points


def table(points: np.ndarray) -> np.ndarray:
    """Return (n1, x1, n0, x0) by t, 16 numbers, of some decision points."""
    t, group, event = points.T
    cells = np.bincount(t + 8 * (1 - group), minlength=16)
    cells += np.bincount(t + 8 * (1 - group) + 4, weights=event, minlength=16).astype(np.int64)
    return cells.astype(np.float64)


def contrast(cells: np.ndarray) -> np.ndarray:
    """Return the pooled risk difference of (..., 16) cells."""
    return pooled(*(cells[..., cell] for cell in CELLS))


def ends(estimate) -> tuple[float, float]:  # type: ignore[no-untyped-def]
    """Return the ends of an interval."""
    return estimate.low, estimate.high


def shown(interval: tuple[float, float]) -> str:
    """Return an interval as text."""
    return f"[{interval[0]:+.4f}, {interval[1]:+.4f}]"


def best(function: Callable[[], tuple[float, float]]):  # type: ignore[no-untyped-def]
    """Return the shortest time of the runs that fit into a second, and the result."""
    shortest, result, spent = np.inf, (np.nan, np.nan), 0.0
    while spent < 1:
        start = time.perf_counter()
        result = function()
        took = time.perf_counter() - start
        shortest, spent = min(shortest, took), spent + took
    return shortest, result


if __name__ == "__main__":
    main()
