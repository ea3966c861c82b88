"""Replay the published stress case: a verifier next to chance and a repair that breaks plans.

pi = .803, (rho0, rho1) = (.361, .609), so J = .03; alpha = .05, beta = .75; 8 votes, 5 repairs.
Each seed calibrates on 300 recorded loops, of which 60 are labelled (300 labelled transitions), and
runs every rule on the same 500 fresh plans. "Label-free" is the published calibration: EM on the
votes of initial plans without labels, alpha and beta from the labelled transitions.

Usage: python benchmarks/bench_stress.py [--seeds 200]
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from haltwise.calibrate.repair import RepairCalibration, calibrate_repair
from haltwise.core.expression import parse_policy
from haltwise.core.noise import NoiseModel
from haltwise.record.repair_table import UNKNOWN, RepairTable
from haltwise.replay.repair import repair_firing
from haltwise.simulated.repair import simulate_repair

TRUTH = NoiseModel(rho0=0.361, rho1=0.609, alpha=0.05, beta=0.75, valid=0.803)
RULES = {
    "no repair": ("fixed(0)", None),
    "fixed-5": ("fixed(5)", None),
    "majority": ("majority", None),
    "best of votes": ("best_of_votes", None),
    "vrr_guard": ("vrr_guard", None),
    "vrr_stop, label-free": ("vrr_stop", "em"),
    "vrr (J < .15), label-free": ("vrr", "em"),
    "vrr (P_flip > .05), label-free": ("vrr(eta=.05)", "em"),
    "vrr_stop, labels in the votes": ("vrr_stop", "own"),
    "vrr (J < .15), labels in the votes": ("vrr", "own"),
    "vrr (P_flip > .05), labels in the votes": ("vrr(eta=.05)", "own"),
    "lookahead, labels in the votes": ("lookahead", "own"),
    "auto": ("auto", "own"),
}
"""Rules by name: the expression, and the calibration that fills it in."""


def main() -> None:
    """Print validity by rule, and how far each falls below no repair on the same plans."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=200)
    seeds = parser.parse_args().seeds
    started = time.perf_counter()
    valid = np.array([run(seed) for seed in range(seeds)])
    loss = (valid[:, [0]] - valid) * 100
    print(f"{seeds} seeds, 500 plans each; loss = points below no repair on the same plans")
    print(f"{'rule':40}{'validity':>9}{'mean loss':>11}{'worst loss':>12}{'seeds over 50':>15}")
    for i, name in enumerate(RULES):
        over = (loss[:, i] > 50).sum()
        mean, worst = loss[:, i].mean(), loss[:, i].max()
        print(f"{name:40}{valid[:, i].mean():9.4f}{mean:11.2f}{worst:12.1f}{over:15d}")
    print(f"{time.perf_counter() - started:.0f} s")


def run(seed: int) -> list[float]:
    """Return the validity of every rule for one seed."""
    seen = simulate_repair(TRUTH, 300, seed=2 * seed)
    labels = np.where(np.arange(300)[:, None] < 60, seen.valid, UNKNOWN)
    record = RepairTable.from_arrays(seen.accepts, seen.votes, labels)
    fits = {
        "em": calibrate_repair(record, method="em", seed=seed),
        "own": calibrate_repair(record, seed=seed),
    }
    fresh = simulate_repair(TRUTH, 500, seed=2 * seed + 1)
    table = RepairTable.from_arrays(fresh.accepts, fresh.votes, fresh.valid)
    return [delivered(rule, fits.get(fit or ""), table) for rule, fit in RULES.values()]


def delivered(rule: str, fit: RepairCalibration | None, table: RepairTable) -> float:
    """Return the share of plans that are valid when the rule delivers them."""
    fitted = {} if fit is None else fit.policy_file().fitted
    policy = parse_policy(rule, defaults=fitted)
    candidate = repair_firing(policy, table).candidate
    return float(table.valid[np.arange(len(table)), candidate].mean())


if __name__ == "__main__":
    main()
