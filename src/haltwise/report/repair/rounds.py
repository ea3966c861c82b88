"""What the loop reports against what is true, round by round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...record.repair_table import UNKNOWN, RepairTable
from ...stats.estimate import Estimate
from ...stats.proportions import clustered_proportion
from ..figure import Figure, Table, spec_of
from ..words import interval, percent, percent_or_dash

VALID = "really valid"
ACCEPTED = "reported: most votes accept"


def by_round(
    table: RepairTable, *, level: float = 0.95
) -> tuple[tuple[Estimate, ...], tuple[Estimate, ...]]:
    """Return validity and acceptance of the plans of each round, over the loops that reached it.

    Rounds of unknown truth do not count for validity, rounds without votes not for acceptance.
    """
    known = table.valid != UNKNOWN
    return (
        _shares(table, known, table.valid == 1, level),
        _shares(table, table.votes > 0, 2 * table.accepts > table.votes, level),
    )


def rounds_figure(validity: Sequence[Estimate], acceptance: Sequence[Estimate]) -> Figure:
    """Return both curves; undefined rounds are left out of the chart and named in the table."""
    rows, data = [], []
    for k, (valid, accepted) in enumerate(zip(validity, acceptance, strict=True)):
        rows.append(
            (
                str(k),
                percent_or_dash(valid.value),
                interval(valid),
                percent_or_dash(accepted.value),
                interval(accepted),
            )
        )
        for name, estimate in ((VALID, valid), (ACCEPTED, accepted)):
            if estimate.defined:
                low = estimate.low if estimate.low == estimate.low else estimate.value
                high = estimate.high if estimate.high == estimate.high else estimate.value
                row = {"round": k, "what": name, "share": estimate.value}
                data.append({**row, "low": low, "high": high})
    reasons = dict.fromkeys(e.note for e in (*validity, *acceptance) if not e.defined)
    return Figure(
        name="validity-by-round",
        title=rounds_title(validity, acceptance),
        text=(
            "Share of plans that most of their votes accept, which is what a loop reports, against "
            "the share that is really valid. Where the curves part, the verifier accepts wrecks."
        ),
        spec=_chart(data) if data else None,
        table=Table.of(("repairs", VALID, "interval", ACCEPTED, "interval"), rows),
        height=300,
        note="; ".join(text for text in reasons if text),
    )


def rounds_title(validity: Sequence[Estimate], acceptance: Sequence[Estimate]) -> str:
    """Return the difference between the first and the last round in a sentence."""
    known = [k for k, e in enumerate(validity) if e.defined]
    if not known:
        seen = [k for k, e in enumerate(acceptance) if e.defined]
        if not seen:
            return "Neither validity nor acceptance is known"
        last = seen[-1]
        return (
            f"After {_repairs(last)}, {percent(acceptance[last].value)} of the plans are accepted"
        )
    first, last = known[0], known[-1]
    if first == last:
        return f"{percent(validity[first].value)} of the plans are valid"
    reported = ""
    if acceptance[last].defined:
        reported = f"; {percent(acceptance[last].value)} are accepted"
    return (
        f"{_repairs(last).capitalize()} take validity from {percent(validity[first].value)} to "
        f"{percent(validity[last].value)}{reported}"
    )


def _repairs(number: int) -> str:
    return f"{number} repair{'' if number == 1 else 's'}"


def _shares(
    table: RepairTable, counted: np.ndarray, event: np.ndarray, level: float
) -> tuple[Estimate, ...]:
    clusters = int(table.cluster.max(initial=-1)) + 1
    shares = []
    for k in range(table.columns):
        here = counted[:, k] & (k < table.length)
        of = table.cluster[here]
        events = np.bincount(of, event[here, k], clusters)
        sizes = np.bincount(of, minlength=clusters)
        there = sizes > 0
        shares.append(clustered_proportion(events[there], sizes[there], level=level))
    return tuple(shares)


def _chart(data: list[dict[str, Any]]) -> dict[str, Any]:
    import altair as alt

    names = [VALID, ACCEPTED]
    base = alt.Chart(alt.InlineData(values=data)).encode(
        x=alt.X("round:Q", title="repairs made", axis=alt.Axis(format="d", tickMinStep=1)),
        color=alt.Color("what:N", title=None, sort=names),
        tooltip=[
            alt.Tooltip("what:N", title=" "),
            alt.Tooltip("round:Q", title="repairs"),
            alt.Tooltip("share:Q", title="share", format=".1%"),
            alt.Tooltip("low:Q", title="from", format=".1%"),
            alt.Tooltip("high:Q", title="to", format=".1%"),
        ],
    )
    y = alt.Y(
        "share:Q",
        title="share of plans",
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(format="%", tickCount=5),
    )
    bars = base.mark_rule(style="interval").encode(
        y=alt.Y("low:Q", title="share of plans", scale=alt.Scale(domain=[0, 1])), y2="high:Q"
    )
    lines = base.mark_line().encode(y=y)
    dots = base.mark_point(size=80).encode(y=y, shape=alt.Shape("what:N", sort=names, legend=None))
    return spec_of(alt.layer(bars, lines, dots))
