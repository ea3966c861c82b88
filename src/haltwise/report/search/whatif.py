"""What each setting of k, deadline and price would have done: the numbers behind the sliders.

Every number is the one that ``haltwise replay --json`` gives for the same rule: the same stops
(`haltwise.replay.search`), the same outcomes, the same sums by question, the same resamples. Beyond
`GROUPS` questions these are pooled into that many groups before resampling, so that memory does not
grow with the input; the values stay the same, the intervals differ in the last digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.policies import Deadline, Never, UselessStreak
from ...core.policy import Policy
from ...replay.firing import Firing, combine
from ...replay.outcome import ends
from ...replay.search import SearchTable, judged_loops, search_firing
from ...replay.summary import FEW, cluster_resamples
from ...stats.bootstrap import Resamples, Statistic
from ...stats.estimate import Estimate, undefined
from ...stats.ratios import difference, ratio
from ..words import DASH, replayed

GROUPS = FEW
"""Groups of questions that are resampled."""
PRICES = tuple(round(0.01 * step, 2) for step in range(21))
"""Prices of a call that the slider offers, in right answers."""
MOST = 10
"""Largest k, and number of deadlines, that are worked out."""
_COLUMNS = 5
_RIGHT, _KNOWN, _CALLS, _KNOWN_CALLS, _LOOPS = range(_COLUMNS)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Rule:
    """One setting of the sliders."""

    k: int
    """Useless results in a row; 0 without such a rule."""
    deadline: int
    """Budget of the deadline; 0 without one."""

    @property
    def policy(self) -> Policy:
        """The rule itself."""
        if self.k and self.deadline:
            return UselessStreak(self.k) | Deadline(self.deadline)
        if self.k:
            return UselessStreak(self.k)
        return Deadline(self.deadline) if self.deadline else Never()


@dataclass(frozen=True)
class Effect:
    """What one rule would have done."""

    rule: Rule
    success: Estimate
    """Share of right answers; undefined where the record does not tell what its stops are worth."""
    calls: Estimate
    """Tool calls of an episode."""
    at_risk: int
    """Right answers that came after it would have stopped."""
    stops: int
    """Episodes that it stops."""
    unknown: int
    """Stops of which the record does not tell what they are worth."""
    bounds: tuple[float, float]
    """Share of right answers if every such stop is wrong, and if every one is right."""
    utility: tuple[Estimate, ...]
    """success - price x calls at each of `prices`."""
    prices: tuple[float, ...]
    """Prices of a call, in right answers."""

    @property
    def expression(self) -> str:
        """The rule as it is typed."""
        return str(self.rule.policy)


def rules(budget: int) -> list[Rule]:
    """Return every setting of the sliders: no rule first."""
    streaks = range(min(budget - 1, MOST) + 1)
    deadlines = [0, *range(max(2, budget - MOST + 1), budget + 1)]
    return [Rule(k, deadline) for k in streaks for deadline in deadlines]


@dataclass
class WhatIf:
    """Counts what every rule would have done, batch by batch."""

    budget: int
    """Actions an episode may take."""
    rules: list[Rule] = field(init=False)
    loops: int = 0
    right: int = 0
    """Episodes that ended right."""
    judged: int = 0
    """Episodes with a verdict on a result."""

    def __post_init__(self) -> None:
        self.rules = rules(self.budget)
        self._numbers: dict[str, int] = {}
        self._sums = np.zeros((len(self.rules), 0, _COLUMNS))
        self._counts = np.zeros((len(self.rules), 4), np.int64)

    @property
    def clusters(self) -> int:
        """Questions seen."""
        return len(self._numbers)

    def add(self, table: SearchTable, clusters: Sequence[str]) -> None:
        """Count a batch of loops in."""
        groups = np.array([self._group(name) for name in clusters], np.int64)
        self.loops += len(table)
        self.right += int((table.success == 1).sum())
        self.judged += judged_loops(UselessStreak(1), table)[0]
        self._grow(min(len(self._numbers), GROUPS))
        parts = self._parts(table)
        for place, rule in enumerate(self.rules):
            found = [parts[name] for name in (("k", rule.k), ("d", rule.deadline)) if name[1]]
            policy = rule.policy
            if len(found) == 2:
                firing = combine(policy, found)  # type: ignore[arg-type]
            else:
                firing = found[0] if found else search_firing(policy, table)
            self._count(place, table, firing, groups)

    def _group(self, name: str) -> int:
        return self._numbers.setdefault(name, len(self._numbers)) % GROUPS

    def _grow(self, groups: int) -> None:
        more = groups - self._sums.shape[1]
        if more > 0:
            self._sums = np.pad(self._sums, ((0, 0), (0, more), (0, 0)))

    def _parts(self, table: SearchTable) -> dict[tuple[str, int], Firing]:
        streaks = {r.k for r in self.rules} - {0}
        deadlines = {r.deadline for r in self.rules} - {0}
        found = {("k", k): search_firing(UselessStreak(k), table) for k in streaks}
        return found | {("d", d): search_firing(Deadline(d), table) for d in deadlines}

    def _count(self, place: int, table: SearchTable, firing: Firing, groups: Ints) -> None:
        stopped, success, calls = ends(table, firing)
        known = ~np.isnan(success)
        width = self._sums.shape[1]
        columns = {
            _RIGHT: np.where(known, success, 0),
            _KNOWN: known.astype(np.float64),
            _CALLS: calls,
            _KNOWN_CALLS: np.where(known, calls, 0),
            _LOOPS: np.ones(len(table)),
        }
        for column, values in columns.items():
            self._sums[place, :, column] += np.bincount(groups, values, width)
        self._counts[place] += (
            int(stopped.sum()),
            int((stopped & ~known).sum()),
            int((stopped & (table.success == 1)).sum()),
            int(np.nansum(success)),
        )

    def effects(
        self, prices: Sequence[float], *, level: float, replicates: int, seed: int
    ) -> list[Effect]:
        """Return what every rule would have done, with intervals, at every price."""
        rows = np.concatenate(list(self._sums), axis=1)
        drawn = cluster_resamples(rows, replicates=replicates, seed=seed)
        return [self._effect(place, prices, drawn, level) for place in range(len(self.rules))]

    def gain(
        self, effects: Sequence[Effect], chosen: Effect, *, level: float, replicates: int, seed: int
    ) -> Estimate:
        """Return by how much a rule changes the share of right answers against no rule, paired."""
        place = [effect.rule for effect in effects].index(chosen.rule)
        none = effects[0]
        if not (chosen.success.defined and none.success.defined):
            return undefined(chosen.success.note or none.success.note, level=level)
        if chosen.unknown or none.unknown:
            return undefined("some stops are of unknown worth", level=level)
        rows = np.concatenate([self._sums[0], self._sums[place]], axis=1)
        drawn = cluster_resamples(rows, replicates=replicates, seed=seed)
        ours = ratio(_COLUMNS + _RIGHT, _COLUMNS + _KNOWN)
        return drawn.estimate(difference(ours, ratio(_RIGHT, _KNOWN)), level=level)

    def _effect(
        self, place: int, prices: Sequence[float], drawn: Resamples, level: float
    ) -> Effect:
        rule, first = self.rules[place], place * _COLUMNS
        stops, unknown, risked, right = self._counts[place].tolist()
        reason = self._blind(rule, stops, unknown)
        ungraded = "no answer of these episodes was graded"

        def estimate(statistic: Statistic) -> Estimate:
            if reason:
                return undefined(reason, level=level)
            return drawn.estimate(statistic, level=level, reason=ungraded)

        def utility(price: float) -> Statistic:
            return lambda sums: (
                (sums[:, first + _RIGHT] - price * sums[:, first + _KNOWN_CALLS])
                / np.where(sums[:, first + _KNOWN] > 0, sums[:, first + _KNOWN], np.nan)
            )

        calls = drawn.estimate(ratio(first + _CALLS, first + _LOOPS), level=level)
        silent = bool(rule.k) and not self.judged
        return Effect(
            rule,
            estimate(ratio(first + _RIGHT, first + _KNOWN)),
            undefined(reason, level=level) if silent else calls,
            risked,
            stops,
            unknown,
            (right / max(self.loops, 1), (right + unknown) / max(self.loops, 1)),
            tuple(estimate(utility(price)) for price in prices),
            tuple(prices),
        )

    def _blind(self, rule: Rule, stops: int, unknown: int) -> str:
        """Return why a rule's worth is undefined, or nothing; as `haltwise.replay` has it."""
        if rule.k and not self.judged:
            return "no result was judged, so where this rule stops is not known"
        if unknown and unknown == stops:
            return (
                "the record does not tell what an early answer is worth: it has no answer-now "
                "branches, and no table was given with --answer-now"
            )
        return ""


def told(effects: Sequence[Effect]) -> bool:
    """Return whether the record tells what stopping early is worth, of any rule that stops."""
    return any(e.success.defined for e in effects if e.stops)


def document(effects: Sequence[Effect], what_if: WhatIf, start: Effect) -> dict[str, Any]:
    """Return what the sliders of the page read: text to show, and numbers to draw.

    Args:
        effects: what every rule does.
        what_if: the counts that they come from.
        start: where the sliders stand at first.
    """
    known = told(effects)
    return {
        "ks": sorted({e.rule.k for e in effects}),
        "deadlines": sorted({e.rule.deadline for e in effects}),
        "prices": list(start.prices),
        "start": [start.rule.k, start.rule.deadline],
        "right": what_if.right,
        "known": known,
        "effects": [
            {
                "k": e.rule.k,
                "deadline": e.rule.deadline,
                "policy": e.expression,
                "success": _success(e),
                "calls": replayed(e.calls, 2),
                "risk": f"{e.at_risk:,} of {what_if.right:,}" if e.calls.defined else DASH,
                "utility": [replayed(u) for u in e.utility],
                "x": _number(e.calls),
                "y": _number(e.success)
                if known
                else (e.at_risk / what_if.right if what_if.right and e.calls.defined else None),
                "u": [_number(u) for u in e.utility],
            }
            for e in effects
        ],
    }


def _success(effect: Effect) -> str:
    if effect.success.defined:
        return replayed(effect.success)
    low, high = effect.bounds
    return f"unknown, between {low:.4f} and {high:.4f}" if effect.calls.defined else DASH


def _number(estimate: Estimate) -> float | None:
    return round(estimate.value, 5) if estimate.defined else None
