"""The reports on verify-repair loops: of recorded loops, of a study, of a calibration.

Knows the order of a page; each part has a file of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...calibrate.repair import RepairCalibration
from ...record.repair_table import RepairTable
from ...replay.summary import ReplaySummary
from ...stats.estimate import Estimate
from ...study.repair.analysis import RepairStudy
from ..compared import (
    delivered_figure,
    difference_figure,
    regret_figure,
    usable,
    utility_figure,
)
from ..figure import Figure, Table
from ..page import Finding, Page, Section, Setting
from ..words import count, fixed, interval, percent, percent_or_dash, points
from .beliefs import reliability_figure, tracks_figure, votes_figure
from .rounds import by_round, rounds_figure, rounds_title
from .signs import sign_figure, threshold_of

MEANING = {
    "rho0": "a vote accepts an invalid plan",
    "rho1": "a vote rejects a valid plan",
    "discrimination": "J = 1 - rho0 - rho1, what a vote tells",
    "icc": "correlation of votes on one plan",
    "valid": "an initial plan is valid",
    "alpha": "a repair mends an invalid plan",
    "beta": "a repair breaks a valid plan",
}
"""The parameters in the order in which they are shown, in words."""


def loops_page(
    table: RepairTable,
    calibration: RepairCalibration | None,
    why_not: str,
    summary: ReplaySummary | None,
    *,
    again: str = "loops.jsonl",
    level: float = 0.95,
    colophon: Sequence[tuple[str, str]] = (),
) -> Page:
    """Return the report on recorded loops.

    Args:
        table: the loops.
        calibration: what was fitted to them; None where they cannot be calibrated on.
        why_not: the reason for that.
        summary: rules replayed on the same loops; None where none was.
        again: what was read, as it was typed.
        level: coverage of the intervals.
        colophon: how the report came about.
    """
    validity, acceptance = by_round(table, level=level)
    sections = [_rounds_section(validity, acceptance)]
    notes = [why_not] if why_not else []
    if calibration is not None:
        sections += calibration_sections(table, calibration)
        notes += calibration.notes
    if summary is not None:
        sections.append(rules_section(summary))
    return Page(
        title=f"haltwise: {count(len(table), 'verify-repair loop')}",
        kind="Verify-repair loops",
        headline=rounds_title(validity, acceptance),
        about=f"{count(len(table), 'loop')}, up to {table.columns - 1} repairs each.",
        facts=[] if calibration is None else _facts(calibration),
        setting=None if calibration is None else _calibrated(calibration, again),
        findings=_findings(validity, acceptance, calibration),
        notes=notes,
        sections=sections,
        colophon=colophon,
    )


def study_page(
    study: RepairStudy, table: RepairTable, *, colophon: Sequence[tuple[str, str]] = ()
) -> Page:
    """Return the report on a study: every rule judged on problems that it was not fitted to."""
    summary, calibration = study.crossfit.summary, study.estimated
    first = summary.policies[0]
    known = [p for p in summary.policies if p.utility.defined and usable(p.policy)]
    best = max(known, key=lambda p: p.utility.value) if known else None
    setting = None
    if best is not None and first.success.defined:
        gain = best.success.value - first.success.value
        told = (
            f"Cross-fitted on {count(study.problems, 'problem')}: "
            f"{percent(best.success.value)} valid instead of {percent(first.success.value)} "
            f"without any repair ({points(gain)} points), {fixed(best.steps.value, 2)} repairs a "
            f"loop, worth most at a price of {summary.price:g} a repair."
        )
        if best.policy == first.policy:
            told = f"Cross-fitted on {count(study.problems, 'problem')}: no rule is worth more."
        setting = Setting(
            best.policy,
            told,
            [("Fit it to your own loops", "haltwise calibrate repair loops.jsonl -o policy.toml")],
        )
    return Page(
        title=f"haltwise: repair study, {study.arm}",
        kind="Verify-repair study",
        headline=rounds_title(study.validity_by_round, study.acceptance_by_round),
        about=(
            f"{count(study.loops, 'loop')} on {count(study.problems, 'problem')}, {study.arm}; "
            "every round was run and graded, nothing was stopped."
        ),
        facts=_facts(calibration),
        setting=setting,
        findings=_findings(study.validity_by_round, study.acceptance_by_round, calibration),
        notes=list(calibration.notes),
        sections=[
            _rounds_section(study.validity_by_round, study.acceptance_by_round),
            rules_section(
                summary,
                "Every rule decided on problems that its parameters were not fitted to "
                f"({study.otherwise.folds} folds).",
            ),
            *calibration_sections(table, calibration, study.labelled),
        ],
        colophon=colophon,
    )


def calibration_page(
    table: RepairTable,
    calibration: RepairCalibration,
    *,
    again: str,
    colophon: Sequence[tuple[str, str]] = (),
) -> Page:
    """Return the report on a calibration."""
    known = "known" if calibration.identified else "not known"
    return Page(
        title="haltwise: calibration of verify-repair loops",
        kind="Calibration",
        headline=(
            f"The sign of a repair's gain is {known}: "
            f"{percent(calibration.sign.p_flip)} of the decisions could flip"
        ),
        about=f"{count(calibration.loops, 'loop')}, {calibration.words}.",
        facts=_facts(calibration),
        setting=_calibrated(calibration, again),
        notes=list(calibration.notes),
        sections=calibration_sections(table, calibration),
        colophon=colophon,
    )


def calibration_sections(
    table: RepairTable, calibration: RepairCalibration, labelled: RepairCalibration | None = None
) -> list[Section]:
    """Return what a calibration can show.

    Args:
        table: the loops.
        calibration: what was fitted to them.
        labelled: the same from every label, to compare with.
    """
    noise = calibration.fit.noise
    threshold = threshold_of(noise.alpha_at(1), noise.beta_at(1))
    return [
        Section(
            "noise",
            "What votes tell and what repairs do",
            "",
            [
                _noise_table(calibration, labelled),
                votes_figure(table, noise),
                reliability_figure(table, noise),
                tracks_figure(table, noise, threshold),
            ],
        ),
        Section("sign", "Is the sign of a repair known?", "", [sign_figure(calibration)]),
    ]


def rules_section(summary: ReplaySummary, lead: str = "") -> Section:
    """Return what rules would have delivered."""
    blocks: list[Figure | Table] = [delivered_figure(summary), utility_figure(summary)]
    if summary.comparisons:
        blocks.append(difference_figure(summary))
    blocks.append(regret_figure(summary))
    return Section("rules", "What each rule would deliver", lead, blocks)


def _rounds_section(validity: Sequence[Estimate], acceptance: Sequence[Estimate]) -> Section:
    return Section(
        "rounds", "Validity against acceptance", "", [rounds_figure(validity, acceptance)]
    )


def _noise_table(calibration: RepairCalibration, labelled: RepairCalibration | None) -> Table:
    rows = []
    for name, meaning in MEANING.items():
        e = calibration.estimates[name]
        row = [f"{name}: {meaning}", fixed(e.value), interval(e), f"{e.n:,}"]
        if labelled is not None:
            row.append(fixed(labelled.estimates[name].value))
        rows.append([*row, "" if e.defined else e.note])
    columns = ["probability that ...", "estimate", "interval", "n"]
    if labelled is not None:
        columns.append("from every label")
    return Table.of([*columns, "note"], rows)


def _facts(calibration: RepairCalibration) -> list[tuple[str, str, str]]:
    rows = []
    for name, what in (
        ("discrimination", "J, what a vote tells"),
        ("alpha", "repairs that mend"),
        ("beta", "repairs that break"),
        ("valid", "initial plans valid"),
    ):
        e = calibration.estimates[name]
        value = fixed(e.value, 2) if name == "discrimination" else percent_or_dash(e.value)
        low = "" if e.low != e.low else f"{e.level:.0%}: {fixed(e.low, 2)} to {fixed(e.high, 2)}"
        rows.append((what, value, low if e.defined else e.note))
    return rows


def _calibrated(calibration: RepairCalibration, again: str) -> Setting:
    return Setting(
        calibration.choice.policy,
        f"{calibration.choice.why[:1].upper()}{calibration.choice.why[1:]}.".replace("..", "."),
        [
            (
                "Write it with its parameters",
                f"haltwise calibrate repair {again} -o policy.toml",
            ),
            ("See what it would have done", f"haltwise replay {again} --policy policy.toml"),
        ],
    )


def _findings(
    validity: Sequence[Estimate],
    acceptance: Sequence[Estimate],
    calibration: RepairCalibration | None,
) -> list[Finding]:
    found = []
    known = [k for k, e in enumerate(validity) if e.defined]
    if len(known) > 1:
        first, last = validity[known[0]], validity[known[-1]]
        if last.high < first.low:
            found.append(
                Finding(
                    "Repair makes plans worse",
                    f"{percent(first.value)} of the initial plans are valid "
                    f"{interval(first)}, and {percent(last.value)} after {known[-1]} repairs "
                    f"{interval(last)}.",
                )
            )
        reported = acceptance[known[-1]]
        if reported.defined and reported.low > last.high:
            found.append(
                Finding(
                    "The loop reports more than is true",
                    f"After {known[-1]} repairs the votes accept {percent(reported.value)} of the "
                    f"plans; {percent(last.value)} are valid.",
                )
            )
    if calibration is not None and not calibration.identified:
        found.append(
            Finding(
                "The data do not tell whether a repair pays",
                f"{percent(calibration.sign.p_flip)} of the decisions would be reversed by another "
                f"fit that the data allow; {percent(calibration.eta)} are accepted.",
            )
        )
    return found
