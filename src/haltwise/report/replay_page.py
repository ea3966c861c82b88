"""The report of a replay: rules compared on the same recorded loops."""

from __future__ import annotations

from collections.abc import Sequence

from ..replay.summary import ReplaySummary
from .compared import (
    delivered_figure,
    difference_figure,
    regret_figure,
    usable,
    utility_figure,
)
from .figure import Table
from .page import Page, Section
from .words import count, fixed, percent, replayed


def replay_page(summary: ReplaySummary, *, colophon: Sequence[tuple[str, str]] = ()) -> Page:
    """Return the report of a replay."""
    search = summary.kind == "search"
    word = "right" if search else "valid"
    known = [p for p in summary.policies if p.utility.defined and usable(p.policy)]
    headline = "The record does not tell what these rules are worth"
    if known:
        best = max(known, key=lambda p: p.utility.value)
        headline = (
            f"{best.policy} is worth most at a price of {summary.price:g}: "
            f"{percent(best.success.value)} {word}, {fixed(best.steps.value, 2)} "
            f"{'calls' if search else 'repairs'} each"
        )
    reasons = [
        f"{p.policy}: {note}"
        for p in summary.policies
        for note in dict.fromkeys([p.success.note, p.steps.note])
        if note
    ]
    sections = [
        Section(
            "rules",
            "What each rule would deliver",
            "A rule only truncates, so every rule is replayed on the same loops.",
            [
                _table(summary, word),
                delivered_figure(summary),
                utility_figure(summary),
                regret_figure(summary),
            ],
        )
    ]
    if summary.comparisons:
        sections.append(
            Section(
                "differences",
                "Paired differences",
                "",
                [difference_figure(summary), _pairs(summary)],
            )
        )
    return Page(
        title=f"haltwise: replay of {count(summary.loops, 'loop')}",
        kind="Replay",
        headline=headline,
        about=(
            f"{count(summary.loops, f'{summary.kind} loop')}, "
            f"{count(summary.clusters, 'question' if search else 'task')}."
        ),
        notes=reasons,
        sections=sections,
        colophon=colophon,
    )


def _table(summary: ReplaySummary, word: str) -> Table:
    search = summary.kind == "search"
    columns = ["rule", word, "calls" if search else "repairs", f"utility at {summary.price:g}"]
    return Table.of(
        [*columns, "miss", "regret"],
        [
            (
                p.policy,
                replayed(p.success),
                replayed(p.steps, 2),
                replayed(p.utility),
                fixed(p.miss.value),
                fixed(p.regret.value),
            )
            for p in summary.policies
        ],
    )


def _pairs(summary: ReplaySummary) -> Table:
    return Table.of(
        ("a − b", "difference", "p", "p (Holm)", "difference in utility"),
        [
            (
                f"{pair.a} − {pair.b}",
                replayed(pair.difference),
                fixed(pair.p, 4),
                fixed(pair.p_holm, 4),
                replayed(pair.utility),
            )
            for pair in summary.comparisons
        ],
    )
