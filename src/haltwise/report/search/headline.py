"""The first sentence of a report, with its number, and the few numbers beside it."""

from __future__ import annotations

from ...audit.findings import Finding
from ...audit.result import Audit
from ..words import DASH, fixed, percent, percent_or_dash


def headline(audit: Audit, found: list[Finding]) -> str:
    """Return the most important thing in one sentence."""
    first = found[0].id if found else ""
    if first == "ignores-own-verdicts":
        where = audit.after(audit.k, "persistent")
        row = where or audit.after(audit.k)
        if row is not None and row.at_risk:
            dead = " on a dead source" if where is not None else ""
            return (
                f"After {row.k} useless results in a row{dead}, "
                f"{row.at_risk - row.answered:,} of {row.at_risk:,} episodes end without an answer"
            )
        return "Agents with nothing but useless results answer no sooner than others"
    if first == "never-answers":
        share = audit.unanswered
        return f"{percent(share.value)} of the episodes end without any answer"
    if first == "error-texts":
        errors = audit.error_texts
        return f"{percent(errors.errors / errors.texts)} of all texts here are error messages"
    if first == "undefined-contrast" and not audit.useless_rate.defined:
        return "Nobody judged these results: add --signal lexical or --signal stated"
    return found[0].title if found else "Nothing here asks for a stopping rule"


def facts(audit: Audit) -> list[tuple[str, str, str]]:
    """Return four numbers: (what, value, interval or reason)."""
    level = f"{audit.contrast.estimate.level:.0%}"
    wasted = next((row.estimate for row in audit.waste if row.k == audit.k), None)
    calls, useless, silent = audit.calls, audit.useless_rate, audit.unanswered

    def share(estimate: object) -> str:
        low, high = getattr(estimate, "low", float("nan")), getattr(estimate, "high", float("nan"))
        note: str = getattr(estimate, "note", "")
        return note if low != low else f"{level}: {percent(low)} to {percent(high)}"

    rows = [
        (
            "tool calls an episode",
            fixed(calls.value, 2),
            f"{level}: {fixed(calls.low, 2)} to {fixed(calls.high, 2)}",
        ),
        ("results called useless", percent_or_dash(useless.value), share(useless)),
        ("episodes without an answer", percent_or_dash(silent.value), share(silent)),
    ]
    if wasted is not None:
        name = f"calls after {audit.k} useless in a row"
        rows.insert(1, (name, percent_or_dash(wasted.value), share(wasted)))
    return [(what, value, "" if value == DASH and not why else why) for what, value, why in rows]
