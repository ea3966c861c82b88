"""From outcomes by loop to estimates: each policy's measures and the paired differences.

Resamples clusters, jointly for all policies. Knows nothing of loops or rules.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..stats.bootstrap import Resamples, Statistic, poisson_resample, resample
from ..stats.estimate import Estimate, none_if_nan, undefined
from ..stats.multiple import holm
from ..stats.ratios import difference, ratio
from .outcome import Outcomes
from .search import NO_VERDICTS

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
    drawn = cluster_resamples(columns.matrix(), replicates=replicates, seed=seed)

    def estimate(statistic: Statistic, reason: str) -> Estimate:
        return drawn.estimate(statistic, level=level, reason=reason)

    policies = []
    for name, outcome, statistics in zip(names, outcomes, measures, strict=True):
        values = [
            _noted(measure, estimate(statistic, _UNGRADED), outcome)
            for measure, statistic in zip(MEASURES, statistics, strict=True)
        ]
        policies.append(PolicySummary(name, *values))
    blind = [_blind(outcome) for outcome in outcomes]
    tested = [
        math.nan if blind[i] or blind[j] else drawn.p_value(success)
        for (i, j), (success, _) in zip(pairs, contrasts, strict=True)
    ]
    comparisons = []
    for (i, j), contrast, p, adjusted in zip(pairs, contrasts, tested, holm(tested), strict=True):
        unpaired = int(np.isnan(outcomes[i].success - outcomes[j].success).sum())
        found = [
            undefined(blind[i] or blind[j], level=level)
            if blind[i] or blind[j]
            else _counted(estimate(statistic, _UNPAIRED), unpaired, len(clusters))
            for statistic in contrast
        ]
        comparisons.append(Comparison(names[i], names[j], found[0], found[1], p, adjusted))
    return ReplaySummary(
        kind, len(clusters), columns.clusters, price, tuple(policies), tuple(comparisons)
    )


_UNGRADED = "the record tells of no loop what this policy would have got"
_UNPAIRED = "no loop on which both outcomes are known"


FEW = 1_000
"""Clusters up to which they are drawn with replacement rather than by Poisson weights."""


def cluster_resamples(rows: Floats, *, replicates: int, seed: int) -> Resamples:
    """Resample clusters: the classical bootstrap, or by Poisson weights where they are many.

    Poisson weights are several times faster, and equivalent once the number of clusters in a
    resample hardly varies; with few clusters it would.

    Args:
        rows: statistics, one row a cluster.
        replicates: number of resamples.
        seed: of the draws.
    """
    draw = resample if len(rows) <= FEW else poisson_resample
    return draw(rows, replicates=replicates, seed=seed)


def _blind(outcome: Outcomes) -> str:
    """Return why a policy's worth is undefined though some loops are known, or nothing.

    The loops that it never stopped are no sample of all loops, so they alone say nothing of it.
    """
    if outcome.unjudged and not outcome.judged:
        return NO_VERDICTS
    if not outcome.unknown_stops or outcome.unknown_stops < outcome.stops:
        return ""
    return (
        f"stopped {outcome.stops} of {len(outcome.success)} loops, and the record tells of none of "
        "them what that is worth: record answer-now branches or truths, or give --answer-now"
    )


def _noted(measure: str, estimate: Estimate, outcome: Outcomes) -> Estimate:
    total = len(outcome.success)
    if outcome.unjudged and measure != "votes" and not outcome.judged:
        return undefined(NO_VERDICTS, level=estimate.level)
    if outcome.unjudged and measure == "success":
        estimate = estimate.noted(
            f"{outcome.unjudged} of {total} loops have no judged result, so no rule on verdicts "
            "stops them; --signal judges anew"
        )
    if measure == "steps":
        if outcome.open_ends:
            return estimate.noted(f"{outcome.open_ends} loops end before the policy has stopped")
        return estimate
    if measure == "votes":
        bought = bool((~np.isnan(outcome.votes)).any())
        return estimate if bought else undefined(_NO_VOTES, level=estimate.level)
    if reason := _blind(outcome):
        return undefined(reason, level=estimate.level)
    if outcome.unknown_stops:
        text = f"{outcome.unknown_stops} stops of unknown worth left out of {total} loops"
        if measure == "success":
            low = float(np.nansum(outcome.success)) / total
            high = low + outcome.unknown_stops / total
            text += f"; between {low:.4f} and {high:.4f} whatever they are worth"
        estimate = estimate.noted(text)
    if outcome.unknown_ends:
        estimate = estimate.noted(f"{outcome.unknown_ends} of {total} loops are not graded")
    if measure in ("miss", "regret") and outcome.known_options < outcome.options:
        known = f"{outcome.known_options} of {outcome.options} other ways to end are known"
        if not outcome.known_options:
            return undefined(f"{known}, so there is no hindsight", level=estimate.level)
        estimate = estimate.noted(f"hindsight among what is known: {known}")
    return estimate


_NO_VOTES = "search loops buy no votes"


def _counted(estimate: Estimate, unpaired: int, total: int) -> Estimate:
    if not unpaired:
        return estimate
    return estimate.noted(f"on the {total - unpaired} of {total} loops where both are known")


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
        sums = np.bincount(self._of, values, self.clusters).astype(np.float64)
        found = self._index.get(sums.tobytes())
        if found is None:
            found = self._index[sums.tobytes()] = len(self._columns)
            self._columns.append(sums)
        return found
