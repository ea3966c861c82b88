"""Survival of search loops by run: how many are still searching after r useless results in a row.

The unit is an episode's first run of useless results, the clock is the run's length, the event is
the answer. Knows what ends a run; the estimator is `haltwise.stats.survival`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...audit.result import Audit
from ...audit.scope import NONE, regime_name, regimes
from ...audit.tally import Sample
from ...audit.trajectories import Bools, Ints, Trajectories, at, first
from ...stats.survival import SurvivalCurve, kaplan_meier
from ..figure import Figure, Table, spec_of
from ..words import DASH, percent, percent_or_dash

MOST_CURVES = 6
"""Regimes that are drawn apart; more are drawn as one curve."""


def survival_figure(audit: Audit, sample: Sample) -> Figure:
    """Return the share of loops still searching by run length, one curve a regime."""
    level = audit.contrast.estimate.level
    values = sample.values(lambda rows: exits(rows, sample.budget))
    names = regimes(sample)
    apart = [n for n in names if sample.total(values, sample.of_regime(n)).any()]
    one = len(apart) > MOST_CURVES or names == [None]
    curves: dict[str, SurvivalCurve] = {}
    for name in [None] if one else apart:
        totals = sample.total(values, None if one else sample.of_regime(name))
        label = "all episodes" if one else regime_name(name)
        curves[label] = _curve(totals, sample.budget, level)
    curves = {name: curve for name, curve in curves.items() if curve.times}
    columns = ["run of useless results", *curves]
    longest = max((int(curve.times[-1]) for curve in curves.values()), default=0)
    return Figure(
        name="survival",
        title=_title(curves),
        text=(
            "Each curve follows episodes through their first run of useless results and falls "
            "where agents answer of their own accord. Runs that end because a result was useful "
            "are censored there. The dashed line is what an enforced rule does."
        ),
        spec=_chart(curves, level, audit.k) if curves else None,
        table=Table.of(
            columns,
            [[str(run), *(_at(c, run) for c in curves.values())] for run in range(1, longest + 1)],
        ),
        note="" if curves else "no run of useless results met a decision",
    )


def exits(trajectories: Trajectories, budget: int) -> Ints:
    """Return how the first run of each outline ends: (m, 2 (budget - 1)), ones and zeros.

    The first half: answered at run 1, 2, ...; the second: watched through run 1, 2, ... without an
    answer, until a result was not useless, the last decision passed, or the record ended. Answers
    at the last action of the budget do not count: they are forced by it.
    """
    columns = np.arange(trajectories.width)
    run = trajectories.run.astype(np.int64)
    watched = trajectories.decision & (columns + 1 <= trajectories.limit[:, None] - 2)
    began, start = first(trajectories.call & (run >= 1))
    following = np.zeros_like(run)
    following[:, :-1] = run[:, 1:]
    inside = columns >= start[:, None]
    ends = inside & (trajectories.answers_next | ~watched | (following == 0))
    ended, column = first(ends)
    seen = at(watched, column)
    # A decision that is not looked at was watched through the run before it.
    time = np.where(seen, at(run, column), at(run, column) - 1)
    answered = at(trajectories.answers_next, column) & seen
    valid = began & ended & (time >= 1)
    lengths = np.arange(1, budget)
    here = valid[:, None] & (time[:, None] == lengths)
    hit: Bools = answered[:, None]
    return np.hstack([here & hit, here & ~hit]).astype(np.int64)


def _curve(totals: Ints, budget: int, level: float) -> SurvivalCurve:
    runs = np.arange(1, budget)
    times = np.concatenate([runs, runs])
    observed = np.repeat([1, 0], len(runs))
    return kaplan_meier(times, observed, counts=totals, level=level)


def _title(curves: dict[str, SurvivalCurve]) -> str:
    dead = curves.get("persistent") or next(iter(curves.values()), None)
    if dead is None:
        return "No run of useless results to follow"
    last = dead.survival[-1]
    where = " on a dead source" if "persistent" in curves else ""
    return (
        f"After {int(dead.times[-1])} useless results in a row{where}, "
        f"{percent(last.value)} still search on"
    )


def _at(curve: SurvivalCurve, run: int) -> str:
    share = curve.at(run)
    if not share.defined:
        return DASH
    place = [i for i, time in enumerate(curve.times) if time <= run]
    watched = f", {curve.at_risk[place[-1]]:,} watched" if place else ""
    return f"{percent_or_dash(share.value)}{watched}"


def _chart(curves: dict[str, SurvivalCurve], level: float, k: int) -> dict[str, Any]:
    import altair as alt

    data = []
    for name, curve in curves.items():
        data.append({"regime": name, "run": 0, "share": 1.0, "low": 1.0, "high": 1.0, "n": ""})
        for run in range(1, int(curve.times[-1]) + 1):
            share = curve.at(run)
            low = share.low if share.low == share.low else share.value
            high = share.high if share.high == share.high else share.value
            risk = [n for t, n in zip(curve.times, curve.at_risk, strict=True) if t <= run]
            data.append(
                {
                    "regime": name,
                    "run": run,
                    "share": share.value,
                    "low": low,
                    "high": high,
                    "n": f"{risk[-1]:,}" if risk else "",
                }
            )
    names = list(curves)
    color = alt.Color("regime:N", title=None, sort=names)
    if names == ["all episodes"] or names == [NONE]:
        color = alt.Color("regime:N", legend=None)
    base = alt.Chart(alt.InlineData(values=data)).encode(
        x=alt.X(
            "run:Q",
            title="useless results in a row",
            axis=alt.Axis(tickMinStep=1, format="d", grid=False),
        ),
        color=color,
    )
    lines = base.mark_line(interpolate="step-after").encode(
        y=alt.Y(
            "share:Q",
            title="still searching",
            axis=alt.Axis(format="%", tickCount=5),
            scale=alt.Scale(domain=[0, 1]),
        ),
    )
    dots = base.mark_point(size=40).encode(
        y="share:Q",
        tooltip=[
            alt.Tooltip("regime:N", title="regime"),
            alt.Tooltip("run:Q", title="useless in a row"),
            alt.Tooltip("share:Q", title="still searching", format=".1%"),
            alt.Tooltip("low:Q", title=f"{level:.0%} from", format=".1%"),
            alt.Tooltip("high:Q", title="to", format=".1%"),
            alt.Tooltip("n:N", title="watched"),
        ],
    )
    longest = max(int(curve.times[-1]) for curve in curves.values())
    enforced = [
        {"run": run, "share": 1.0 if run < k else 0.0} for run in range(max(longest, k) + 1)
    ]
    rule = (
        alt.Chart(alt.InlineData(values=enforced))
        .mark_line(interpolate="step-after", style="reference")
        .encode(x="run:Q", y="share:Q")
    )
    name = (
        alt.Chart(alt.InlineData(values=[{"run": k, "share": 0.5, "name": f"streak({k})"}]))
        .mark_text(align="right", dx=-8, style="quiet-text")
        .encode(x="run:Q", y="share:Q", text="name:N")
    )
    return spec_of(alt.layer(rule, name, lines, dots))
