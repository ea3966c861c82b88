"""What the agents do with their own verdicts: the answer rate at equal step, by what was seen.

The cells stand beside the contrast that sums them up (METHODS section 1, "Delta is mechanical in
k": never the one without the other).
"""

from __future__ import annotations

import math
from typing import Any

from ...audit.contrast import Contrast, cells
from ...audit.hazard import cells as hazard_cells
from ...audit.hazard import pairs as hazard_pairs
from ...audit.result import Audit
from ...audit.scope import scope
from ...audit.tally import Sample
from ...stats.estimate import Estimate
from ...stats.proportions import clustered_proportion
from ..figure import Figure, Table, spec_of
from ..words import DASH, percent_or_dash, points
from .rates import rates_chart

ALL_USELESS = "nothing but useless results so far"
MIXED = "useless now, something else before"
"""The two groups of the contrast, as a legend names them."""


def contrast_figure(audit: Audit, sample: Sample) -> Figure:
    """Return the answer rate of both groups at every decision point, with the pooled contrast."""
    level = audit.contrast.estimate.level
    rates = _rates(sample, audit.contrast, level)
    pooled = audit.contrast.estimate
    rows = []
    for stratum, (first, second) in zip(audit.contrast.strata, rates, strict=True):
        difference = first.value - second.value
        rows.append(
            (
                str(stratum.t),
                _cell(stratum.x1, stratum.n1, first),
                _cell(stratum.x0, stratum.n0, second),
                points(difference) if stratum.n1 and stratum.n0 else DASH,
            )
        )
    summary = f"{points(pooled.value)} ({_bounds(pooled)})" if pooled.defined else DASH
    rows.append(("all, pooled", "", "", summary))
    data = [
        {
            "t": stratum.t,
            "group": name,
            "rate": estimate.value,
            "low": estimate.low,
            "high": estimate.high,
            "cell": f"{x} of {n}",
        }
        for stratum, pair in zip(audit.contrast.strata, rates, strict=True)
        for name, estimate, x, n in (
            (ALL_USELESS, pair[0], stratum.x1, stratum.n1),
            (MIXED, pair[1], stratum.x0, stratum.n0),
        )
        if n
    ]
    return Figure(
        name="answers-by-step",
        title=_title(pooled),
        text=(
            "Each pair compares agents at the same step, right after a result that they called "
            "useless: those with nothing useful so far against those that saw something else "
            "before. Agents that act on their verdicts answer more often in the first group."
        ),
        spec=_chart(data) if data else None,
        table=Table.of(
            ("results seen", ALL_USELESS, MIXED, "difference, points"),
            rows if data else [],
        ),
        note=pooled.note,
    )


def _title(pooled: Estimate) -> str:
    if not pooled.defined:
        return "Whether verdicts reach decisions cannot be told"
    size = f"{abs(100 * pooled.value):.1f} points"
    if pooled.low > 0:
        return f"After nothing but useless results, agents are {size} likelier to answer"
    if pooled.high < 0:
        return f"After nothing but useless results, agents are {size} less likely to answer"
    return "Useless results hardly change whether agents answer"


def _rates(sample: Sample, contrast: Contrast, level: float) -> list[tuple[Estimate, Estimate]]:
    keep, _ = scope(sample)
    rows, counts = sample.pooled(sample.values(lambda r: cells(r, sample.budget)), keep)
    width = len(contrast.strata)
    return [
        (
            clustered_proportion(rows[:, width + i], rows[:, i], counts=counts, level=level),
            clustered_proportion(
                rows[:, 3 * width + i], rows[:, 2 * width + i], counts=counts, level=level
            ),
        )
        for i in range(width)
    ]


def _cell(events: int, decisions: int, rate: Estimate) -> str:
    if not decisions:
        return DASH
    return f"{events:,} of {decisions:,} ({percent_or_dash(rate.value)})"


def _bounds(estimate: Estimate) -> str:
    if estimate.low != estimate.low:
        return "no interval"
    return f"{estimate.level:.0%} interval {points(estimate.low)} to {points(estimate.high)}"


def _chart(data: list[dict[str, Any]]) -> dict[str, Any]:
    import altair as alt

    return rates_chart(
        data,
        x=("t", "results seen so far"),
        group=("group", (ALL_USELESS, MIXED)),
        rate=("rate", "share that answers next"),
        tooltip=[
            alt.Tooltip("t:O", title="results seen"),
            alt.Tooltip("group:N", title="group"),
            alt.Tooltip("cell:N", title="answer next"),
            alt.Tooltip("rate:Q", title="rate", format=".1%"),
        ],
        size=90,
    )


def response_figure(audit: Audit, sample: Sample) -> Figure:
    """Return the answer rate at every step and run length, as a heat map."""
    keep, _ = scope(sample)
    cases = hazard_pairs(sample.budget)
    totals = sample.total(sample.values(lambda r: hazard_cells(r, sample.budget)), keep)
    counted = {
        case: (int(answers), int(decisions))
        for case, decisions, answers in zip(
            cases, totals[: len(cases)], totals[len(cases) :], strict=True
        )
        if decisions
    }
    by_cell = {case: f"{x:,} of {n:,}" for case, (x, n) in counted.items()}
    data = [
        {"t": t, "run": run, "rate": x / n, "cell": by_cell[t, run]}
        for (t, run), (x, n) in counted.items()
    ]
    steps = sorted({t for t, _ in counted})
    slope = audit.hazard_slope.estimate
    return Figure(
        name="answers-by-run",
        title=_slope_title(slope),
        text=(
            "The same decisions by step and by run: read along a row, from short runs to long "
            "ones. Where verdicts count, the shade of a row grows stronger to the right."
        ),
        spec=_heat(data) if data else None,
        table=Table.of(
            ("results seen", *(f"run of {run}" for run in range(1, max(steps, default=0) + 1))),
            [
                (str(t), *(by_cell.get((t, run), DASH) for run in range(1, max(steps) + 1)))
                for t in steps
            ],
        ),
        height=130 + 34 * len(steps),
        note=slope.note,
    )


def _slope_title(slope: Estimate) -> str:
    if not slope.defined:
        return "How longer runs change the odds of answering cannot be told"
    factor = math.exp(slope.value)
    if slope.low > 0:
        return f"Each further useless result multiplies the odds of answering by {factor:.2g}"
    if slope.high < 0:
        return f"Each further useless result makes an answer less likely: odds times {factor:.2g}"
    return "Longer runs of useless results do not change the odds of answering"


def _heat(data: list[dict[str, Any]]) -> dict[str, Any]:
    import altair as alt

    base = alt.Chart(alt.InlineData(values=data)).encode(
        x=alt.X("run:O", title="useless results in a row"),
        y=alt.Y("t:O", title="results seen so far"),
        tooltip=[
            alt.Tooltip("t:O", title="results seen"),
            alt.Tooltip("run:O", title="useless in a row"),
            alt.Tooltip("cell:N", title="answer next"),
            alt.Tooltip("rate:Q", title="rate", format=".1%"),
        ],
    )
    cells = base.mark_rect(style="cell").encode(
        color=alt.Color(
            "rate:Q",
            title="answer next",
            legend=alt.Legend(format="%", gradientLength=160),
            scale=alt.Scale(domain=[0, max(0.2, *(row["rate"] for row in data))]),
        )
    )
    return spec_of(cells)
