"""``haltwise study analyze``: what a study found, for people or as one JSON document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..core.errors import InputError
from .options import html_option, json_option, replicates_option
from .output import note, print_json, shown
from .pages import colophon, write_html
from .terminal import busy, print_table

if TYPE_CHECKING:
    from ..study.search.analyze import StudyAnalysis


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--published",
    type=click.Path(path_type=Path),
    help="Published values (published_values.json) to show beside.",
)
@click.option(
    "--verifier",
    help="Of a verify-repair study in which several verifiers voted: count the votes of this one.",
)
@replicates_option
@html_option
@json_option
def command(
    folder: Path,
    published: Path | None,
    verifier: str | None,
    replicates: int,
    html: Path | None,
    as_json: bool,
) -> None:
    """Analyse the study in FOLDER: of a search study success, contrast, judges and comparisons; of
    a verify-repair study validity against acceptance, noise and every rule, cross-fitted.
    """
    if study_kind(folder) == "repair":
        from .repair_study_view import analyse_and_show

        analyse_and_show(folder, verifier, replicates, as_json, html)
        return
    if verifier is not None:
        raise InputError(f"--verifier is for verify-repair studies; {folder} is a search study")
    from ..study.search.analyze import analyze
    from ..study.search.study_folder import StudyFolder

    values = _published(published) if published else {}
    with busy("analysing the study"):
        found = analyze(StudyFolder(folder), replicates=replicates)
    if html is not None:
        from ..report.search.study_page import study_page

        write_html(study_page(found, colophon=colophon(str(folder), 0)), html)
    if as_json:
        document = found.to_json()
        if values:
            document["published"] = values
        print_json(document)
        return
    _show(found)
    if values:
        rows = [
            (name, f"{row['mean6']:.3f}", f"{row['delta']:.3f}") for name, row in values.items()
        ]
        print_table("Published, for comparison", ["model and arm", "mean6", "contrast"], rows)


def study_kind(folder: Path) -> str:
    """Return "search" or "repair"; a folder without a study counts as "search".

    Raises:
        InputError: ``study.json`` is not JSON.
    """
    try:
        document = json.loads((folder / "study.json").read_text("utf-8"))
    except OSError:
        return "search"
    except ValueError as error:
        raise InputError(f"{folder / 'study.json'}: not JSON ({error})") from error
    repair = isinstance(document, dict) and "repair" in str(document.get("schema"))
    return "repair" if repair else "search"


def _published(path: Path) -> dict[str, Any]:
    try:
        values: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: {error}") from error
    return values


def _show(found: StudyAnalysis) -> None:
    plan = found.plan
    click.echo(f"{plan.model} on {plan.task}, plan {plan.digest}")
    click.echo(f"plan not kept: {found.kept}" if found.kept else "plan kept")
    rows = []
    for name, arm in found.arms.items():
        withheld = bool(arm.quality["side_channel"].withheld)
        contrast = "withheld" if withheld else shown(arm.audit.contrast.estimate)
        rows.append(
            (
                name,
                str(arm.audit.episodes),
                shown(arm.audit.mean6),
                shown(arm.utility),
                shown(arm.audit.calls),
                contrast,
            )
        )
    columns = ["arm", "episodes", "mean6", f"utility at {plan.price:g}", "calls", "contrast"]
    print_table("Arms", columns, rows)
    regimes = list(dict.fromkeys(r for arm in found.arms.values() for r in arm.audit.success))
    print_table(
        "Success by regime",
        ["arm", *regimes],
        [
            (
                name,
                *(
                    shown(arm.audit.success[r], interval=False) if r in arm.audit.success else "-"
                    for r in regimes
                ),
            )
            for name, arm in found.arms.items()
        ],
    )
    print_table(
        "Judges against the truth",
        ["arm", "source", "useful on supporting", "useless on failed"],
        [
            (name, source, shown(item.useful_on_supporting), shown(item.useless_on_failed))
            for name, arm in found.arms.items()
            for source, item in arm.quality.items()
        ],
    )
    print_table(
        "Differences",
        ["arm", "against", "endpoint", "difference", "p", "p (Holm)"],
        [
            (
                item.arm,
                item.against,
                item.endpoint,
                shown(item.difference),
                _p(item.p),
                _p(item.p_holm),
            )
            for item in found.comparisons
        ],
    )
    if found.replayed:
        print_table(
            "Replay against really enforced runs",
            ["arm", "replayed", "enforced", "same outcome"],
            [
                (item.arm, shown(item.replayed), shown(item.enforced), shown(item.agree))
                for item in found.replayed
            ],
        )
    for text in found.notes:
        note(text)


def _p(value: float) -> str:
    return "-" if value != value else f"{value:.4f}"
