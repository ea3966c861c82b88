"""Real repair dynamics, injected verifier noise: which stopping rule keeps what repair brings?

800 verify-revise loops that nobody stopped (LoopGain bench, four cells; valid = no failing check).
The first six iterations keep their real truth; 8 votes a plan are drawn from ten verifiers: five
pairs (rho0, rho1), votes independent or correlated (ICC .3). Each rule is calibrated in its cell on
half of the prompts (60 of these loops labelled, the others votes only) and run on the other half,
and the other way round; no prompt is in both. 20 seeds. Then the true error series themselves, as
a verifier that is always right would see them (M = infinity): misses against iterations.

Run: ``python benchmarks/bench_semi_real.py [--quick] [--data loopgain_b20.jsonl]``. Exits with 1
when one of the printed checks fails on 20 seeds.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from loopgain import LoopGain
from numpy.typing import NDArray

from haltwise.calibrate.choose import choose, labelled_discrimination
from haltwise.calibrate.dynamics import count_transitions, estimate_rate
from haltwise.calibrate.fit import fit_noise
from haltwise.calibrate.sign import measure_sign
from haltwise.core.noise import NoiseModel
from haltwise.core.policies import (
    Auto,
    BestOfVotes,
    Confidence,
    FixedRepairs,
    Lookahead,
    Majority,
    Oracle,
    Patience,
    Vrr,
    VrrGuard,
    VrrStop,
)
from haltwise.core.policy import Policy
from haltwise.record import RepairEpisode, read
from haltwise.record.repair_table import UNKNOWN, RepairTable
from haltwise.replay.firing import Firing
from haltwise.replay.repair import repair_firing

Array = NDArray[np.float64]

ROUNDS = 5
VOTES = 8
LABELLED = 60
SIGN_DRAWS = 100
BLIND_SEEDS = 4
"""Seeds in which calibration without labels is run: its chain EM takes as long as all the rest."""
VERIFIERS = tuple(
    ((rho0, rho1), icc)
    for icc in (0.0, 0.3)
    for rho0, rho1 in ((0.1, 0.1), (0.3, 0.2), (0.4, 0.3), (0.45, 0.45), (0.36, 0.61))
)
PRICES = (0.01, 0.02, 0.03, 0.05, 0.1)
NONE, STOP, GUARD, AUTO = "no repair", "vrr_stop", "vrr_guard", "auto"
TRUE = NoiseModel(rho0=0.0, rho1=0.0, alpha=0.5, beta=0.5, valid=0.5)


@dataclass(frozen=True)
class Cell:
    """The loops of one workload."""

    name: str
    """Its name in the bench."""
    valid: NDArray[np.int8]
    """(loops, 20): the truth by iteration, `UNKNOWN` where the iteration failed."""
    errors: Array
    """(loops, 20): failing checks; infinite where the iteration failed."""
    prompt: NDArray[np.int64]
    """(loops,): number of the prompt."""


def load(path: Path) -> list[Cell]:
    """Read the error series."""
    by_cell: dict[str, list[RepairEpisode]] = defaultdict(list)
    for item in read(path):
        if not isinstance(item, RepairEpisode):
            raise SystemExit(str(item))
        by_cell[item.arm or ""].append(item)
    cells = []
    for name, loops in sorted(by_cell.items()):
        valid = [[UNKNOWN if s.valid is None else int(s.valid) for s in e.steps] for e in loops]
        errors = [[np.inf if s.errors is None else s.errors for s in e.steps] for e in loops]
        _, prompt = np.unique([e.cluster_id for e in loops], return_inverse=True)
        cells.append(Cell(name, np.array(valid, np.int8), np.array(errors, float), prompt))
    return cells


def halves(cell: Cell, seed: int, number: int) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Return (calibrate on, run on) twice: the prompts cut in two, and swapped."""
    prompts = int(cell.prompt.max()) + 1
    chosen = np.random.default_rng([seed, number]).permutation(prompts)[: prompts // 2]
    first = np.isin(cell.prompt, chosen)
    one, two = np.flatnonzero(first), np.flatnonzero(~first)
    return [(one, two), (two, one)]


def voted(
    cell: Cell, rho: tuple[float, float], icc: float, rng: np.random.Generator
) -> RepairTable:
    """Draw the votes of one verifier on the first six iterations; a failed one gets none."""
    valid = cell.valid[:, : ROUNDS + 1]
    share = np.where(valid == 1, 1 - rho[1], rho[0])
    if icc:
        size = (1 - icc) / icc
        share = rng.beta(share * size, (1 - share) * size)
    votes = np.where(valid == UNKNOWN, 0, VOTES)
    loops = len(valid)
    return RepairTable(
        rng.binomial(votes, share),
        votes,
        valid,
        np.full(loops, ROUNDS + 1),
        cell.prompt,
        np.zeros(loops, bool),
    )


def labelled(table: RepairTable, count: int, rng: np.random.Generator) -> RepairTable:
    """Hide the truth of all loops but ``count``."""
    hidden = table.valid.copy()
    hidden[rng.permutation(len(table))[count:]] = UNKNOWN
    return table.relabelled(hidden)


def rules(calibration: RepairTable, seed: int, blind: bool) -> dict[str, Policy]:
    """Return every rule, calibrated where it needs to be; ``blind``: without any label, too."""
    rng = np.random.default_rng(seed)
    seen = labelled(calibration, LABELLED, rng)
    fit = fit_noise(seen)
    noise = fit.noise
    sign = measure_sign(noise, fit.draws(SIGN_DRAWS, ROUNDS, rng), VOTES, rounds=ROUNDS)
    choice = choose("auto", fit, sign, seen, eta=0.05)
    published = fit_noise(seen, method="em").noise
    found: dict[str, Policy] = {
        NONE: FixedRepairs(0),
        "fixed(5)": FixedRepairs(5),
        "majority": Majority(),
        "confidence(.85)": Confidence(0.85),
        "patience(1)": Patience(1),
        "patience(2)": Patience(2),
        "patience(3)": Patience(3),
        "best_of_votes": BestOfVotes(),
        STOP: VrrStop(noise),
        GUARD: VrrGuard(),
        "vrr(j_min=.15)": Vrr(noise, discrimination=labelled_discrimination(seen)),
        "vrr(eta=.05)": Vrr(noise, eta=0.05, p_flip=sign.p_flip),
        "lookahead": Lookahead(noise),
        AUTO: Auto(noise, fallback=choice.fallback),
        "vrr_stop, votes without labels": VrrStop(published),
        "oracle": Oracle(),
    }
    if blind:
        unseen = labelled(calibration, 0, rng)
        guess = fit_noise(unseen)
        fallback = choose("auto", guess, sign, unseen, eta=0.05).fallback
        found["lookahead, no labels at all"] = Lookahead(guess.noise)
        found["auto, no labels at all"] = Auto(guess.noise, fallback=fallback)
    return found


def loopgain_stop(errors: list[float]) -> tuple[int, int]:
    """Return LoopGain's last iteration and the one that it delivers, both from 0."""
    loop = LoopGain(target_error=0.0, max_iterations=len(errors))
    last = -1
    while loop.should_continue() and last + 1 < len(errors):
        last += 1
        loop.observe(min(errors[last], 1e6), output=last)
    return last, int(loop.result.best_output)


def loopgain_firing(errors: Array) -> Firing:
    """Run LoopGain's own rule over error series, (loops, iterations)."""
    found = np.array([loopgain_stop(row) for row in errors.tolist()])
    return Firing(found[:, 0], found[:, 1], np.ones(len(found), np.int64))


def run_seed(cells: list[Cell], seed: int) -> dict[str, Array]:
    """Return validity and repairs of every rule, (verifiers, cells, 2), for one seed."""
    found: dict[str, Array] = defaultdict(lambda: np.zeros((len(VERIFIERS), len(cells), 2)))
    for c, cell in enumerate(cells):
        folds = halves(cell, seed, c)
        for v, (rho, icc) in enumerate(VERIFIERS):
            table = voted(cell, rho, icc, np.random.default_rng([seed, c, v]))
            for fold, (one, two) in enumerate(folds):
                test = table.rows(two)
                firings = {
                    name: repair_firing(rule, test)
                    for name, rule in rules(
                        table.rows(one), seed * 2 + fold, seed < BLIND_SEEDS
                    ).items()
                }
                rejects = np.where(test.votes > 0, test.votes - test.accepts, np.inf)
                firings["LoopGain (errors = rejecting votes)"] = loopgain_firing(rejects)
                for name, firing in firings.items():
                    right = test.valid[np.arange(len(two)), firing.candidate] == 1
                    found[name][v, c] += np.array([right.sum(), firing.step.sum()]) / len(table)
    return dict(found)


def report(found: Mapping[str, Array], cells: list[Cell]) -> bool:
    """Print the table of the ten verifiers and return whether every check holds."""
    none = found[NONE][..., 0]
    better = np.maximum(*(found[name][..., 0].mean(axis=1) for name in (STOP, GUARD)))
    print("Validity against no repair in points, mean of the four cells, by verifier (rho0, rho1):")
    names = [f"{r0:g}/{r1:g}" for (r0, r1), _ in VERIFIERS]
    print(
        f"{'':36}{'validity':>8} {'repairs':>7}  {' '.join(f'{n:>7}' for n in names)}  worst cell"
    )
    print(f"{'':36}{'':>16}  {'ICC 0':<40}{'ICC .3':<40}")
    for name, values in found.items():
        gain = 100 * (values[..., 0] - none)
        row = " ".join(f"{value:+7.1f}" for value in gain.mean(axis=1))
        mean, repairs = values.mean(axis=(0, 1))
        print(f"{name:36}{mean:8.4f} {repairs:7.2f}  {row}  {gain.min():+.1f}")
    print("\nauto against no repair by cell, points:")
    for v, ((rho0, rho1), icc) in enumerate(VERIFIERS):
        gains = 100 * (found[AUTO][v, :, 0] - none[v])
        shown = "  ".join(
            f"{cell.name.split('-')[0]} {gain:+5.1f}"
            for cell, gain in zip(cells, gains, strict=True)
        )
        print(f"  rho {rho0:g}/{rho1:g} ICC {icc:g}: {shown}")
    auto = found[AUTO][..., 0]
    by_verifier = auto.mean(axis=1)
    checks = {
        "auto is never more than 1 point below no repair": 100 * (by_verifier - none.mean(axis=1)),
        "auto is never more than 1 point below the better of vrr_stop and vrr_guard": 100
        * (by_verifier - better),
        "auto in no cell more than 2 points below no repair": 100 * (auto - none) + 1,
        "auto is above vrr_stop on average": np.array(
            [100 * (by_verifier - found[STOP][..., 0].mean(axis=1)).mean() - 1]
        ),
    }
    print()
    for words, margins in checks.items():
        shift = {"auto in": -1, "auto is above": 1}
        value = margins.min() + next((s for k, s in shift.items() if words.startswith(k)), 0)
        print(f"{'holds' if margins.min() >= -1 else 'FAILS'}: {words} (smallest {value:+.2f})")
    return all(bool(margins.min() >= -1) for margins in checks.values())


def patience_stop(errors: Array, n: int) -> Firing:
    """Stop at no error or after ``n`` iterations without a new lowest one; deliver the lowest."""
    lowest = np.minimum.accumulate(errors, axis=1)
    fresh = np.ones(errors.shape, bool)
    fresh[:, 1:] = errors[:, 1:] < lowest[:, :-1]
    at = np.maximum.accumulate(np.where(fresh, np.arange(errors.shape[1]), 0), axis=1)
    stops = (np.arange(errors.shape[1]) - at >= n) | (lowest == 0)
    stops[:, -1] = True
    step = stops.argmax(axis=1)
    rows = np.arange(len(errors))
    return Firing(step, at[rows, step], np.ones(len(errors), np.int64))


def lookahead_stop(cell: Cell, tau: float, seed: int, number: int) -> Firing:
    """Run our rule on the truth itself: chances of repair learnt on the other half of the prompts.

    The calibration loops are cut at their first valid iteration, since those that are still going
    on are the ones in which repair has failed so far. Delivers the lowest error seen.
    """
    step = np.zeros(len(cell.valid), np.int64)
    lowest = np.zeros(len(cell.valid), np.int64)
    for one, two in halves(cell, seed, number):
        known = cell.valid[one].copy()
        first = np.where((known == 1).any(axis=1), (known == 1).argmax(axis=1), known.shape[1])
        known[np.arange(known.shape[1]) > first[:, None]] = UNKNOWN
        repaired, _ = count_transitions(truth_table(known))
        rate = estimate_rate("alpha", repaired)
        noise = NoiseModel(0.0, 0.0, rate.mean, 0.5, 0.5, alpha_by_round=rate.by_round)
        rounds = known.shape[1] - 1
        fired = repair_firing(Lookahead(noise, tau, rounds=rounds), truth_table(cell.valid[two]))
        step[two] = fired.step
        until = np.where(np.arange(rounds + 1) <= fired.step[:, None], cell.errors[two], np.inf)
        lowest[two] = until.argmin(axis=1)
    return Firing(step, lowest, np.ones(len(step), np.int64))


def truth_table(valid: NDArray[np.int8]) -> RepairTable:
    """Return loops whose single vote is the truth."""
    return RepairTable.from_arrays(valid == 1, (valid != UNKNOWN).astype(int), valid)


def true_errors(cells: list[Cell]) -> None:
    """Print misses against iterations on the true error series, all 20 iterations."""
    errors = np.concatenate([cell.errors for cell in cells])
    best = errors.min(axis=1)
    print("\nTrue error series (M = infinity), 20 iterations, all cells:")
    print(f"{'':36}{'iterations':>10} {'miss':>7} {'validity':>9}   iterations by cell")
    rows: dict[str, list[Firing]] = {
        f"patience({n})": [patience_stop(cell.errors, n) for cell in cells] for n in range(1, 9)
    }
    rows["LoopGain"] = [loopgain_firing(cell.errors) for cell in cells]
    for tau in PRICES:
        rows[f"lookahead(tau={tau:g}), calibrated"] = [
            lookahead_stop(cell, tau, 0, c) for c, cell in enumerate(cells)
        ]
    for name, firings in rows.items():
        made = np.concatenate([firing.step for firing in firings]) + 1
        plan = np.concatenate([firing.candidate for firing in firings])
        delivered = errors[np.arange(len(errors)), plan]
        by_cell = "  ".join(f"{firing.step.mean() + 1:4.1f}" for firing in firings)
        print(
            f"{name:36}{made.mean():10.2f} {(delivered > best).mean():7.4f} "
            f"{(delivered == 0).mean():9.4f}   {by_cell}"
        )


def main() -> None:
    """Run both parts."""
    root = Path(__file__).resolve().parent.parent
    folder = Path(os.environ.get("HALTWISE_SHARED_DATA", root.parent / "shared" / "data"))
    shared = folder / "repair_loops" / "loopgain_b20.jsonl"
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="4 seeds instead of 20")
    parser.add_argument("--data", type=Path, default=shared, help="the error series")
    arguments = parser.parse_args()
    if not arguments.data.exists():
        print(f"not run: {arguments.data} is absent; name the file with --data")
        return
    cells = load(arguments.data)
    seeds = 4 if arguments.quick else 20
    start = time.perf_counter()
    runs = Parallel(n_jobs=2)(delayed(run_seed)(cells, seed) for seed in range(seeds))
    found = {name: np.mean([run[name] for run in runs if name in run], axis=0) for name in runs[0]}
    seconds = time.perf_counter() - start
    print(
        f"{sum(len(c.valid) for c in cells)} loops, {seeds} seeds (without labels: {BLIND_SEEDS}), "
        f"{seconds:.0f} s\n"
    )
    holds = report(found, cells)
    true_errors(cells)
    if not holds and not arguments.quick:  # four seeds are too few to judge a single cell
        raise SystemExit(1)


if __name__ == "__main__":
    main()
