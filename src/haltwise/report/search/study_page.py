"""The report of a search study: arms compared by regime, judges held against the truth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...study.search.analyze import JUDGE, ArmAnalysis, StudyAnalysis
from ..figure import Figure, Table, spec_of
from ..forest import forest
from ..page import Page, Section
from ..words import DASH, count, fixed, percent, percent_or_dash, points, signed


def study_page(found: StudyAnalysis, *, colophon: Sequence[tuple[str, str]] = ()) -> Page:
    """Return the report of a study, finished or not."""
    plan = found.plan
    episodes = sum(arm.audit.episodes for arm in found.arms.values())
    notes = [*found.notes]
    if found.kept:
        notes.insert(0, f"plan not kept: {found.kept}")
    withheld = {name: arm.quality[JUDGE].withheld for name, arm in found.arms.items()}
    notes += [f"{name}: {reason}" for name, reason in withheld.items() if reason]
    return Page(
        title=f"haltwise: search study of {plan.model}",
        kind="Search study",
        headline=_headline(found),
        about=f"{count(episodes, 'episode')}, {count(len(found.arms), 'arm')}, {plan.model} on "
        f"{plan.task}, plan {plan.digest}.",
        notes=notes,
        sections=[
            Section(
                "arms",
                "What each arm reaches",
                "",
                [
                    forest(
                        "mean6",
                        "Success over the six regimes, by arm",
                        "Equal weight to every regime; undefined until all six were run.",
                        [(name, arm.audit.mean6) for name, arm in found.arms.items()],
                        "right answers",
                        share=True,
                    ),
                    forest(
                        "utility",
                        f"Utility at a price of {plan.price:g} a call, by arm",
                        "Success minus the price of the tool calls, mean over regimes.",
                        [(name, arm.utility) for name, arm in found.arms.items()],
                        "utility",
                    ),
                    _regimes(found),
                    _arms(found),
                ],
            ),
            Section(
                "comparisons", "Arms against each other", "", [_comparisons(found), _tests(found)]
            ),
            Section(
                "verdicts",
                "What agents do with their verdicts",
                "The contrast is compared at equal k only; an enforced rule makes it large by "
                "itself.",
                [_contrasts(found, withheld)],
            ),
            Section("judges", "Judges against the truth", "", [_judges(found)]),
        ],
        colophon=colophon,
    )


def _headline(found: StudyAnalysis) -> str:
    known = [c for c in found.comparisons if c.difference.defined and c.endpoint != "utility"]
    if not known:
        name, arm = max(found.arms.items(), key=lambda pair: _overall(pair[1]))
        return f"{name}: {percent(_overall(arm))} right answers, mean over the regimes run"
    clear = [c for c in known if c.difference.low > 0 or c.difference.high < 0]
    if not clear:
        return f"No arm differs clearly from {known[0].against} so far"
    first = max(clear, key=lambda c: abs(c.difference.value))
    d = first.difference
    return (
        f"{first.arm} against {first.against}: {points(d.value)} points of right answers, "
        f"{d.level:.0%} interval {points(d.low)} to {points(d.high)}"
    )


def _overall(arm: ArmAnalysis) -> float:
    known = [e.value for e in arm.audit.success.values() if e.defined]
    return sum(known) / len(known) if known else 0.0


def _regimes(found: StudyAnalysis) -> Figure:
    regimes = list(dict.fromkeys(r for arm in found.arms.values() for r in arm.audit.success))
    data, rows = [], []
    for name, arm in found.arms.items():
        cells = []
        for regime in regimes:
            e = arm.audit.success.get(regime)
            cells.append(DASH if e is None else percent_or_dash(e.value))
            if e is not None and e.defined:
                row = {"arm": name, "regime": regime, "share": e.value}
                data.append({**row, "text": percent(e.value)})
        rows.append((name, *cells))
    return Figure(
        name="success-by-regime",
        title="Success by arm and regime",
        text="Share of right answers; the fault of the source from left to right.",
        spec=_heat(data, regimes) if data else None,
        table=Table.of(("arm", *regimes), rows),
        height=130 + 34 * len(found.arms),
    )


def _arms(found: StudyAnalysis) -> Table:
    return Table.of(
        ("arm", "episodes", "calls an episode", "answers never given"),
        [
            (
                name,
                f"{arm.audit.episodes:,}",
                fixed(arm.audit.calls.value, 2),
                percent_or_dash(arm.audit.unanswered.value),
            )
            for name, arm in found.arms.items()
        ],
    )


def _comparisons(found: StudyAnalysis) -> Figure:
    rows = [
        (f"{c.arm} − {c.against}", c.difference)
        for c in found.comparisons
        if c.endpoint != "utility"
    ]
    clear = sum(e.low > 0 or e.high < 0 for _, e in rows if e.defined)
    return forest(
        "comparisons",
        f"{clear} of {len(rows)} differences are clear" if rows else "Nothing to compare yet",
        "Difference in success, paired by question; intervals resample questions. Right of the "
        "line is better for the first one.",
        rows,
        "difference",
        reference=0.0,
    )


def _tests(found: StudyAnalysis) -> Table:
    return Table.of(
        ("arm − against", "endpoint", "difference", "p", "p (Holm)"),
        [
            (
                f"{c.arm} − {c.against}",
                c.endpoint,
                signed(c.difference.value),
                fixed(c.p, 4),
                fixed(c.p_holm, 4),
            )
            for c in found.comparisons
        ],
    )


def _contrasts(found: StudyAnalysis, withheld: dict[str, str]) -> Table:
    rows = []
    for name, arm in found.arms.items():
        e = arm.audit.contrast.estimate
        cells = " · ".join(
            f"t={s.t}: {s.x1}/{s.n1} against {s.x0}/{s.n0}" for s in arm.audit.contrast.strata
        )
        value = "withheld" if withheld[name] else signed(e.value)
        rows.append((name, value, DASH if withheld[name] else cells, e.note))
    return Table.of(("arm", "contrast", "answers / decisions, by step", "note"), rows)


def _judges(found: StudyAnalysis) -> Table:
    return Table.of(
        ("arm and source", "useful on supporting pages", "useless on failed results"),
        [
            (
                f"{name}, {source}",
                percent_or_dash(item.useful_on_supporting.value),
                percent_or_dash(item.useless_on_failed.value),
            )
            for name, arm in found.arms.items()
            for source, item in arm.quality.items()
        ],
    )


def _heat(data: list[dict[str, Any]], regimes: list[str]) -> dict[str, Any]:
    import altair as alt

    base = alt.Chart(alt.InlineData(values=data)).encode(
        x=alt.X("regime:N", title=None, sort=regimes, axis=alt.Axis(labelAngle=-30)),
        y=alt.Y("arm:N", title=None, sort=None),
        tooltip=[
            alt.Tooltip("arm:N", title="arm"),
            alt.Tooltip("regime:N", title="regime"),
            alt.Tooltip("text:N", title="right"),
        ],
    )
    return spec_of(
        base.mark_rect(style="cell").encode(
            color=alt.Color(
                "share:Q",
                title="right answers",
                scale=alt.Scale(domain=[0, 1]),
                legend=alt.Legend(format="%", gradientLength=160),
            )
        )
    )
