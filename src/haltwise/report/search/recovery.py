"""The stopping table for sources that recover: when searching on is worth more than answering."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...calibrate.recovery_counts import RecoveryCounts
from ...core.recovery import TIE, RecoveryModel
from ..figure import Figure, Table, spec_of
from ..words import DASH, percent, signed

ANSWER = "answer"
SEARCH = "search on"


def recovery_figure(
    model: RecoveryModel | None, counts: RecoveryCounts | None, notes: Sequence[str]
) -> Figure:
    """Return the table as a heat map over actions left and run; a reason where there is none."""
    if model is None:
        return Figure(
            name="recovery-table",
            title="When to stop waiting for the source cannot be told from this record",
            text=(
                "A stopping table needs to know how often a source recovers and what an answer "
                "forced early is worth."
            ),
            spec=None,
            table=Table.of((), ()),
            note="; ".join(notes),
        )
    cells = [
        {
            "left": left,
            "run": run,
            "more": more,
            "do": ANSWER if more < -TIE else SEARCH,
            "text": signed(100 * more, 0),
            "fresh": "nothing useful so far" if run == model.budget - left else "earlier use",
        }
        for left, worth in enumerate(model.advantage, start=2)
        for run, more in enumerate(worth, start=1)
    ]
    longest = model.budget - 2
    by_cell = {(c["left"], c["run"]): c for c in cells}
    rows = [
        (
            str(left),
            *(
                f"{by_cell[left, run]['do']} ({by_cell[left, run]['text']})"
                if (left, run) in by_cell
                else DASH
                for run in range(1, longest + 1)
            ),
        )
        for left in range(2, model.budget)
    ]
    return Figure(
        name="recovery-table",
        title=_title(model),
        text=(
            f"For each run of useless results and number of actions left, at a price of "
            f"{model.price:g} right answers a call: what searching on is worth beyond answering "
            "now, in points. Negative means answer now. The top of each column is a source that "
            "has given nothing useful yet. With one action left the answer is due in any case."
        ),
        spec=_chart(cells),
        table=Table.of(("actions left", *(f"run of {run}" for run in range(1, longest + 1))), rows),
        height=110 + 36 * longest,
        note="; ".join([*notes, _rests_on(counts)]) if counts is not None else "; ".join(notes),
    )


def hazard_table(counts: RecoveryCounts) -> Table:
    """Return how often a source recovered after each run: counts, not smoothed."""
    rows = []
    for run in range(counts.tried.shape[2]):
        cells = []
        for fresh in (0, 1):
            tried = int(counts.tried[0, fresh, run])
            recovered = int(counts.recovered[0, fresh, run])
            cells.append(
                f"{recovered:,} of {tried:,} ({percent(recovered / tried)})" if tried else DASH
            )
        rows.append((str(run + 1), *cells))
    columns = ("useless in a row", "recovered next, nothing useful before", "after an earlier use")
    return Table.of(columns, rows)


def _title(model: RecoveryModel) -> str:
    fresh = [
        (left, model.budget - left)
        for left in range(2, model.budget)
        if model.budget - left in model.stop[left - 1]
    ]
    if not fresh:
        return "A source that has given nothing yet is worth waiting for up to the last action"
    run = min(run for _, run in fresh)
    return f"Give up on a source that has given nothing after {run} useless results"


def _rests_on(counts: RecoveryCounts) -> str:
    return (
        f"rests on {int(counts.recovered.sum()):,} recoveries in {int(counts.tried.sum()):,} "
        "searches after a useless result"
    )


def _chart(cells: list[dict[str, Any]]) -> dict[str, Any]:
    import altair as alt

    base = alt.Chart(alt.InlineData(values=cells)).encode(
        x=alt.X("run:O", title="useless results in a row"),
        y=alt.Y("left:O", title="actions left", sort="descending"),
        tooltip=[
            alt.Tooltip("left:O", title="actions left"),
            alt.Tooltip("run:O", title="useless in a row"),
            alt.Tooltip("do:N", title="do"),
            alt.Tooltip("text:N", title="searching on, points"),
            alt.Tooltip("fresh:N", title="before"),
        ],
    )
    shade = base.mark_rect(style="cell").encode(
        color=alt.Color(
            "do:N",
            title=None,
            sort=[SEARCH, ANSWER],
            scale=alt.Scale(domain=[SEARCH, ANSWER]),
        )
    )
    words = base.mark_text(style="on-cell").encode(text="text:N")
    return spec_of(alt.layer(shade, words))
