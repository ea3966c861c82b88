"""An audit for people: the findings first, then the numbers, then what a rule would have saved.

Made to be read in ten seconds. Knows how numbers are rounded; computes nothing.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Sequence

from ..audit.findings import findings
from ..audit.findings.late_useful_results import SAFE
from ..audit.findings.words import percent
from ..audit.result import Audit
from ..audit.scope import NONE
from ..audit.setting import rule_text, safe_setting
from ..record.episode import MEAN6
from ..stats.estimate import Estimate
from .terminal import Table, console


def show(audit: Audit, paths: Sequence[str]) -> None:
    """Print ``audit`` of the episodes in ``paths`` to stdout."""
    from rich.padding import Padding
    from rich.text import Text

    screen = console()
    screen.print(Text(_headline(audit), style="bold"))
    for note in audit.notes:
        screen.print(Text(f"Note: {note}.", style="yellow"))
    screen.print()
    found = findings(audit)
    for finding in found:
        title = (finding.title, "bold red")
        screen.print(Text.assemble(title, (f"  [{finding.id}]", "dim")))
        screen.print(Padding(Text(finding.evidence), (0, 0, 0, 2), expand=False))
    if not found:
        screen.print(Text("No finding: nothing here asks for a remedy.", style="green"))
    for numbers in (_behaviour(audit), _regimes(audit), _rules(audit)):
        screen.print()
        numbers.print(screen)
    screen.print()
    where = shlex.join(paths)
    if not audit.useless_rate.defined:
        remedy = f"No result was judged. Judge them now: haltwise audit {where} --signal lexical"
        screen.print(Text(remedy, style="bold"), soft_wrap=True)
    every = f"Every number, with its interval and method: haltwise audit {where} --json"
    screen.print(Text(every, style="dim"), soft_wrap=True)
    setting = safe_setting(audit)
    if setting is not None:
        rule = rule_text(*setting)
        screen.print(Text(f'Next: haltwise replay {where} --policy "{rule}"'), soft_wrap=True)


def number(value: float) -> str:
    """Return a number with three digits and its sign, or "-" where it is undefined."""
    return "-" if math.isnan(value) else f"{value:+.3f}"


def after_run_cell(audit: Audit, regime: str) -> str:
    """Return how many of those at risk answered after k useless results: "1 of 292"."""
    row = audit.after(audit.k, regime)
    return f"{row.answered:,} of {row.at_risk:,}" if row is not None and row.at_risk else "-"


def _headline(audit: Audit) -> str:
    pooled = audit.mixture
    parts = [_many(audit.episodes, "episode"), _many(audit.clusters, "question")]
    if list(pooled.regimes) != [NONE]:
        parts.append(_many(len(pooled.regimes), "regime"))
    parts += [f"budget {audit.budget}", f"verdicts: {', '.join(pooled.sources)}"]
    return ", ".join(parts)


def _behaviour(audit: Audit) -> Table:
    level = f"{audit.contrast.estimate.level:.0%} interval"
    shown = Table("What the agents do", "", "value", level)
    k, wasted = audit.k, next((row.estimate for row in audit.waste if row.k == audit.k), None)
    rows: list[tuple[str, Estimate | None, Callable[[float], str]]] = [
        ("results called useless", audit.useless_rate, percent),
        ("step of the first useful result", audit.first_useful, _two),
        ("tool calls an episode", audit.calls, _two),
        (f"calls made after {k} useless results in a row", wasted, percent),
        ("contrast: all useless against not all", audit.contrast.estimate, number),
        ("hazard slope: log odds per useless result", audit.hazard_slope.estimate, number),
    ]
    if any(regime in MEAN6 for regime in audit.mixture.regimes):
        rows.append(("mean6: success over the six regimes", audit.mean6, percent))
    for label, estimate, write in rows:
        if estimate is not None:
            shown.add_row(label, *_written(estimate, write))
    return shown


def _regimes(audit: Audit) -> Table:
    level = f"{audit.contrast.estimate.level:.0%} interval"
    answer = f"answer after {audit.k} useless"
    shown = Table("How it ends", "", "success", level, answer)
    alone = list(audit.success) == [NONE]
    for name, success in audit.success.items():
        answered = after_run_cell(audit, "all" if alone else name)
        shown.add_row("all episodes" if alone else name, *_written(success, percent), answered)
    return shown


def _rules(audit: Audit) -> Table:
    shown = Table("What a rule would have saved", "", "calls saved", "right answers at risk")
    for row in audit.counterfactual:
        if row.calls_saved is None or row.answers_at_risk is None:
            continue
        saved = percent(row.calls_saved / audit.steps) if audit.steps else "-"
        risk = f"{row.answers_at_risk:,} of {audit.right:,}" if audit.right else "-"
        safe = bool(audit.right) and row.answers_at_risk < SAFE * audit.right
        shown.add_row(row.policy, saved, risk, style="green" if safe else None)
    return shown


def _written(estimate: Estimate, write: Callable[[float], str]) -> tuple[str, str]:
    if not estimate.defined:
        return "-", estimate.note
    if math.isnan(estimate.low):
        return write(estimate.value), estimate.note
    return write(estimate.value), f"{write(estimate.low)} to {write(estimate.high)}"


def _two(value: float) -> str:
    return f"{value:.2f}"


def _many(count: int, word: str) -> str:
    return f"{count:,} {word}{'s' * (count != 1)}"
