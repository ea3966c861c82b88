"""Where calls are wasted, and how often episodes end right, by regime."""

from __future__ import annotations

from typing import Any

from ...audit.result import Audit
from ...audit.scope import NONE, regime_name, regimes
from ...audit.tally import Sample
from ...audit.waste import cells
from ..figure import Figure, Table, spec_of
from ..words import DASH, fixed, interval, percent, percent_or_dash

WANTED = "before"
WASTED = "after"


def waste_figure(audit: Audit, sample: Sample) -> Figure:
    """Return the tool steps of an episode before and after the k-th useless result, by regime."""
    k = audit.k
    values = sample.values(lambda rows: cells(rows, sample.budget))
    judged = next((row for row in audit.waste if row.k == k), None)
    defined = judged is not None and judged.estimate.defined
    rows, data = [], []
    for regime in regimes(sample):
        keep = sample.of_regime(regime)
        episodes = int(sample.weights[keep].sum())
        totals = sample.total(values, keep)
        late, steps = int(totals[k - 1]), int(totals[-1])
        name = "all episodes" if regimes(sample) == [None] else regime_name(regime)
        rows.append(
            (
                name,
                f"{episodes:,}",
                fixed(steps / episodes, 2),
                fixed(late / episodes, 2),
                percent(late / steps) if steps else DASH,
            )
        )
        data += [
            {"regime": name, "part": WANTED, "calls": (steps - late) / episodes, "order": 0},
            {"regime": name, "part": WASTED, "calls": late / episodes, "order": 1},
        ]
    share = judged.estimate if judged is not None else None
    title = "Where calls are wasted cannot be told"
    if defined and share is not None:
        title = f"{percent(share.value)} of all calls come after {k} useless results in a row"
    return Figure(
        name="wasted-calls",
        title=title,
        text=(
            f"Tool calls of an episode, split at the {_nth(k)} useless result in a row. What comes "
            "after it is what a rule could have saved."
        ),
        spec=_waste_chart(data, k) if defined else None,
        table=Table.of(
            ("", "episodes", "calls an episode", f"after {k} useless in a row", "share"),
            rows if defined else [],
        ),
        height=90 + 34 * len(rows),
        note="" if share is None else share.note,
    )


def waste_by_k(audit: Audit) -> list[Table]:
    """Return the share of calls after the k-th useless result, for every k that has any.

    No table where nothing was judged.
    """
    rows = [row for row in audit.waste if row.estimate.defined]
    last = max((row.k for row in rows if row.calls), default=0)
    if not rows:
        return []
    table = Table.of(
        ("useless results in a row", "calls made after them", "share of all calls", "interval"),
        [
            (
                str(row.k),
                f"{row.calls:,}",
                percent_or_dash(row.estimate.value),
                _interval(row.estimate.low, row.estimate.high),
            )
            for row in rows
            if row.k <= max(last, audit.k)
        ],
    )
    return [table]


def success_figure(audit: Audit) -> Figure:
    """Return the share of right answers by regime."""
    alone = list(audit.success) == [NONE]
    rows, data = [], []
    for name, estimate in audit.success.items():
        shown = "all episodes" if alone else name
        note = "" if estimate.defined else estimate.note
        rows.append(
            (shown, percent_or_dash(estimate.value), interval(estimate), f"{estimate.n:,}", note)
        )
        if estimate.defined:
            low = estimate.low if estimate.low == estimate.low else estimate.value
            high = estimate.high if estimate.high == estimate.high else estimate.value
            data.append({"regime": shown, "share": estimate.value, "low": low, "high": high})
    reasons = {e.note for e in audit.success.values() if not e.defined}
    return Figure(
        name="success",
        title=_success_title(data),
        text="Share of right answers, with its interval, by what the source did.",
        spec=_success_chart(data) if data else None,
        table=Table.of(("", "right", "interval", "graded", "note"), rows),
        height=60 + 36 * len(data),
        note="; ".join(sorted(reasons)),
    )


def _success_title(data: list[dict[str, Any]]) -> str:
    if not data:
        return "Nobody graded these answers"
    best, worst = max(data, key=lambda r: r["share"]), min(data, key=lambda r: r["share"])
    if len(data) == 1:
        return f"{percent(best['share'])} of the answers are right"
    return (
        f"Right answers: {percent(worst['share'])} under {worst['regime']}, "
        f"{percent(best['share'])} under {best['regime']}"
    )


def _interval(low: float, high: float) -> str:
    return DASH if low != low else f"{percent(low)} to {percent(high)}"


def _nth(k: int) -> str:
    return {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth"}.get(k, f"{k}th")


def _waste_chart(data: list[dict[str, Any]], k: int) -> dict[str, Any]:
    import altair as alt

    names = list(dict.fromkeys(row["regime"] for row in data))
    words = {WANTED: f"before {k} useless in a row", WASTED: f"after {k} useless in a row"}
    rows = [{**row, "part": words[row["part"]]} for row in data]
    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar()
        .encode(
            y=alt.Y("regime:N", title=None, sort=names, axis=alt.Axis(labelLimit=220)),
            x=alt.X(
                "calls:Q",
                title="tool calls an episode",
                axis=alt.Axis(grid=True, tickCount=6),
            ),
            color=alt.Color("part:N", title=None, sort=list(words.values())),
            order=alt.Order("order:Q"),
            tooltip=[
                alt.Tooltip("regime:N", title="regime"),
                alt.Tooltip("part:N", title="calls"),
                alt.Tooltip("calls:Q", title="an episode", format=".2f"),
            ],
        )
    )
    return spec_of(chart)


def _success_chart(data: list[dict[str, Any]]) -> dict[str, Any]:
    import altair as alt

    names = [row["regime"] for row in data]
    base = alt.Chart(alt.InlineData(values=data)).encode(
        y=alt.Y("regime:N", title=None, sort=names, axis=alt.Axis(labelLimit=220)),
        tooltip=[
            alt.Tooltip("regime:N", title="regime"),
            alt.Tooltip("share:Q", title="right", format=".1%"),
            alt.Tooltip("low:Q", title="from", format=".1%"),
            alt.Tooltip("high:Q", title="to", format=".1%"),
        ],
    )
    bars = base.mark_rule(style="interval").encode(
        x=alt.X(
            "low:Q",
            title="right answers",
            scale=alt.Scale(domain=[0, 1]),
            axis=alt.Axis(format="%", grid=True, tickCount=5),
        ),
        x2="high:Q",
    )
    dots = base.mark_point(size=90).encode(x="share:Q")
    return spec_of(alt.layer(bars, dots))
