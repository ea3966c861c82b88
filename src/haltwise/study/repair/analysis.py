"""The verify-repair study's results: true validity against reported acceptance, and every rule.

Knows full records of one arm; ignorant of models, files and formatting. JSON schema
"haltwise.repair-study/1".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...calibrate.repair import RepairCalibration, calibrate_repair
from ...core.errors import InputError
from ...core.policies.vrr import Vrr
from ...record.episode import RepairEpisode
from ...record.repair_table import UNKNOWN, RepairTable
from ...stats.estimate import Estimate
from ...stats.proportions import clustered_mean, clustered_proportion
from .crossfit import POLICIES, CrossFit, crossfit

SCHEMA = "haltwise.repair-study/1"
Booleans = npt.NDArray[np.bool_]

REPORTED = {
    "fixed(0)": 0.700,
    "majority": 0.690,
    "confidence(0.85)": 0.562,
    "fixed": 0.116,
    "best_of_votes": 0.696,
    "vrr_stop": 0.722,
    "true_myopic": 0.694,
}
"""Final true validity reported for GSM8K with Qwen2.5-3B under stress, N = 500, M = 8, K = 5
(METHODS section 2, "Reported results"), to stand beside a study of GSM8K with a mismatched
repairer."""


@dataclass(frozen=True)
class Disagreement:
    """What `vrr` chose in each fold, and what either choice would have brought."""

    guarded: int
    """Folds in which it fell back to the guard."""
    folds: int
    stop: Estimate | None
    """Validity of `vrr_stop` on all loops; None where it was not compared."""
    guard: Estimate | None
    """Validity of `vrr_guard` on all loops; None where it was not compared."""


@dataclass(frozen=True)
class VoteRates:
    """How often a vote accepts plans of one kind: by the votes drawn, and exactly."""

    sampled: Estimate
    """Share of votes that accept, over the plans of which the exact rate is known."""
    exact: Estimate
    """Mean of the verifier's own probability of accepting, read from its log probabilities: that
    of votes at temperature 1."""


@dataclass(frozen=True)
class RepairStudy:
    """The results of one arm: one verifier, one repairer, one task."""

    arm: str
    loops: int
    problems: int
    validity_by_round: tuple[Estimate, ...]
    """True validity of the plans of each round, all rounds run."""
    acceptance_by_round: tuple[Estimate, ...]
    """Share of plans that most of their votes accept, by round: what the loop reports."""
    estimated: RepairCalibration
    """Fitted to all loops with the label budget."""
    labelled: RepairCalibration
    """Fitted with every label: the truth to compare with."""
    crossfit: CrossFit
    otherwise: Disagreement
    vote_rates: Mapping[str, VoteRates]
    """By "valid" and "invalid" plans; empty where the verifier told no probability."""

    @property
    def identified(self) -> bool:
        """Whether the sign of the gain is known from all loops with the label budget."""
        return self.estimated.identified

    def to_json(self) -> dict[str, Any]:
        """Return the document that ``haltwise study analyze --json`` prints for this arm."""
        summary = self.crossfit.summary
        return {
            "schema": SCHEMA,
            "arm": self.arm,
            "loops": self.loops,
            "problems": self.problems,
            "validity_by_round": [e.to_json() for e in self.validity_by_round],
            "acceptance_by_round": [e.to_json() for e in self.acceptance_by_round],
            "noise": {
                "estimated": {k: e.to_json() for k, e in self.estimated.estimates.items()},
                "labelled": {k: e.to_json() for k, e in self.labelled.estimates.items()},
            },
            "policies": [policy.to_json() for policy in summary.policies],
            "comparisons": [
                {**pair.to_json(), "mcnemar": exact, "mcnemar_holm": adjusted}
                for pair, (exact, adjusted) in zip(
                    summary.comparisons, self.crossfit.mcnemar, strict=True
                )
            ],
            "identified": self.identified,
            "p_flip": self.estimated.sign.p_flip,
            "folds": [
                {
                    "loops": fold.loops,
                    "identified": fold.calibration.identified,
                    "p_flip": fold.calibration.sign.p_flip,
                    "policy": fold.calibration.choice.policy,
                    "why": fold.calibration.choice.why,
                }
                for fold in self.crossfit.folds
            ],
            "otherwise": {
                "guarded": self.otherwise.guarded,
                "folds": self.otherwise.folds,
                "stop": None if self.otherwise.stop is None else self.otherwise.stop.to_json(),
                "guard": None if self.otherwise.guard is None else self.otherwise.guard.to_json(),
            },
            "vote_rates": {
                kind: {"sampled": rates.sampled.to_json(), "exact": rates.exact.to_json()}
                for kind, rates in self.vote_rates.items()
            },
            "notes": list(self.estimated.notes),
        }


def analyse(
    episodes: Sequence[RepairEpisode],
    policies: Sequence[str] = POLICIES,
    *,
    folds: int = 5,
    labelled_max: int = 300,
    eta: float = 0.05,
    price: float = 0.01,
    replicates: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> RepairStudy:
    """Analyse the full records of one arm.

    Args:
        episodes: loops of which every round was run and graded, all of one arm.
        policies: expressions to compare; the parameters come from the other folds.
        folds: parts for the cross-fit.
        labelled_max: labelled transitions that a calibration may use.
        eta: largest P_flip at which the sign counts as identified.
        price: price of a repair in valid plans.
        replicates: bootstrap resamples of problems.
        level: coverage of the intervals.
        seed: of folds, labels and resampling.

    Raises:
        InputError: there are no episodes, they are of several arms, or a round has no truth.
    """
    arms = sorted({str(episode.arm) for episode in episodes})
    if len(arms) != 1:
        found = ", ".join(arms) or "none"
        raise InputError(f"one arm is analysed at a time; these episodes are of: {found}")
    table = RepairTable.from_episodes(episodes)
    inside = np.arange(table.columns) < table.length[:, None]
    if (inside & (table.valid == UNKNOWN)).any():
        raise InputError("a round has no truth; record with: haltwise study repair --record full")
    compared = crossfit(
        episodes,
        policies,
        folds=folds,
        labelled_max=labelled_max,
        eta=eta,
        price=price,
        replicates=replicates,
        seed=seed,
    )
    return RepairStudy(
        arms[0],
        len(table),
        int(table.cluster.max()) + 1,
        _by_round(table, inside, table.valid == 1, level),
        _by_round(table, inside, 2 * table.accepts > table.votes, level),
        calibrate_repair(table, labelled_max=labelled_max, eta=eta, level=level, seed=seed),
        calibrate_repair(
            table, labelled_max=int(table.transitions.sum()), method="labels", level=level
        ),
        compared,
        _otherwise(compared),
        _vote_rates(episodes, level),
    )


def _by_round(
    table: RepairTable, inside: Booleans, event: Booleans, level: float
) -> tuple[Estimate, ...]:
    estimates = []
    for k in range(table.columns):
        clusters = table.cluster[inside[:, k]]
        sums = np.bincount(clusters, event[inside[:, k], k], table.cluster.max() + 1)
        counts = np.bincount(clusters, minlength=table.cluster.max() + 1)
        there = counts > 0
        estimates.append(clustered_proportion(sums[there], counts[there], level=level))
    return tuple(estimates)


def _vote_rates(episodes: Sequence[RepairEpisode], level: float) -> dict[str, VoteRates]:
    rates = {}
    for kind, valid in (("valid", True), ("invalid", False)):
        exact, sampled, sizes = [], [], []
        for episode in episodes:
            told = [
                (step.accept_probability, step.accepts / step.votes)
                for step in episode.steps
                if step.valid is valid
                and step.accept_probability is not None
                and step.accepts is not None
                and step.votes
            ]
            exact.append(sum(probability for probability, _ in told))
            sampled.append(sum(share for _, share in told))
            sizes.append(len(told))
        if any(sizes):
            rates[kind] = VoteRates(
                clustered_mean(sampled, sizes, level=level),
                clustered_mean(exact, sizes, level=level),
            )
    return rates


def _otherwise(compared: CrossFit) -> Disagreement:
    found = {policy.policy: policy.success for policy in compared.summary.policies}
    rules = [fold.policies.get("vrr") for fold in compared.folds]
    guarded = sum(isinstance(rule, Vrr) and not rule.trusted for rule in rules)
    return Disagreement(guarded, len(compared.folds), found.get("vrr_stop"), found.get("vrr_guard"))
