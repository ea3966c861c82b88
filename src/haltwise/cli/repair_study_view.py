"""What a verify-repair study found, as tables for people or as one JSON document."""

from __future__ import annotations

from math import nan
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..core.errors import InputError
from ..record.episode import RepairEpisode
from ..study.repair.analysis import REPORTED, RepairStudy, analyse
from ..study.repair.plan import Plan
from ..study.repair.study_folder import StudyFolder
from ..study.repair.views import of_view
from .output import note, print_json, shown
from .pages import colophon, write_html
from .terminal import busy, print_table

if TYPE_CHECKING:
    from ..report.page import Page


def analysed(
    folder: Path, verifier: str | None, replicates: int
) -> tuple[RepairStudy, list[RepairEpisode]]:
    """Return the analysis of a study's ungated record, and that record.

    Raises:
        InputError: the study has no ungated record, or too few problems.
    """
    full = [episode for episode in StudyFolder(folder).episodes() if episode.outcome.censored]
    if not full:
        raise InputError(
            f"{folder} has no loop whose every round was run; type: haltwise study repair "
            "--record full --out DIR ..."
        )
    if verifier is not None:
        full = of_view(full, verifier)
    problems = len({episode.cluster_id for episode in full})
    return analyse(full, folds=min(5, max(2, problems // 4)), replicates=replicates), full


def repair_study_page(folder: Path, found: RepairStudy, full: list[RepairEpisode]) -> Page:
    """Return the report of a study."""
    from ..record.repair_table import RepairTable
    from ..report.repair.page import study_page

    return study_page(found, RepairTable.from_episodes(full), colophon=colophon(str(folder), 0))


def analyse_and_show(
    folder: Path, verifier: str | None, replicates: int, as_json: bool, html: Path | None
) -> None:
    """Analyse the ungated record of a study and print what it says.

    Args:
        folder: the study.
        verifier: the verifier whose votes count, where several voted; None: all of them.
        replicates: bootstrap resamples.
        as_json: whether to print one JSON document.
        html: where to write the report; None writes none.

    Raises:
        InputError: the study has no ungated record, or too few problems.
    """
    study = StudyFolder(folder)
    plan = study.plan()
    episodes = list(study.episodes())
    with busy("analysing the study"):
        found, full = analysed(folder, verifier, replicates)
    if html is not None:
        write_html(repair_study_page(folder, found, full), html)
    gated: dict[str, list[bool]] = {}
    for episode in episodes:
        if not episode.outcome.censored:
            gated.setdefault(str(episode.arm), []).append(bool(episode.outcome.success))
    if as_json:
        document = found.to_json()
        document["plan"] = plan.digest
        document["reported"] = _reported(plan)
        document["gated"] = {
            arm: {"loops": len(kept), "valid": sum(kept)} for arm, kept in gated.items()
        }
        document["skipped"] = []
        print_json(document)
        return
    _show(found, plan)
    if gated:
        rows = [(arm, f"{sum(kept)} of {len(kept)}") for arm, kept in gated.items()]
        print_table("Really gated", ["arm", "valid"], rows)


def _reported(plan: Plan) -> dict[str, float]:
    """Return what was published in the setting of a study: GSM8K under stress."""
    return REPORTED if plan.task.startswith("gsm8k") and plan.mismatch else {}


def _show(found: RepairStudy, plan: Plan) -> None:
    published = _reported(plan)
    click.echo(f"{found.loops} loops on {found.problems} problems, {found.arm}, plan {plan.digest}")
    print_table(
        "Round by round, nothing stopped",
        ["round", "really valid", "accepted by most votes"],
        [
            (str(k), shown(valid), shown(accepted))
            for k, (valid, accepted) in enumerate(
                zip(found.validity_by_round, found.acceptance_by_round, strict=True)
            )
        ],
    )
    labelled = found.labelled.estimates
    print_table(
        "Noise",
        ["", "estimated", "from every label"],
        [
            (name, shown(estimate), shown(labelled[name]))
            for name, estimate in found.estimated.estimates.items()
        ],
    )
    sign = "identified" if found.identified else "not identified"
    click.echo(f"sign of the gain: {sign} (P_flip {found.estimated.sign.p_flip:.3f})")
    if found.vote_rates:
        print_table(
            "Share of votes that accept",
            ["plans", "sampled votes", "exact"],
            [
                (kind, shown(rates.sampled), shown(rates.exact))
                for kind, rates in found.vote_rates.items()
            ],
        )
    other = found.otherwise
    click.echo(f"vrr guarded in {other.guarded} of {other.folds} folds")
    print_table(
        "Rules, decided by what the other folds told",
        ["rule", "valid", "repairs", "votes", "utility", *(["published"] if published else [])],
        [
            (
                policy.policy,
                shown(policy.success),
                shown(policy.steps, 2, interval=False),
                shown(policy.votes, 1, interval=False),
                shown(policy.utility, interval=False),
                *([f"{published.get(policy.policy, nan):.3f}"] if published else []),
            )
            for policy in found.crossfit.summary.policies
        ],
    )
    for text in found.estimated.notes:
        note(text)
