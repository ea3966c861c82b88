"""Estimates below each other, each with its interval: the chart of most comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..stats.estimate import Estimate
from .figure import Figure, Table, spec_of
from .words import DASH, fixed, interval, percent_or_dash

Row = tuple[str, Estimate]
"""A name and its estimate."""


def forest(
    name: str,
    title: str,
    text: str,
    rows: Sequence[Row],
    axis: str,
    *,
    share: bool = False,
    reference: float | None = None,
    domain: tuple[float, float] | None = None,
) -> Figure:
    """Return the figure.

    Args:
        name: of the figure.
        title: its headline.
        text: how to read it.
        rows: what is estimated; undefined ones stay in the table with their reason.
        axis: title of the axis.
        share: whether the axis is written in percent.
        reference: where a dashed line stands.
        domain: ends of the axis.
    """
    data = [
        {
            "name": label,
            "value": e.value,
            "low": e.low if e.low == e.low else e.value,
            "high": e.high if e.high == e.high else e.value,
            "shown": percent_or_dash(e.value) if share else fixed(e.value),
        }
        for label, e in rows
        if e.defined
    ]
    cells = [
        (
            label,
            percent_or_dash(e.value) if share else fixed(e.value),
            interval(e) if e.defined else DASH,
            f"{e.n:,}" if e.n else DASH,
            e.note,
        )
        for label, e in rows
    ]
    reasons = dict.fromkeys(e.note for _, e in rows if not e.defined and e.note)
    return Figure(
        name=name,
        title=title,
        text=text,
        spec=_chart(data, axis, share, reference, domain) if data else None,
        table=Table.of(("", axis, "interval", "n", "note"), cells),
        height=64 + 30 * len(data),
        note="; ".join(reasons),
    )


def _chart(
    data: list[dict[str, Any]],
    axis: str,
    share: bool,
    reference: float | None,
    domain: tuple[float, float] | None,
) -> dict[str, Any]:
    import altair as alt

    names = [row["name"] for row in data]
    scale = alt.Scale(zero=False) if domain is None else alt.Scale(domain=list(domain))
    style: dict[str, Any] = {"grid": True, "tickCount": 6}
    if share:
        style["format"] = "%"
    base = alt.Chart(alt.InlineData(values=data)).encode(
        y=alt.Y("name:N", title=None, sort=names, axis=alt.Axis(labelLimit=240)),
        tooltip=[alt.Tooltip("name:N", title=" "), alt.Tooltip("shown:N", title=axis)],
    )
    bars = base.mark_rule(style="interval").encode(
        x=alt.X("low:Q", title=axis, scale=scale, axis=alt.Axis(**style)), x2="high:Q"
    )
    dots = base.mark_point(size=90).encode(x="value:Q")
    layers: list[Any] = [bars, dots]
    if reference is not None:
        line = alt.Chart(alt.InlineData(values=[{"at": reference}]))
        layers.insert(0, line.mark_rule(style="reference").encode(x="at:Q"))
    return spec_of(alt.layer(*layers))
