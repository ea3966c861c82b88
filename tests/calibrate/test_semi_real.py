"""Real repair dynamics with injected verifier noise: a small cut of benchmarks/bench_semi_real."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from haltwise.calibrate.choose import choose
from haltwise.calibrate.fit import fit_noise
from haltwise.calibrate.sign import Sign
from haltwise.core.policies import Auto
from haltwise.record import RepairEpisode, read
from haltwise.record.repair_table import UNKNOWN, RepairTable
from haltwise.replay.repair import repair_firing

VERIFIERS = (((0.1, 0.1), 0.0), ((0.3, 0.2), 0.3), ((0.45, 0.45), 0.0), ((0.36, 0.61), 0.3))


def loops(path: Path) -> dict[str, RepairTable]:
    """Return the first six iterations of every cell, without votes."""
    cells: dict[str, list[RepairEpisode]] = {}
    for loop in read(path):
        assert isinstance(loop, RepairEpisode)
        cells.setdefault(loop.arm or "", []).append(loop)
    tables = {}
    for name, found in cells.items():
        whole = RepairTable.from_episodes(found)
        shape = (len(found), 6)
        none, six = np.zeros(shape, int), np.full(len(found), 6)
        tables[name] = RepairTable(none, none, whole.valid[:, :6], six, whole.cluster, whole.gated)
    return tables


def voted(table: RepairTable, rho: tuple[float, float], icc: float, seed: int) -> RepairTable:
    """Draw eight votes on every plan; a failed iteration gets none."""
    rng = np.random.default_rng(seed)
    share = np.where(table.valid == 1, 1 - rho[1], rho[0])
    if icc:
        share = rng.beta(share * (1 - icc) / icc, (1 - share) * (1 - icc) / icc)
    votes = np.where(table.valid == UNKNOWN, 0, 8)
    accepts = rng.binomial(votes, share)
    return RepairTable(accepts, votes, table.valid, table.length, table.cluster, table.gated)


def gain(table: RepairTable, seed: int) -> float:
    """Return validity of auto minus that of no repair, calibrated on the other half of prompts."""
    rng = np.random.default_rng(seed)
    prompts = int(table.cluster.max()) + 1
    first = np.isin(table.cluster, rng.permutation(prompts)[: prompts // 2])
    total = 0.0
    for known in (first, ~first):
        on, test = table.rows(known), table.rows(~known)
        hidden = on.valid.copy()
        hidden[rng.permutation(len(on))[60:]] = UNKNOWN
        seen = on.relabelled(hidden)
        fit = fit_noise(seen)
        chosen = choose("auto", fit, Sign(0, 1, 1, True), seen, eta=0.05)
        plan = repair_firing(Auto(fit.noise, fallback=chosen.fallback), test).candidate
        delivered = test.valid[np.arange(len(test)), plan] == 1
        total += float(delivered.sum() - (test.valid[:, 0] == 1).sum())
    return total / len(table)


def test_auto_gains_with_good_verifiers_and_keeps_with_bad_ones(
    shared_data: Callable[[str], Path],
) -> None:
    """Mean of four cells: at least 6 points over no repair at J >= .5, never 1 point below it.

    The full table over 20 seeds and ten verifiers is in benchmarks/README.md.
    """
    cells = loops(shared_data("repair_loops/loopgain_b20.jsonl"))
    gains = [
        np.mean([gain(voted(table, rho, icc, seed=v), seed=v) for table in cells.values()])
        for v, (rho, icc) in enumerate(VERIFIERS)
    ]
    assert gains[0] > 0.06 and gains[1] > 0.06
    assert min(gains) > -0.01
