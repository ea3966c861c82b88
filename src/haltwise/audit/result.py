"""A finished audit: every number it has, in one frozen record. Ignorant of files and terminals."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.errors import ParameterError
from ..stats.estimate import Estimate
from .after_run import ALL, AfterRun, after_run
from .calls import calls
from .contrast import Contrast, contrast
from .counterfactual import Counterfactual, counterfactual
from .endings import ErrorTexts, error_texts, unanswered
from .hazard import HazardSlope, slope
from .mixture import Mixture, mixture
from .response import Response, responses
from .success import cells as success_cells
from .success import mean6, success
from .tally import Tally
from .verdicts import first_useful, useless_rate
from .waste import Waste, waste

BUDGET = 8
"""Budget that is assumed where the episodes do not record theirs (METHODS section 1)."""
LARGEST = 32
"""Largest recorded budget that is taken over unasked: tables grow with it."""


@dataclass(frozen=True)
class Audit:
    """What the agents did with their verdicts, what it cost, and what rules would have saved."""

    k: int
    """The run length that findings and headline tables look at."""
    budget: int
    """Actions allowed, the answer included."""
    episodes: int
    """Search episodes counted."""
    clusters: int
    """Clusters (questions) among them."""
    steps: int
    """Tool steps, calls made side by side counted as one."""
    right: int
    """Episodes that ended right."""
    mixture: Mixture
    """Regimes, models, arms and verdict sources that were pooled."""
    contrast: Contrast
    hazard_slope: HazardSlope
    after_run: list[AfterRun]
    success: dict[str, Estimate]
    mean6: Estimate
    calls: Estimate
    useless_rate: Estimate
    first_useful: Estimate
    waste: list[Waste]
    unanswered: Estimate
    responses: list[Response]
    counterfactual: list[Counterfactual]
    error_texts: ErrorTexts
    notes: list[str]
    """What a reader must know of the whole, in sentences."""

    def after(self, k: int, regime: str = ALL) -> AfterRun | None:
        """Return the row of the answered-after-a-run table, None if there is none."""
        return next((r for r in self.after_run if r.k == k and r.regime == regime), None)

    def rule(self, policy: str) -> Counterfactual | None:
        """Return the counterfactual of a policy, None if it was not computed."""
        return next((row for row in self.counterfactual if row.policy == policy), None)


def audit(
    tally: Tally,
    *,
    k: int = 5,
    budget: int | None = None,
    level: float = 0.95,
    replicates: int = 2000,
    seed: int = 0,
) -> Audit:
    """Return the audit of everything that ``tally`` has counted.

    Args:
        tally: the episodes, at least one.
        k: useless results in a row that findings look at, from 1 to budget - 1.
        budget: actions allowed; None takes the largest one recorded, or `BUDGET`.
        level: coverage of the intervals.
        replicates: bootstrap resamples.
        seed: of the bootstrap.

    Raises:
        ParameterError: ``k`` is not below the budget.
    """
    budget, note = _budget(tally, budget)
    if not 1 <= k < budget:
        raise ParameterError(f"--k is at least 1 and below the budget of {budget}; got {k}")
    sample = tally.sample(budget)
    mixed = mixture(sample)
    graded = sample.values(success_cells)
    return Audit(
        k=k,
        budget=budget,
        episodes=sample.episodes,
        clusters=sample.clusters,
        steps=int(sample.total(sample.values(lambda rows: rows.call.sum(axis=1)[:, None]))[0]),
        right=int(sample.total(graded)[0]),
        mixture=mixed,
        contrast=contrast(sample, level=level, replicates=replicates, seed=seed),
        hazard_slope=slope(sample, level=level),
        after_run=after_run(sample, level=level),
        success=success(sample, level=level),
        mean6=mean6(sample, level=level, replicates=replicates, seed=seed),
        calls=calls(sample, level=level),
        useless_rate=useless_rate(sample, level=level),
        first_useful=first_useful(sample, level=level),
        waste=waste(sample, level=level),
        unanswered=unanswered(sample, level=level),
        responses=responses(sample),
        counterfactual=counterfactual(sample, k=k),
        error_texts=error_texts(sample),
        notes=[*mixed.notes(), *([note] if note else [])],
    )


def _budget(tally: Tally, asked: int | None) -> tuple[int, str]:
    """Return the budget to use, and a note where one had to be assumed."""
    if asked is not None:
        return asked, ""
    recorded = [outline.budget for outline in tally.outlines() if outline.budget is not None]
    if recorded and max(recorded) <= LARGEST:
        return max(2, *recorded), ""
    longest = max((len(outline.actions) for outline in tally.outlines()), default=0)
    if longest <= BUDGET and not recorded:
        return BUDGET, ""
    why = f"recorded budgets reach {max(recorded)}" if recorded else "no budget is recorded"
    return BUDGET, (
        f"{why} and the longest episode has {longest} actions; a budget of {BUDGET} was assumed, "
        f"so later decisions are not looked at: --budget {longest} looks at all"
    )
