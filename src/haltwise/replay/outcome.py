"""What a policy's stops are worth on each recorded loop, and what hindsight would have got.

Knows the outcome of stopping at a step; ignorant of how the stops came about and of statistics.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..record.repair_table import UNKNOWN, RepairTable
from .firing import Firing
from .search import SearchTable

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Outcomes:
    """One policy on n loops. NaN where the record does not tell."""

    success: Floats
    """(n,): 1 or 0, whether the answer or the delivered plan was right."""
    steps: Floats
    """(n,): tool calls, or repairs, made until the stop."""
    votes: Floats
    """(n,): votes bought until the stop; NaN for search loops, which buy none."""
    utility: Floats
    """(n,): success - price x steps."""
    miss: Floats
    """(n,): 1 where the result was wrong though stopping elsewhere, earlier or later, or
    delivering another plan of the record would have been right; else 0."""
    regret: Floats
    """(n,): utility of the best stop in hindsight (among those that the record tells) - utility."""
    stops: int
    """Loops that were stopped."""
    unknown_stops: int
    """Loops that were stopped where the record does not tell what that is worth."""
    unknown_ends: int
    """Loops that were not stopped and whose recorded outcome is not graded."""
    options: int
    """Other ways to end these loops, that hindsight chooses from: free decision points, or
    plans."""
    known_options: int
    """Those of which the record tells what they are worth."""
    open_ends: int = 0
    """Repair loops whose record ends before the policy has stopped: what it would deliver then
    counts."""
    judged: int = 0
    """Search loops with a verdict that the policy waits for; 0 if it looks at none."""
    unjudged: int = 0
    """Search loops with tool results and no such verdict; 0 if it looks at none."""


def joined(parts: Sequence[Outcomes]) -> Outcomes:
    """Return the outcomes of one policy on all loops, from those on the parts, in their order."""
    columns: dict[str, Any] = {}
    for item in fields(Outcomes):
        found = [getattr(part, item.name) for part in parts]
        columns[item.name] = sum(found) if isinstance(found[0], int) else np.concatenate(found)
    return Outcomes(**columns)


def ends(table: SearchTable, firing: Firing) -> tuple[Booleans, Floats, Floats]:
    """Return which search loops are stopped, and success and tool calls of each; (n,) each.

    METHODS section 1, "Off-policy evaluation": the outcome is the answer-now branch where the rule
    fires, unless the recorded next action is already the answer or there is none; otherwise it is
    the recorded outcome.
    """
    width = table.verdicts.shape[1]
    if not width:
        return np.zeros(len(table), bool), table.success, table.total_calls.astype(float)
    rows = np.arange(len(table))
    step = np.minimum(firing.step, width - 1)
    stopped = (firing.step < width) & table.free[rows, step]
    success = np.where(stopped, table.answer_now[rows, step], table.success)
    calls = np.where(stopped, table.calls[rows, step], table.total_calls).astype(float)
    return stopped, success, calls


def search_outcomes(table: SearchTable, firing: Firing, price: float) -> Outcomes:
    """Evaluate stops on search loops (`ends`), and hold them against hindsight."""
    stopped, success, steps = ends(table, firing)
    branches = np.where(table.free, table.answer_now, math.nan)
    best = _best(branches, table.success)
    hindsight = _best(branches - price * table.calls, table.success - price * table.total_calls)
    unknown = np.isnan(success)
    utility = success - price * steps
    return Outcomes(
        success=success,
        steps=steps,
        votes=np.full(len(table), math.nan),
        utility=utility,
        miss=np.where(unknown, math.nan, best > success),
        regret=hindsight - utility,
        stops=int(stopped.sum()),
        unknown_stops=int((unknown & stopped).sum()),
        unknown_ends=int((unknown & ~stopped).sum()),
        options=int(table.free.sum()),
        known_options=int((~np.isnan(branches)).sum()),
    )


def repair_outcomes(
    table: RepairTable, firing: Firing, price: float, recorded: Floats | None = None
) -> Outcomes:
    """Evaluate stops on verify-repair loops.

    The outcome is the truth of the delivered plan. Where the policy has not stopped by the end of
    the record, the plan counts that it would deliver then.

    Args:
        table: the loops.
        firing: stops and delivered plans.
        price: cost of one repair.
        recorded: (n,), graded outcome of each loop: the truth of a last plan of unknown truth.
    """
    rows = np.arange(len(table))
    last = table.length - 1
    stopped = firing.step <= last
    repairs = np.where(stopped, firing.step, last)
    plan = np.where(firing.candidate >= 0, firing.candidate, repairs)
    truth = np.where(table.valid == UNKNOWN, math.nan, table.valid)
    if recorded is not None:
        ends = truth[rows, last]
        truth[rows, last] = np.where(np.isnan(ends), recorded, ends)
    success = truth[rows, plan]
    unknown = np.isnan(success)
    utility = success - price * repairs
    nothing = np.full(len(table), math.nan)
    hindsight = _best(truth - price * np.arange(table.columns), nothing)
    return Outcomes(
        success=success,
        steps=repairs.astype(float),
        votes=np.cumsum(table.votes, axis=1)[rows, repairs].astype(float),
        utility=utility,
        miss=np.where(unknown, math.nan, _best(truth, nothing) > success),
        regret=hindsight - utility,
        stops=int(stopped.sum()),
        unknown_stops=int((unknown & stopped).sum()),
        unknown_ends=int((unknown & ~stopped).sum()),
        options=int(table.length.sum()),
        known_options=int((~np.isnan(truth)).sum()),
        open_ends=int((~stopped).sum()),
    )


def _best(options: Floats, recorded: Floats) -> Floats:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a loop of which nothing is known
        best: Floats = np.nanmax(np.column_stack([options, recorded]), axis=1)
    return best
