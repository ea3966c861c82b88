"""A chart of two groups' rates beside each other, with intervals. Ignorant of what they are of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..figure import spec_of

if TYPE_CHECKING:
    import altair as alt


def rates_chart(
    data: list[dict[str, Any]],
    *,
    x: tuple[str, str],
    group: tuple[str, Sequence[str]],
    rate: tuple[str, str],
    tooltip: Sequence[alt.Tooltip],
    size: int,
) -> dict[str, Any]:
    """Return the chart of rows that have a low and a high end beside their rate.

    Args:
        data: the rows.
        x: field and title of the places.
        group: field of the groups, and their names in order.
        rate: field and title of the rate.
        tooltip: what pointing at a row shows.
        size: of the points, in square pixels.
    """
    import altair as alt

    field, names = group[0], list(group[1])
    base = alt.Chart(alt.InlineData(values=data)).encode(
        x=alt.X(f"{x[0]}:O", title=x[1], scale=alt.Scale(paddingInner=0.7)),
        xOffset=alt.XOffset(f"{field}:N", sort=names),
        color=alt.Color(f"{field}:N", title=None, sort=names),
        tooltip=list(tooltip),
    )
    bars = base.mark_rule(style="interval").encode(
        y=alt.Y("low:Q", title=rate[1], axis=alt.Axis(format="%", tickCount=5)),
        y2="high:Q",
    )
    dots = base.mark_point(size=size).encode(
        y=f"{rate[0]}:Q", shape=alt.Shape(f"{field}:N", sort=names, legend=None)
    )
    return spec_of(alt.layer(bars, dots))
