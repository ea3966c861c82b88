"""Cross-fitted comparison: calibrate on the other folds, decide on the held-out one.

A problem is in one fold with all of its episodes, so that no rule is judged on a problem that it
was fitted to. Rules without parameters are replayed on the same loops. Knows full records; ignorant
of models and files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...calibrate.choose import AUTO
from ...calibrate.repair import RepairCalibration, calibrate_repair
from ...core.errors import InputError
from ...core.expression import parse_policy
from ...core.policy import Policy
from ...record.episode import RepairEpisode
from ...record.repair_table import RepairTable
from ...replay.outcome import Outcomes, joined, repair_outcomes
from ...replay.repair import repair_firing
from ...replay.summary import ReplaySummary, summarise
from ...stats.multiple import holm
from ...stats.paired import PairedTable, mcnemar
from .loop import seeded

POLICIES = (
    "fixed(0)",
    "fixed",
    "majority",
    "confidence(0.85)",
    "patience(1)",
    "best_of_votes",
    "vrr_stop",
    "vrr_guard",
    "vrr",
    "vrr(eta=0.05)",
    "lookahead",
    "auto",
    "true_myopic",
    "oracle",
)
"""Rules that are compared unless others are named; the first one is no repair."""

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Fold:
    """One held-out part."""

    calibration: RepairCalibration
    """What was fitted to the other folds."""
    loops: int
    """Loops that it decided on."""
    policies: Mapping[str, Policy]
    """Every rule by its name, with the parameters of this fold."""


@dataclass(frozen=True)
class CrossFit:
    """Every rule on every loop, decided by what the other folds told."""

    folds: tuple[Fold, ...]
    summary: ReplaySummary
    """Estimates and paired differences over all folds."""
    mcnemar: tuple[tuple[float, float], ...]
    """Exact McNemar p and its Holm-adjusted value, one for each comparison of the summary."""


def crossfit(
    episodes: Sequence[RepairEpisode],
    policies: Sequence[str] = POLICIES,
    *,
    folds: int = 5,
    rounds: int | None = None,
    labelled_max: int = 300,
    eta: float = 0.05,
    price: float = 0.01,
    method: str | None = None,
    replicates: int = 10_000,
    seed: int = 0,
) -> CrossFit:
    """Compare rules on full records.

    Args:
        episodes: loops whose every round was run and graded.
        policies: expressions; ``noise`` and ``rounds`` come from the fit and the record.
        folds: parts that the problems are divided into, at least 2.
        rounds: repairs that a rule may make; None: as many as were recorded.
        labelled_max: labelled transitions that each calibration may use.
        eta: largest P_flip at which the sign counts as identified.
        price: price of a repair in valid plans, for the utility.
        method: of the calibration, see `haltwise.calibrate.fit.METHODS`.
        replicates: bootstrap resamples of problems.
        seed: of folds, labels and resampling.

    Raises:
        InputError: there are too few problems, or a fold cannot be calibrated on.
    """
    table = RepairTable.from_episodes(episodes)
    _, cluster = np.unique([episode.cluster_id for episode in episodes], return_inverse=True)
    fold_of = _folds([episode.cluster_id for episode in episodes], folds, seed)
    repairs = table.columns - 1 if rounds is None else rounds
    truth = calibrate_repair(table, labelled_max=int(table.transitions.sum()), method="labels")
    order, parts, outcomes = [], [], []
    for fold in range(folds):
        inside = np.flatnonzero(fold_of == fold)
        seen = table.rows(np.flatnonzero(fold_of != fold))
        calibration = calibrate_repair(
            seen, labelled_max=labelled_max, eta=eta, method=method, seed=seed
        )
        rules = {name: _rule(name, calibration, truth, repairs) for name in dict.fromkeys(policies)}
        loops = table.rows(inside)
        outcomes.append(
            [repair_outcomes(loops, repair_firing(r, loops), price) for r in rules.values()]
        )
        parts.append(Fold(calibration, len(loops), rules))
        order.append(inside)
    by_policy = [joined([part[i] for part in outcomes]) for i in range(len(parts[0].policies))]
    summary = summarise(
        "repair",
        list(parts[0].policies),
        by_policy,
        cluster[np.concatenate(order)],
        price=price,
        replicates=replicates,
        seed=seed,
    )
    return CrossFit(tuple(parts), summary, _mcnemar(summary, by_policy))


def _folds(problems: Sequence[str], folds: int, seed: int) -> Integers:
    """Return the fold of each loop: problems in the order of a hash, dealt out in turn."""
    distinct = sorted(set(problems), key=lambda name: seeded(seed, "fold", name))
    if folds < 2 or len(distinct) < 2 * folds:
        raise InputError(
            f"{len(distinct)} problems cannot be cross-fitted in {folds} folds: at least 2 folds "
            "with 2 problems each are needed; record more problems or type --folds 2"
        )
    place = {name: number % folds for number, name in enumerate(distinct)}
    return np.array([place[name] for name in problems], np.int64)


def _rule(
    name: str, calibration: RepairCalibration, truth: RepairCalibration, rounds: int
) -> Policy:
    """Return the rule with what the calibration tells; ``true_myopic`` is given the truth."""
    known = truth if "true_myopic" in name else calibration
    defaults: dict[str, Any] = {
        "noise": known.fit.noise,
        "rounds": rounds,
        "p_flip": calibration.sign.p_flip,
    }
    if calibration.choice.discrimination is not None:
        defaults["discrimination"] = calibration.choice.discrimination
    expression = calibration.choice.policy if name == AUTO else name
    if name == "fixed":
        defaults["n"] = rounds
    return parse_policy(expression, defaults=defaults)


def _mcnemar(
    summary: ReplaySummary, outcomes: Sequence[Outcomes]
) -> tuple[tuple[float, float], ...]:
    by_name = {
        policy.policy: outcome for policy, outcome in zip(summary.policies, outcomes, strict=True)
    }
    p_values = [
        mcnemar(_paired(by_name[pair.a].success, by_name[pair.b].success))
        for pair in summary.comparisons
    ]
    return tuple(zip(p_values, holm(p_values), strict=True))


def _paired(first: npt.NDArray[np.float64], second: npt.NDArray[np.float64]) -> PairedTable:
    known = ~(np.isnan(first) | np.isnan(second))
    return PairedTable.of(first[known], second[known])
