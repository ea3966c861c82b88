"""The audit as one would first write it: a list of dictionaries, a DataFrame, a group-by.

The yardstick of `bench_audit.py`. It reads the judged-useless format line by line with ``json`` and
computes the strata of the time-matched contrast and its value, success by regime, calls an episode,
and the answered-after-a-run table; no interval, no other finding, no check of the input.

Usage: python benchmarks/straightforward_audit.py FILE
"""

from __future__ import annotations

import json
import sys
from typing import Any

import pandas as pd

DELTA = ["persistent", "recover_after_1", "recover_after_2", "recover_after_3", "late_onset_from_3"]


def load(path: str) -> list[dict[str, Any]]:
    """Read every line into a dictionary."""
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 (as one would first write it)
        return [json.loads(line) for line in file]


def decision_points(episodes: list[dict[str, Any]]) -> pd.DataFrame:
    """Return one row for each decision: t, verdict, run, and whether the answer comes next."""
    rows = []
    for number, episode in enumerate(episodes):
        actions, judgments, run = episode["actions"], episode["judgments"], 0
        for t in range(1, len(actions)):
            useless = judgments[t - 1] == "USELESS"
            run = run + 1 if useless else 0
            rows.append((number, episode["regime"], t, useless, run, actions[t] == "finish"))
    return pd.DataFrame(rows, columns=["episode", "regime", "t", "useless", "run", "answers"])


def audit(path: str, budget: int = 8) -> dict[str, Any]:
    """Return the numbers by name."""
    episodes = load(path)
    frame = pd.DataFrame(episodes)
    points = decision_points(episodes)

    used = points[
        points.useless & points.regime.isin(DELTA) & (points.t >= 3) & (points.t <= budget - 2)
    ]
    group1 = used[used.run == used.t].groupby("t").answers.agg(["size", "sum"])
    group0 = used[used.run <= used.t - 2].groupby("t").answers.agg(["size", "sum"])
    strata = group1.join(group0, lsuffix="1", rsuffix="0")
    weight = strata.size1 * strata.size0 / (strata.size1 + strata.size0)
    difference = strata.sum1 / strata.size1 - strata.sum0 / strata.size0
    delta = (weight * difference).sum() / weight.sum()

    answered = frame.actions.str[-1] == "finish"
    after_run = {}
    for k in range(1, budget):
        reached = points[points.run >= k].episode.unique()
        rows = pd.DataFrame({"regime": frame.regime[reached], "answered": answered[reached]})
        after_run[k] = rows.groupby("regime").answered.agg(["size", "sum"])
    return {
        "strata": strata.astype(int).reset_index().to_dict("records"),
        "delta": float(delta),
        "success": frame.groupby("regime").success.mean().to_dict(),
        "calls": float((frame.actions.str.len() - answered).mean()),
        "after_run": {k: table.to_dict("index") for k, table in after_run.items()},
    }


if __name__ == "__main__":
    print(json.dumps(audit(sys.argv[1]), default=int))
