"""From recorded search loops to the recovery model: hazard, answer-now success, useful value.

METHODS section 1, "Recovery-aware stopping". Knows how the quantities are counted, shrunk and
resampled; the stopping table that follows from them is `RecoveryModel.stop`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.errors import InputError
from ..core.events import Verdict
from ..core.recovery import RecoveryModel
from ..record.outline import CODES
from ..replay.search import SearchTable

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SHRINKAGE = 5.0
"""Weight, in loops, of the hazard pooled over fresh and other loops."""

_RESETS = [CODES[Verdict.USEFUL], CODES[Verdict.UNKNOWN]]


@dataclass(frozen=True, eq=False)
class RecoveryCounts:
    """Sufficient statistics by cluster: sums, so that clusters merge and resample as weights."""

    tried: Floats
    """(c, 2, B-2): loops that searched on at run r and were judged next; fresh first."""
    recovered: Floats
    """(c, 2, B-2): those whose next verdict was not useless."""
    asked: Floats
    """(c, 2): decision points during a run, of loops that searched on, with a known branch."""
    right: Floats
    """(c, 2): those where a forced answer was right."""
    useful: Floats
    """(c, B-2): loops whose first recovery came with m actions left and whose end was graded."""
    value: Floats
    """(c, B-2): their sum of success - price x later calls."""
    unbranched: int
    """Decision points during a run whose answer-now branch is not known."""
    ungraded: int
    """Loops with a recovery whose outcome was not graded."""


def recovery_counts(
    table: SearchTable, clusters: Integers, *, budget: int, price: float
) -> RecoveryCounts:
    """Count what the recovery model is made of.

    Verdicts that leave a run as it is (unjudged, failed source) say nothing about recovery: a loop
    whose next verdict is one of them is censored there, as one that answered is.

    Args:
        table: the loops.
        clusters: (n,), what is resampled as one: an index from 0.
        budget: B, actions allowed, the answer included; at least 2.
        price: c, cost of one tool call.
    """
    width, groups = budget - 2, int(clusters.max(initial=-1)) + 1
    runs = table.runs()
    steps = np.arange(1, runs.shape[1] + 1)
    inside = table.inside
    during = (runs[:, :-1] >= 1) & inside[:, 1:]
    resets = np.isin(table.verdicts, _RESETS)[:, 1:]
    judged = resets | (runs[:, 1:] > runs[:, :-1])
    later = (runs[:, :-1] != steps[:-1]).astype(np.int64)

    loop, step = np.nonzero(during & judged & (runs[:, :-1] <= width))
    cell = (clusters[loop] * 2 + later[loop, step]) * width + runs[loop, step] - 1
    size = groups * 2 * width
    tried = _sums(cell, size)
    recovered = _sums(cell, size, resets[loop, step])

    loop, step = np.nonzero(during)
    branch = table.answer_now[loop, step]
    known = ~np.isnan(branch)
    cell = clusters[loop] * 2 + later[loop, step]
    asked = _sums(cell[known], groups * 2)
    right = _sums(cell[known], groups * 2, branch[known])

    back = during & resets
    loop = np.flatnonzero(back.any(axis=1))
    step = back[loop].argmax(axis=1) + 1 if len(loop) else loop
    left = budget - (step + 1)
    worth = table.success[loop] - price * (table.total_calls[loop] - table.calls[loop, step])
    known = ~np.isnan(worth)
    usable = known & (left >= 1)
    cell = (clusters[loop] * width + left - 1)[usable]
    useful = _sums(cell, groups * width)
    value = _sums(cell, groups * width, worth[usable])
    return RecoveryCounts(
        tried.reshape(groups, 2, width),
        recovered.reshape(groups, 2, width),
        asked.reshape(groups, 2),
        right.reshape(groups, 2),
        useful.reshape(groups, width),
        value.reshape(groups, width),
        unbranched=int(np.isnan(branch).sum()),
        ungraded=int((~known).sum()),
    )


@dataclass(frozen=True, eq=False)
class RecoveryValues:
    """The fitted quantities of k resamples at once; NaN where nothing was recorded."""

    hazard: Floats
    """(k, 2, B-2), shrunk."""
    answer_now: Floats
    """(k, 2)."""
    useful_value: Floats
    """(k, B-2), isotonic."""


def recovery_values(counts: RecoveryCounts, weights: Floats) -> RecoveryValues:
    """Work the quantities out for resamples that take cluster j ``weights[i, j]`` times."""
    tried, recovered = _weighed(weights, counts.tried), _weighed(weights, counts.recovered)
    with np.errstate(invalid="ignore", divide="ignore"):
        pooled = recovered.sum(axis=1, keepdims=True) / tried.sum(axis=1, keepdims=True)
        hazard = (recovered + SHRINKAGE * pooled) / (tried + SHRINKAGE)
        answer_now = _weighed(weights, counts.right) / _weighed(weights, counts.asked)
    useful = _weighed(weights, counts.useful)
    return RecoveryValues(hazard, answer_now, isotonic(_weighed(weights, counts.value), useful))


def isotonic(sums: Floats, weights: Floats) -> Floats:
    """Return the weighted means ``sums / weights`` made non-decreasing along the last axis.

    The max-min formula of isotonic regression: fit(m) is the largest over i <= m of the smallest
    over j >= m of the mean over i..j (Robertson, Wright & Dykstra 1988, theorem 1.4.4). All rows at
    once; entries of weight 0 are NaN and do not matter to the others.
    """
    width = sums.shape[-1]
    total = np.concatenate([np.zeros_like(sums[..., :1]), np.cumsum(sums, axis=-1)], axis=-1)
    weight = np.concatenate([np.zeros_like(sums[..., :1]), np.cumsum(weights, axis=-1)], axis=-1)
    fitted = np.full(sums.shape, math.nan)
    for m in range(width):
        best = np.full(sums.shape[:-1], -math.inf)
        for i in range(m + 1):
            worst = np.full(sums.shape[:-1], math.inf)
            for j in range(m, width):
                mass = weight[..., j + 1] - weight[..., i]
                with np.errstate(invalid="ignore", divide="ignore"):
                    mean = (total[..., j + 1] - total[..., i]) / mass
                worst = np.where(mass > 0, np.fmin(worst, mean), worst)
            best = np.where(np.isfinite(worst), np.fmax(best, worst), best)
        fitted[..., m] = np.where(weights[..., m] > 0, best, math.nan)
    return fitted


def recovery_model(
    values: RecoveryValues, *, budget: int, price: float
) -> tuple[RecoveryModel, list[str]]:
    """Return the model of the first resample, gaps filled, and a note for every gap.

    A run length that nobody searched on from takes the hazard of the nearest shorter one. A number
    of actions left at which nothing recovered takes the value of the nearest smaller number, which
    cannot overstate it (the nearest larger one where there is none).

    Raises:
        InputError: no loop searched on after a useless result, or no answer-now branch is known.
    """
    hazard, answer_now = values.hazard[0].copy(), values.answer_now[0].copy()
    useful = values.useful_value[0]
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


def fit_recovery(
    table: SearchTable, *, budget: int, price: float
) -> tuple[RecoveryModel, list[str]]:
    """Fit the model to ``table`` and return it with its notes; see `recovery_model`."""
    one = np.zeros(len(table), np.int64)
    counts = recovery_counts(table, one, budget=budget, price=price)
    return recovery_model(recovery_values(counts, np.ones((1, 1))), budget=budget, price=price)


def _sums(cell: Integers, size: int, values: NDArray[np.generic] | None = None) -> Floats:
    added = None if values is None else values.astype(np.float64)
    return np.bincount(cell, added, size).astype(np.float64)


def _weighed(weights: Floats, counts: Floats) -> Floats:
    flat = weights @ counts.reshape(len(counts), -1)
    return flat.reshape(len(weights), *counts.shape[1:])


def _listed(numbers: Integers) -> str:
    return ", ".join(str(number) for number in numbers.tolist())
