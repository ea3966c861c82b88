"""The report of a calibration on search loops: how sources recover, and when to stop."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from ...calibrate.recovery import RecoveryFit
from ..figure import Figure, Table
from ..page import Page, Section, Setting
from ..words import DASH, count, fixed, interval, percent_or_dash
from .rates import rates_chart
from .recovery import recovery_figure

FRESH = "nothing useful so far"
LATER = "after an earlier useful result"


def recovery_page(
    fit: RecoveryFit, *, again: str, policy: str, colophon: Sequence[tuple[str, str]] = ()
) -> Page:
    """Return the report of a fit.

    Args:
        fit: what was fitted.
        again: what was read, as it was typed.
        policy: the policy file that was written.
        colophon: how the report came about.
    """
    table = recovery_figure(fit.model, None, fit.notes)
    q = fit.answer_now[0]
    protected = f'recovery("{policy}", trust=.5)'
    return Page(
        title="haltwise: how sources recover",
        kind="Calibration",
        headline=table.title,
        about=f"{count(fit.loops, 'loop')}, {count(fit.clusters, 'question')}, budget "
        f"{fit.model.budget}, price {fit.model.price:g} a call.",
        facts=[
            ("right if it answers at once", percent_or_dash(q.value), interval(q)),
            ("what a recovery adds", fixed(fit.model.gain), "right answers, u - q"),
        ],
        setting=Setting(
            "recovery",
            "The fitted table as a rule; with trust it is protected against fault durations that "
            "were never recorded.",
            [
                ("Replay it", f"haltwise replay {again} --policy {shlex.quote(policy)}"),
                (
                    "The same, with protection",
                    f"haltwise replay {again} --policy {shlex.quote(protected)}",
                ),
            ],
        ),
        sections=[
            Section("recovery", "When to stop waiting", "", [table]),
            Section("hazard", "How often a source recovers", "", [_hazard(fit), _useful(fit)]),
        ],
        colophon=colophon,
    )


def _hazard(fit: RecoveryFit) -> Figure:
    data, rows = [], []
    for run, pair in enumerate(zip(*fit.hazard, strict=True), start=1):
        cells = []
        for name, e in zip((FRESH, LATER), pair, strict=True):
            cells += [percent_or_dash(e.value), interval(e), f"{e.n:,}"]
            if e.defined:
                low = e.low if e.low == e.low else e.value
                high = e.high if e.high == e.high else e.value
                data.append({"run": run, "what": name, "share": e.value, "low": low, "high": high})
        rows.append((str(run), *cells))
    return Figure(
        name="hazard",
        title="The chance that the next result is not useless",
        text="By the run of useless results before it, shrunk to what both groups have in common.",
        spec=_chart(data) if data else None,
        table=Table.of(("useless in a row", FRESH, "interval", "n", LATER, "interval", "n"), rows),
        note="" if data else "no loop searched on after a useless result",
    )


def _useful(fit: RecoveryFit) -> Table:
    return Table.of(
        ("actions left", "worth of a recovery", "interval", "recoveries"),
        [
            (
                str(left),
                fixed(e.value) if e.defined else DASH,
                interval(e),
                f"{e.n:,}",
            )
            for left, e in enumerate(fit.useful_value, start=1)
        ],
    )


def _chart(data: list[dict[str, Any]]) -> dict[str, Any]:
    import altair as alt

    return rates_chart(
        data,
        x=("run", "useless results in a row"),
        group=("what", (FRESH, LATER)),
        rate=("share", "recovers next"),
        tooltip=[
            alt.Tooltip("run:O", title="useless in a row"),
            alt.Tooltip("what:N", title="before"),
            alt.Tooltip("share:Q", title="recovers next", format=".1%"),
        ],
        size=80,
    )
