"""``haltwise report``: recorded loops in, one page that people look at out; or its charts alone.

Knows options and where files go; what a report says is the affair of `haltwise.report`.
"""

from __future__ import annotations

from pathlib import Path

import click

from .number import Number
from .options import (
    answer_now_option,
    budget_option,
    json_option,
    k_option,
    level_option,
    replicates_option,
    seed_option,
)
from .outcomes import note_unused, outcomes_option, read_outcomes
from .output import print_json, print_skips
from .pages import Request, page_of, write_html, write_images
from .signal import signal_option
from .terminal import busy
from .where import where_option

SCHEMA = "haltwise.report/1"


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE|DIR",
    help="Where to write: a file for html, a folder for png and svg.  "
    "[default: report.html, or the folder charts]",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["html", "png", "svg"]),
    default="html",
    show_default=True,
    help="One page that works from disk, or every chart as an image.",
)
@k_option
@budget_option
@answer_now_option
@click.option(
    "--price",
    type=Number(min=0),
    default=0.05,
    show_default=True,
    help="Cost of a tool call, in right answers, that the setting is chosen at.",
)
@level_option
@replicates_option
@seed_option
@signal_option
@outcomes_option
@where_option
@json_option
def command(
    paths: tuple[str, ...],
    out: Path | None,
    format_: str,
    k: int,
    budget: int | None,
    answer_now: str | None,
    price: float,
    level: float,
    replicates: int,
    seed: int,
    signal: str | None,
    outcomes_path: str | None,
    where: tuple[str, ...],
    as_json: bool,
) -> None:
    """Make a page that people look at of recorded loops, or its charts as images.

    PATHS are files, folders, globs or URLs of recorded search or verify-repair loops, in any format
    that haltwise reads, or the folder of a study.
    The page is one file: it needs no network, and it works in light and dark and on paper.
    """
    outcomes = read_outcomes(outcomes_path)
    request = Request(
        paths,
        where,
        signal,
        outcomes=outcomes,
        answer_now=answer_now,
        k=k,
        budget=budget,
        price=price,
        level=level,
        replicates=replicates,
        seed=seed,
    )
    with busy("making the report"):
        built = page_of(request)
    note_unused(outcomes_path, outcomes)
    if format_ == "html":
        path = out or Path("report.html")
        written = [write_html(built.page, path / "report.html" if path.is_dir() else path)]
    else:
        written = write_images(built.page, out or Path("charts"), format_)
    if as_json:
        print_json(
            {
                "schema": SCHEMA,
                "written": [str(path) for path in written],
                "skipped": [skip.to_json() for skip in built.skipped],
            }
        )
    else:
        print_skips(built.skipped)
