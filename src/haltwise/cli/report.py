"""``haltwise report``: recorded loops in, one page that people look at out; or its charts alone.

Knows options and where files go; what a report says is the affair of `haltwise.report`.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..core.errors import InputError
from .number import Number
from .options import json_option, level_option, replicates_option, seed_option
from .output import note, print_json, print_skips, reasons
from .recorded import Recorded
from .signal import signal_named, signal_option
from .where import filters, where_option

if TYPE_CHECKING:
    from ..report.page import Page

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
@click.option(
    "--k",
    type=click.IntRange(1),
    default=5,
    show_default=True,
    help="Useless results in a row that findings look at.",
)
@click.option(
    "--budget",
    type=click.IntRange(2, 1000),
    help="Actions an episode may take, the answer included.  [default: as recorded, else 8]",
)
@click.option(
    "--answer-now",
    type=str,
    metavar="TABLE",
    help="What forced answers were worth: JSON lines of question_id, success and perhaps t; used "
    "where the record has no answer-now branch of its own.",
)
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
    where: tuple[str, ...],
    as_json: bool,
) -> None:
    """Make a page that people look at of recorded loops, or its charts as images.

    PATHS are files, folders, globs or URLs of recorded episodes, in any format that haltwise reads.
    The page is one file: it needs no network, and it works in light and dark and on paper.
    """
    from ..audit.gather import gather
    from ..audit.result import audit
    from ..replay.answer_now import read_answer_now
    from ..report.search.details import details
    from ..report.search.page import search_page

    gathered = gather(paths, where=filters(where), signal=signal_named(signal))
    if not gathered.tally.episodes:
        raise InputError(f"no search episode in {', '.join(paths)}{reasons(gathered.skipped)}")
    done = audit(gathered.tally, k=k, budget=budget, level=level, replicates=replicates, seed=seed)
    found = details(
        Recorded(paths, where, signal).search(),
        k=k,
        budget=done.budget,
        price=price,
        answer_now=None if answer_now is None else read_answer_now(answer_now),
    )
    page = search_page(
        done,
        gathered.tally.sample(done.budget),
        found,
        again=again(paths, answer_now),
        price=price,
        replicates=replicates,
        seed=seed,
    )
    written = write(page, out, format_)
    if as_json:
        print_json(
            {
                "schema": SCHEMA,
                "written": [str(path) for path in written],
                "skipped": [skip.to_json() for skip in gathered.skipped],
            }
        )
    else:
        for path in written:
            note(f"written: {path}")
        print_skips(gathered.skipped)


def again(paths: Sequence[str], answer_now: str | None) -> str:
    """Return what was read, as it is typed for another command."""
    table = "" if answer_now is None else f" --answer-now {shlex.quote(answer_now)}"
    return shlex.join(paths) + table


def write(page: Page, out: Path | None, format_: str = "html") -> list[Path]:
    """Write a page, or its charts, and return the paths.

    Raises:
        InputError: the place cannot be written to.
    """
    from ..report import render, write_image
    from ..report.files import write_atomically

    if format_ == "html":
        path = out or Path("report.html")
        if path.is_dir():
            path /= "report.html"
        write_atomically(path, render(page).encode("utf-8"))
        return [path]
    folder = out or Path("charts")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made: {error.strerror}") from None
    drawn = [figure for figure in page.figures if figure.spec is not None]
    files = [folder / f"{figure.name}.{format_}" for figure in drawn]
    for figure, path in zip(drawn, files, strict=True):
        write_image(figure, path)
    return files
