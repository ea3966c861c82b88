"""The what-if explorer as a part of a page: sliders, numbers, and every rule as a point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..figure import Figure, Table, spec_of
from ..page import Fragment
from ..words import DASH, replayed
from .whatif import Effect, WhatIf, document

NAME = "whatif"


def explorer(effects: Sequence[Effect], what_if: WhatIf, start: Effect, price: float) -> Fragment:
    """Return the explorer, its sliders at ``start`` and ``price``."""
    data = document(effects, what_if, start)
    known, prices = data["known"], data["prices"]
    place = prices.index(price)
    shown = {(e["k"], e["deadline"]): e for e in data["effects"]}
    none, chosen = shown[(0, 0)], shown[(start.rule.k, start.rule.deadline)]
    title, text = _words(known)
    context = {
        "ks": data["ks"],
        "deadlines": data["deadlines"],
        "prices": prices,
        "known": known,
        "k_place": data["ks"].index(start.rule.k),
        "deadline_place": data["deadlines"].index(start.rule.deadline),
        "price_place": place,
        "k_text": start.rule.k or "no such rule",
        "deadline_text": start.rule.deadline or "no such rule",
        "price_text": f"{price:.2f}",
        "none": {**none, "utility": none["utility"][place]},
        "chosen": {**chosen, "utility": chosen["utility"][place]},
        "best_text": _best(effects, place) if known else "",
        "note": _note(effects),
    }
    drawable = any(e["x"] is not None and e["y"] is not None for e in data["effects"])
    figure = Figure(
        "every-rule",
        title,
        text,
        _chart(data, known, start.expression) if drawable else None,
        Table.of((), ()),
        height=320,
    )
    context["figure"] = figure
    return Fragment("whatif.html.j2", context, data, NAME, script="whatif.js", figure=figure)


def _words(known: bool) -> tuple[str, str]:
    if known:
        return (
            "Every rule: calls against right answers",
            "Each point is one setting of the sliders. Up and to the left is better; the ring is "
            "the rule that is set, the cross is what was recorded.",
        )
    return (
        "Every rule: calls against right answers put at risk",
        "Each point is one setting of the sliders. Down and to the left is better; the ring is the "
        "rule that is set, the cross is what was recorded.",
    )


def _best(effects: Sequence[Effect], place: int) -> str:
    defined = [e for e in effects if e.utility[place].defined]
    if not defined:
        return ""
    best = max(defined, key=lambda e: e.utility[place].value)
    return f"Highest utility at this price: {best.expression}, {replayed(best.utility[place])}."


def _note(effects: Sequence[Effect]) -> str:
    reasons = {e.success.note for e in effects if not e.success.defined}
    return "Undefined (" + DASH + ") or unknown: " + "; ".join(sorted(reasons)) if reasons else ""


def _chart(data: dict[str, Any], known: bool, start: str) -> dict[str, Any]:
    import altair as alt

    points = [
        {"x": e["x"], "y": e["y"], "policy": e["policy"]}
        for e in data["effects"]
        if e["x"] is not None and e["y"] is not None
    ]
    recorded = [point for point in points if point["policy"] == "never"]
    title = "right answers" if known else "right answers put at risk"
    encoding = {
        "x": alt.X(
            "x:Q",
            title="calls an episode",
            scale=alt.Scale(zero=False, padding=14),
            axis=alt.Axis(grid=True, tickCount=6),
        ),
        "y": alt.Y(
            "y:Q",
            title=title,
            scale=alt.Scale(zero=False, padding=10),
            axis=alt.Axis(format="%", tickCount=5),
        ),
        "tooltip": [
            alt.Tooltip("policy:N", title="rule"),
            alt.Tooltip("x:Q", title="calls", format=".2f"),
            alt.Tooltip("y:Q", title=title, format=".1%"),
        ],
    }
    every = alt.Chart(alt.InlineData(values=points)).mark_point(opacity=0.55).encode(**encoding)
    cross = (
        alt.Chart(alt.InlineData(values=recorded))
        .mark_point(shape="cross", size=140, style="recorded")
        .encode(**encoding)
    )
    ring = (
        alt.Chart(alt.NamedData(name="chosen"))
        .mark_point(size=260, filled=False, strokeWidth=3, style="chosen")
        .encode(**encoding)
    )
    spec = spec_of(alt.layer(every, cross, ring))
    now = [point for point in points if point["policy"] == start]
    spec["datasets"] = {**spec.get("datasets", {}), "chosen": now or recorded}
    return spec
