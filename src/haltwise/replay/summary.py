"""From outcomes by loop to estimates: each policy's measures and the paired differences.

Resamples clusters, jointly for all policies. Knows nothing of loops or rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..stats.bootstrap import Resamples, Statistic, resample
from ..stats.estimate import Estimate, none_if_nan, undefined
from ..stats.multiple import holm
from ..stats.ratios import difference, ratio
from .outcome import Outcomes

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SCHEMA = "haltwise.replay/1"
"""Value of ``schema`` in the JSON document."""

MEASURES = ("success", "steps", "votes", "utility", "miss", "regret")
"""What is estimated of each policy; fields of `Outcomes`."""


@dataclass(frozen=True)
class PolicySummary:
    """What one policy did; means over the loops of which the record tells."""

    policy: str
    """The policy as it was named."""
    success: Estimate
    """Share of loops with a right answer or a valid plan, in [0, 1]."""
    steps: Estimate
    """Tool calls, or repairs, by loop."""
    votes: Estimate
    """Votes bought by loop; undefined for search loops."""
    utility: Estimate
    """success - price x steps by loop."""
    miss: Estimate
    """Share of loops whose result is wrong though another stop would have made it right."""
    regret: Estimate
    """Utility that the best stop in hindsight would have added, by loop."""

    def to_json(self) -> dict[str, Any]:
        """Return the summary as a JSON object."""
        measures = {name: getattr(self, name).to_json() for name in MEASURES}
        return {"policy": self.policy, **measures}


@dataclass(frozen=True)
class Comparison:
    """Two policies on the same loops: those on which both outcomes are known."""

    a: str
    """The policy that was named first."""
    b: str
    """The other one."""
    difference: Estimate
    """success of a - success of b, paired by loop."""
    utility: Estimate
    """utility of a - utility of b, paired by loop."""
    p: float
    """Two-sided bootstrap p-value of "no difference in success"; NaN when undefined."""
    p_holm: float
    """The same, adjusted for all comparisons of this replay (Holm 1979)."""

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as a JSON object."""
        return {
            "a": self.a,
            "b": self.b,
            "difference": self.difference.to_json(),
            "utility": self.utility.to_json(),
            "p": none_if_nan(self.p),
            "p_holm": none_if_nan(self.p_holm),
        }


@dataclass(frozen=True)
class ReplaySummary:
    """Several policies replayed on the same loops."""

    kind: str
    """"search" or "repair"."""
    loops: int
    """Loops replayed."""
    clusters: int
    """Clusters that they form: questions or tasks."""
    price: float
    """Price of a tool call or a repair, in right answers."""
    policies: tuple[PolicySummary, ...]
    """One summary a policy, in the order given."""
    comparisons: tuple[Comparison, ...]
    """Every pair of policies."""

    def to_json(self) -> dict[str, Any]:
        """Return the document that ``haltwise replay --json`` prints, ``skipped`` left out."""
        return {
            "schema": SCHEMA,
            "kind": self.kind,
            "loops": self.loops,
            "clusters": self.clusters,
            "price": self.price,
            "policies": [policy.to_json() for policy in self.policies],
            "comparisons": [comparison.to_json() for comparison in self.comparisons],
        }


def summarise(
    kind: str,
    names: Sequence[str],
    outcomes: Sequence[Outcomes],
    clusters: Integers,
    *,
    price: float,
    level: float = 0.95,
    replicates: int = 2000,
    seed: int = 0,
) -> ReplaySummary:
    """Estimate every measure of every policy and every paired difference.

    Args:
        kind: "search" or "repair".
        names: the policies, as they are to be shown.
        outcomes: what each of them did on the same n loops.
        clusters: (n,), what is resampled as one: an index from 0.
        price: the price that the outcomes were valued at.
        level: coverage of the intervals.
        replicates: resamples of clusters.
        seed: of the resampling.
    """
    columns = _Columns(clusters)
    measures = [[columns.mean(getattr(o, name)) for name in MEASURES] for o in outcomes]
    pairs = list(combinations(range(len(names)), 2))
    contrasts = [
        tuple(
            columns.mean_difference(getattr(outcomes[i], name), getattr(outcomes[j], name))
            for name in ("success", "utility")
        )
        for i, j in pairs
    ]
    drawn = resample(columns.matrix(), replicates=replicates, seed=seed)

    def estimate(statistic: Statistic, reason: str) -> Estimate:
        return drawn.estimate(statistic, level=level, reason=reason)

    policies = []
    for name, outcome, statistics in zip(names, outcomes, measures, strict=True):
        values = [
            _noted(measure, estimate(statistic, _REASONS.get(measure, _UNGRADED)), outcome)
            for measure, statistic in zip(MEASURES, statistics, strict=True)
        ]
        policies.append(PolicySummary(name, *values))
    tested = [_p_value(drawn, success) for success, _ in contrasts]
    comparisons = [
        Comparison(
            names[i],
            names[j],
            estimate(success, "no loop on which both outcomes are known"),
            estimate(utility, "no loop on which both outcomes are known"),
            p,
            adjusted,
        )
        for (i, j), (success, utility), p, adjusted in zip(
            pairs, contrasts, tested, _holm(tested), strict=True
        )
    ]
    return ReplaySummary(
        kind,
        len(clusters),
        columns.clusters,
        price,
        tuple(policies),
        tuple(comparisons),
    )


_UNGRADED = "the record tells of no loop what this policy would have got"
_REASONS = {"votes": "search loops buy no votes", "steps": "no loops"}


def _noted(measure: str, estimate: Estimate, outcome: Outcomes) -> Estimate:
    if measure == "votes" or (measure == "steps" and not outcome.open_ends):
        return estimate
    if measure == "steps":
        return estimate.noted(f"{outcome.open_ends} loops end before the policy has stopped")
    total = len(outcome.success)
    if outcome.unknown_stops:
        estimate = estimate.noted(
            f"{outcome.unknown_stops} of {total} loops left out: stopped where the record does "
            "not tell what that is worth"
        )
    if outcome.unknown_ends:
        estimate = estimate.noted(
            f"{outcome.unknown_ends} of {total} loops left out: their outcome is not graded"
        )
    return estimate


def _p_value(drawn: Resamples, statistic: Statistic) -> float:
    return drawn.p_value(statistic)


def _holm(p_values: Sequence[float]) -> list[float]:
    known = [i for i, p in enumerate(p_values) if p == p]
    adjusted = [float("nan")] * len(p_values)
    for i, p in zip(known, holm([p_values[i] for i in known]), strict=True):
        adjusted[i] = float(p)
    return adjusted


class _Columns:
    """Sums by cluster, one column each; equal columns are kept once."""

    def __init__(self, clusters: Integers) -> None:
        self._of = clusters
        self.clusters = int(clusters.max(initial=-1)) + 1
        self._columns: list[Floats] = []
        self._index: dict[bytes, int] = {}

    def mean(self, values: Floats) -> Statistic:
        """Return the statistic "mean over the loops where ``values`` is known"."""
        known = ~np.isnan(values)
        return ratio(self._add(np.where(known, values, 0)), self._add(known.astype(np.float64)))

    def mean_difference(self, first: Floats, second: Floats) -> Statistic:
        """Return the statistic "mean of ``first - second`` over loops where both are known"."""
        if (np.isnan(first) == np.isnan(second)).all():
            return difference(self.mean(first), self.mean(second))  # no columns of its own
        return self.mean(first - second)

    def matrix(self) -> Floats:
        """Return one row a cluster."""
        return np.column_stack(self._columns) if self._columns else np.zeros((self.clusters, 0))

    def _add(self, values: Floats) -> int:
        sums = np.bincount(self._of, values, self.clusters)
        return self._index.setdefault(sums.tobytes(), self._append(sums))

    def _append(self, sums: Floats) -> int:
        if sums.tobytes() not in self._index:
            self._columns.append(sums)
            return len(self._columns) - 1
        return self._index[sums.tobytes()]
