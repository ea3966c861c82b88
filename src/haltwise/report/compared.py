"""Rules compared on the same loops: what they deliver, paired differences, regret."""

from __future__ import annotations

from ..replay.summary import Comparison, ReplaySummary
from ..stats.estimate import Estimate
from .figure import Figure
from .forest import forest
from .words import fixed, percent, points

_KNOWING = ("true_myopic", "oracle")


def usable(policy: str) -> bool:
    """Return whether a rule can be used: not one that is given the truth, for comparison only."""
    return not policy.startswith(_KNOWING)


def delivered_figure(summary: ReplaySummary) -> Figure:
    """Return success (search) or validity (repair) of every rule."""
    word = _word(summary)
    known = [p for p in summary.policies if p.success.defined and usable(p.policy)]
    best = max(known, key=lambda p: p.success.value) if known else None
    title = (
        "What these rules would deliver is not known"
        if best is None
        else f"{best.policy} delivers most: {percent(best.success.value)} {word}"
    )
    return forest(
        "delivered",
        title,
        f"Share of loops that end {word} under each rule, on the same recorded loops.",
        [(p.policy, p.success) for p in summary.policies],
        f"{word}",
        share=True,
    )


def utility_figure(summary: ReplaySummary) -> Figure:
    """Return the utility of every rule at the price of the replay."""
    known = [p for p in summary.policies if p.utility.defined and usable(p.policy)]
    best = max(known, key=lambda p: p.utility.value) if known else None
    steps = "calls" if summary.kind == "search" else "repairs"
    title = (
        "What these rules are worth is not known"
        if best is None
        else f"At a price of {summary.price:g}, {best.policy} is worth most: "
        f"{fixed(best.utility.value)}"
    )
    return forest(
        "utility",
        title,
        f"{_word(summary).capitalize()} share minus {summary.price:g} for each of the {steps}.",
        [(p.policy, p.utility) for p in summary.policies],
        "utility",
    )


def difference_figure(summary: ReplaySummary) -> Figure:
    """Return the paired difference of every rule to the first one that was named."""
    first = summary.policies[0].policy
    rows = [_against(pair, first) for pair in summary.comparisons if first in (pair.a, pair.b)]
    return forest(
        "differences",
        _difference_title(rows, first),
        f"Difference in the share of {_word(summary)} loops to {first}, paired loop by loop; "
        "intervals resample questions or tasks. Right of the line is better.",
        rows,
        f"difference to {first}",
        reference=0.0,
    )


def _difference_title(rows: list[tuple[str, Estimate]], first: str) -> str:
    known = [(name, e) for name, e in rows if e.defined]
    if not known:
        return f"How the rules differ from {first} is not known"
    if len(known) == 1:
        name, e = known[0]
        sure = "" if e.low > 0 or e.high < 0 else ", which may be chance"
        return f"{name} against {first}: {points(e.value)} points{sure}"
    clear = sum(e.low > 0 or e.high < 0 for _, e in known)
    return f"{clear} of {len(known)} rules differ clearly from {first}"


def regret_figure(summary: ReplaySummary) -> Figure:
    """Return what every rule loses to the best stop in hindsight."""
    known = [p for p in summary.policies if p.regret.defined and usable(p.policy)]
    best = min(known, key=lambda p: p.regret.value) if known else None
    title = (
        "Regret is not known"
        if best is None
        else f"{best.policy} comes nearest to hindsight: regret {fixed(best.regret.value)}"
    )
    return forest(
        "regret",
        title,
        "Utility that the best stop of each loop, known only afterwards, would have added.",
        [(p.policy, p.regret) for p in summary.policies],
        "regret",
        reference=0.0,
    )


def _against(pair: Comparison, first: str) -> tuple[str, Estimate]:
    """Return the other rule, and its difference to ``first``."""
    d = pair.difference
    if pair.b == first:
        return pair.a, d
    return pair.b, Estimate(-d.value, -d.high, -d.low, d.level, d.n, d.method, d.note)


def _word(summary: ReplaySummary) -> str:
    return "right" if summary.kind == "search" else "valid"
