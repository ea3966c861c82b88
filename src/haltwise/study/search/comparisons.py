"""Arms compared, paired by question. METHODS section 1, "Comparisons".

Differences are averaged over regimes with equal weight (mean6 where all six were run) and their
intervals resample questions jointly over regimes. Knows recorded episodes; asks no model.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...record.episode import SearchEpisode
from ...stats.bootstrap import Resamples, resample
from ...stats.estimate import Estimate, none_if_nan, undefined
from ...stats.multiple import holm
from ...stats.noninferiority import NonInferiority, noninferiority
from ...stats.paired import PairedTable, mcnemar, side_by_side
from ...stats.ratios import difference, mean_of_ratios
from .regimes import MEAN6

RECOVERY = ("clean", "recover_after_1", "recover_after_2", "recover_after_3")
"""Regimes in which a rule must not lose: the source works, or comes back."""

Value = Callable[[SearchEpisode], float]
"""What an episode is worth."""


def success(episode: SearchEpisode) -> float:
    """Return 1 for a right answer, else 0."""
    return float(bool(episode.outcome.success))


def tool_calls(episode: SearchEpisode) -> int:
    """Return how many tool calls the episode made."""
    return sum(step.action != "answer" for step in episode.steps)


def utility(price: float, *, judge: bool) -> Value:
    """Return success - price x calls; with ``judge`` its side-channel calls are priced, too."""

    def value(episode: SearchEpisode) -> float:
        calls = tool_calls(episode)
        if judge and "judge" in episode.usage_by_role:
            calls += episode.usage_by_role["judge"].calls or 0
        return success(episode) - price * calls

    return value


@dataclass(frozen=True)
class Comparison:
    """One arm against another one."""

    arm: str
    against: str
    endpoint: str
    """"mean6", "mean over regimes run" or "utility"."""
    difference: Estimate
    """Mean of ``arm`` minus mean of ``against``; n = questions in both."""
    p: float
    """Two-sided bootstrap p-value; NaN when undefined."""
    p_holm: float
    """The same, adjusted within its family; NaN outside of one."""
    by_regime: dict[str, tuple[Estimate, float]]
    """Difference and exact McNemar p-value of each regime."""
    noninferior: dict[str, NonInferiority]
    """Whether the arm loses no more than the margin, by regime."""

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as a JSON object."""
        return {
            "arm": self.arm,
            "against": self.against,
            "endpoint": self.endpoint,
            "difference": self.difference.to_json(),
            "p": none_if_nan(self.p),
            "p_holm": none_if_nan(self.p_holm),
            "by_regime": {
                regime: {"difference": estimate.to_json(), "p_mcnemar": none_if_nan(p)}
                for regime, (estimate, p) in self.by_regime.items()
            },
            "noninferior": {
                regime: {
                    "noninferior": found.noninferior,
                    "bound": none_if_nan(found.bound),
                    "level": found.level,
                    "margin": found.margin,
                    "note": found.note,
                }
                for regime, found in self.noninferior.items()
            },
        }


def compare(
    first: Sequence[SearchEpisode],
    second: Sequence[SearchEpisode],
    *,
    value: Value = success,
    endpoint: str | None = None,
    margin: float = 0.05,
    replicates: int = 2000,
    seed: int = 0,
) -> Comparison:
    """Compare two arms on the regimes and questions that both have.

    Args:
        first: episodes of the arm of interest; at least one.
        second: episodes of the arm that it is compared with; at least one.
        value: what an episode is worth.
        endpoint: name of what is compared; None names it by the regimes.
        margin: non-inferiority margin in the unit of ``value``.
        replicates: bootstrap resamples.
        seed: of the bootstrap.
    """
    regimes = _shared_regimes(first, second)
    averaged = tuple(r for r in MEAN6 if r in regimes) or regimes
    name = "mean6" if averaged == MEAN6 else "mean over regimes run"
    overall, p = undefined("the arms share no regime"), float("nan")
    if averaged:
        resamples = _joined(first, second, value, averaged, replicates, seed)
        overall = resamples.estimate(_difference(len(averaged)))
        p = resamples.p_value(_difference(len(averaged)))
    by_regime, bounds = {}, {}
    for regime in regimes:
        found = _joined(first, second, value, (regime,), replicates, seed)
        estimate = found.estimate(_difference(1))
        by_regime[regime] = (estimate, _mcnemar(first, second, regime))
        if regime in RECOVERY:
            bounds[regime] = noninferiority(estimate, margin)
    return Comparison(
        arm=first[0].arm or "",
        against=second[0].arm or "",
        endpoint=endpoint or name,
        difference=overall,
        p=p,
        p_holm=float("nan"),
        by_regime=by_regime,
        noninferior=bounds,
    )


def adjusted(family: Iterable[Comparison]) -> list[Comparison]:
    """Return the comparisons of one family with Holm's adjusted p-values."""
    found = list(family)
    values = holm([comparison.p for comparison in found])
    return [replace(item, p_holm=value) for item, value in zip(found, values, strict=True)]


def equal_weights(
    episodes: Sequence[SearchEpisode],
    value: Value,
    *,
    replicates: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Return the mean value over the regimes of mean6 that were run, each with equal weight."""
    run = {episode.regime for episode in episodes}
    regimes = tuple(r for r in MEAN6 if r in run) or tuple(sorted(str(r) for r in run))
    rows = list(_rows(episodes, value, regimes).values())
    sums = resample(np.array(rows), replicates=replicates, seed=seed)
    estimate = sums.estimate(mean_of_ratios(*_columns(len(regimes), 0)))
    missing = [regime for regime in MEAN6 if regime not in run]
    return estimate.noted(f"without {', '.join(missing)}") if missing else estimate


def _shared_regimes(
    first: Sequence[SearchEpisode], second: Sequence[SearchEpisode]
) -> tuple[str, ...]:
    shared = {e.regime for e in first} & {e.regime for e in second}
    known = [regime for regime in MEAN6 if regime in shared]
    return (*known, *sorted(str(regime) for regime in shared if regime not in known))


def _rows(
    episodes: Sequence[SearchEpisode], value: Value, regimes: tuple[str, ...]
) -> dict[Hashable, list[float]]:
    rows: dict[Hashable, list[float]] = defaultdict(lambda: [0.0] * (2 * len(regimes)))
    for episode in episodes:
        if episode.regime in regimes:
            column = 2 * regimes.index(episode.regime)
            rows[episode.cluster_id][column] += value(episode)
            rows[episode.cluster_id][column + 1] += 1
    return rows


def _columns(regimes: int, start: int) -> tuple[range, range]:
    stop = start + 2 * regimes
    return range(start, stop, 2), range(start + 1, stop, 2)


def _difference(regimes: int) -> Callable[..., Any]:
    return difference(
        mean_of_ratios(*_columns(regimes, 0)), mean_of_ratios(*_columns(regimes, 2 * regimes))
    )


def _joined(
    first: Sequence[SearchEpisode],
    second: Sequence[SearchEpisode],
    value: Value,
    regimes: tuple[str, ...],
    replicates: int,
    seed: int,
) -> Resamples:
    rows, _ = side_by_side(_rows(first, value, regimes), _rows(second, value, regimes))
    return resample(rows.reshape(len(rows), 4 * len(regimes)), replicates=replicates, seed=seed)


def _mcnemar(first: Sequence[SearchEpisode], second: Sequence[SearchEpisode], regime: str) -> float:
    """Return the exact p-value over pairs of episodes with one question and seed."""
    outcomes = [
        {(e.question_id, e.seed): bool(e.outcome.success) for e in arm if e.regime == regime}
        for arm in (first, second)
    ]
    shared = [key for key in outcomes[0] if key in outcomes[1]]
    if not shared:
        return float("nan")
    pairs = PairedTable.of([outcomes[0][k] for k in shared], [outcomes[1][k] for k in shared])
    return mcnemar(pairs)
