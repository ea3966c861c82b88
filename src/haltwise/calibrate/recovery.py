"""From recorded search loops to the recovery model: hazard, answer-now success, useful value.

METHODS section 1, "Recovery-aware stopping". Knows how the quantities are counted, shrunk and
resampled; the stopping table that follows from them is `RecoveryModel.stop`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core.errors import InputError
from ..core.recovery import RecoveryModel
from ..record.episode import SearchEpisode
from ..replay.answer_now import AnswerNowTable
from ..replay.search import SearchTable, search_table
from ..replay.summary import cluster_resamples
from ..stats.bootstrap import Statistic
from ..stats.estimate import Estimate
from ..stats.proportions import wilson
from .recovery_counts import Integers, RecoveryCounts, recovery_counts

SCHEMA = "haltwise.recovery/1"
"""Value of ``schema`` in the JSON document."""


@dataclass(frozen=True)
class RecoveryFit:
    """A fitted model with what it rests on."""

    model: RecoveryModel
    """What the policy file gets: the point values, gaps filled."""
    hazard: tuple[tuple[Estimate, ...], tuple[Estimate, ...]]
    """By run from 1; fresh loops, then the others. n counts loops that searched on."""
    answer_now: tuple[Estimate, Estimate]
    """Fresh loops, then the others; n counts decision points with a known branch."""
    useful_value: tuple[Estimate, ...]
    """By actions left from 1; n counts recoveries."""
    loops: int
    """Loops read."""
    clusters: int
    """Clusters that they form."""
    notes: tuple[str, ...]
    """What a reader must know."""

    def to_json(self) -> dict[str, Any]:
        """Return the document that ``haltwise calibrate search --json`` prints."""
        return {
            "schema": SCHEMA,
            "hazard": [
                {"r": run, "fresh": fresh, **estimate.to_json()}
                for fresh, row in zip((True, False), self.hazard, strict=True)
                for run, estimate in enumerate(row, start=1)
            ],
            "answer_now": [
                {"fresh": fresh, **estimate.to_json()}
                for fresh, estimate in zip((True, False), self.answer_now, strict=True)
            ],
            "useful_value": [
                {"m": left, **estimate.to_json()}
                for left, estimate in enumerate(self.useful_value, start=1)
            ],
            "gain": self.model.gain,
            "stop": [
                {"m": left, "r": list(runs)} for left, runs in enumerate(self.model.stop, start=1)
            ],
            "price": self.model.price,
            "budget": self.model.budget,
            "n": self.loops,
            "clusters": self.clusters,
            "notes": list(self.notes),
        }

    def evidence(self) -> dict[str, Any]:
        """Return what the policy file's [evidence] holds, for people."""
        return {
            "n": self.loops,
            "clusters": self.clusters,
            "recoveries": sum(estimate.n for estimate in self.useful_value),
            "gain": self.model.gain,
            "why": "backward induction over the recorded recoveries",
            "notes": list(self.notes),
        }


def estimate_recovery(
    episodes: Sequence[SearchEpisode],
    answer_now: AnswerNowTable | None = None,
    *,
    budget: int,
    price: float,
    level: float = 0.95,
    replicates: int = 2000,
    seed: int = 0,
) -> RecoveryFit:
    """Fit the recovery model to recorded loops, with cluster-bootstrap intervals.

    Args:
        episodes: unaided loops with verdicts.
        answer_now: grades of forced answers for steps whose branch is not in the record.
        budget: B, actions allowed, the answer included; at least 2.
        price: c, cost of one tool call, in right answers.
        level: coverage of the intervals.
        replicates: resamples of clusters.
        seed: of the resampling.

    Raises:
        InputError: nothing to fit; see `recovery_model`.
    """
    table = search_table(episodes, answer_now)
    if not table.judged().any():
        raise InputError(
            "no result of these loops was judged, so there is no recovery to fit; record verdicts, "
            "or judge the results with --signal lexical or --signal stated"
        )
    numbers: dict[str, int] = {}
    clusters = np.array([numbers.setdefault(e.cluster_id, len(numbers)) for e in episodes])
    counts = recovery_counts(table, clusters, budget=budget, price=price)
    model, notes = recovery_model(counts, price=price)
    other = sum(e.budget is not None and e.budget != budget for e in episodes)
    if other:
        notes.append(f"{other} loops were recorded with another budget than {budget}")
    notes.extend(_left_out(table, counts))
    drawn = cluster_resamples(counts.matrix(), replicates=replicates, seed=seed)
    n = RecoveryCounts.of(drawn.total[None])

    def estimate(statistic: Statistic, count: float, reason: str) -> Estimate:
        return replace(drawn.estimate(statistic, level=level, reason=reason), n=int(count))

    def hazard_at(f: int, r: int) -> Estimate:
        if n.tried[0, :, r].sum() and not n.recovered[0, :, r].sum():
            return wilson(0, n.tried[0, f, r], level=level)  # nothing that a resample could vary
        return estimate(
            lambda sums: RecoveryCounts.of(sums).hazard()[:, f, r],
            n.tried[0, f, r],
            "no loop searched on at this run",
        )

    def answer_at(f: int) -> Estimate:
        return estimate(
            lambda sums: RecoveryCounts.of(sums).answer_now()[:, f],
            n.asked[0, f],
            "no answer-now branch is known",
        )

    def value_at(m: int) -> Estimate:
        return estimate(
            lambda sums: RecoveryCounts.of(sums).useful_value()[:, m],
            n.useful[0, m],
            "no recovery came with so many actions left",
        )

    runs = range(budget - 2)
    return RecoveryFit(
        model,
        (tuple(hazard_at(0, r) for r in runs), tuple(hazard_at(1, r) for r in runs)),
        (answer_at(0), answer_at(1)),
        tuple(value_at(m) for m in runs),
        len(episodes),
        len(numbers),
        tuple(notes),
    )


def _left_out(table: SearchTable, counts: RecoveryCounts) -> list[str]:
    during = (table.runs()[:, :-1] >= 1) & table.inside[:, 1:]
    unbranched = int(during.sum() - counts.asked.sum())
    ungraded = int(np.isnan(table.success).sum())
    notes = []
    if unbranched:
        notes.append(
            f"{unbranched} of {int(during.sum())} decision points during a run have no known "
            "answer-now branch and are left out of it"
        )
    if ungraded:
        notes.append(f"{ungraded} loops have no graded outcome and are left out of useful_value")
    return notes


def recovery_model(counts: RecoveryCounts, *, price: float) -> tuple[RecoveryModel, list[str]]:
    """Return the model that all counts together give, gaps filled, and a note for every gap.

    A run length that nobody searched on from takes the hazard of the nearest shorter one. A number
    of actions left at which nothing recovered takes the value of the nearest smaller number, which
    cannot overstate it (the nearest larger one where there is none).

    Raises:
        InputError: no loop searched on after a useless result, or no answer-now branch is known.
    """
    total = RecoveryCounts.of(counts.matrix().sum(axis=0, keepdims=True))
    hazard, answer_now, useful = total.hazard()[0], total.answer_now()[0], total.useful_value()[0]
    budget = len(useful) + 2
    notes = []
    if budget > 2 and np.isnan(hazard).all():
        raise InputError(
            "no loop searched on after a useless result, so there is no recovery to fit; "
            "record unaided loops with verdicts"
        )
    if np.isnan(answer_now).all():
        raise InputError(
            "no answer-now branch is known at any decision point during a run of useless results; "
            "give a table of forced answers with --answer-now"
        )
    missing = np.flatnonzero(np.isnan(hazard[0]))  # pooled: both rows are missing together
    for r in missing:
        hazard[:, r] = hazard[:, r - 1] if r else hazard[:, ~np.isnan(hazard[0])][:, 0]
    if len(missing):
        notes.append(
            f"no loop searched on at run {_listed(missing + 1)}: the hazard of the nearest "
            "recorded run is taken"
        )
    for row in (0, 1):
        if math.isnan(answer_now[row]):
            answer_now[row] = answer_now[1 - row]
            which = "fresh loops" if row == 0 else "loops with an earlier useful result"
            notes.append(f"no answer-now branch of {which} is known: that of the others is taken")
    known = np.flatnonzero(~np.isnan(useful))
    if len(known):
        below = np.searchsorted(known, np.arange(len(useful)), side="right") - 1
        filled = useful[known[np.maximum(below, 0)]]
    else:
        filled = np.full(len(useful), answer_now[0])
        notes.append("no source recovered: searching on is worth nothing in this record")
    gaps = np.flatnonzero(np.isnan(useful))
    if len(gaps) and len(known):
        notes.append(
            f"no recovery came with {_listed(gaps + 1)} actions left: the value of the nearest "
            "recorded number is taken"
        )
    never = np.flatnonzero(hazard[0] == 0)
    if price > 0 and len(never):
        notes.append(
            f"no fresh loop recovered at run {_listed(never + 1)}: with a price above 0 the table "
            "gives up there; record slow regimes, or use --price 0, or trust=.5 in the policy"
        )
    model = RecoveryModel(
        budget=budget,
        hazard=(tuple(hazard[0].tolist()), tuple(hazard[1].tolist())),
        answer_now=(float(answer_now[0]), float(answer_now[1])),
        useful_value=tuple(filled.tolist()),
        price=price,
    )
    return model, notes


def _listed(numbers: Integers) -> str:
    return ", ".join(str(number) for number in numbers.tolist())
