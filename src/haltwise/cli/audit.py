"""``haltwise audit``: recorded episodes in, findings out.

Knows options, exit codes and where text goes; what is computed is `haltwise.audit`'s affair.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..core.errors import InputError
from .options import (
    budget_option,
    html_option,
    json_option,
    k_option,
    level_option,
    replicates_option,
    seed_option,
)
from .outcomes import note_unused, outcomes_option, read_outcomes
from .sharding import engine_option, memory_option, workers_option
from .signal import SIDE_CHANNEL, note_asked, signal_budget_option, signal_named, signal_option
from .where import filters, where_option

if TYPE_CHECKING:
    from ..audit.gather import Gathered
    from ..record.engine import Engine
    from .recorded import Recorded

FINDINGS = (
    "error-texts",
    "mechanical-contrast",
    "ignores-own-verdicts",
    "never-answers",
    "late-useful-results",
    "undefined-contrast",
)
"""The ids of `haltwise.audit.findings`, written out so that ``--help`` need not load them."""


@click.command()
@click.argument("paths", nargs=-1, required=True)
@where_option
@k_option
@budget_option
@level_option
@replicates_option
@seed_option
@click.option("--format", "format_", metavar="NAME", help="Reader to use instead of detecting it.")
@click.option(
    "--verdict",
    metavar="SOURCE",
    help="Whose verdicts to use where several are recorded, as in side_channel.",
)
@signal_option
@signal_budget_option
@outcomes_option
@workers_option
@engine_option
@memory_option
@click.option(
    "--resume",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Keep finished parts in this folder: interrupted, even by kill -9, the same command goes "
    "on with them. They are removed at the end.",
)
@html_option
@json_option
@click.option(
    "--fail-on",
    multiple=True,
    type=click.Choice(FINDINGS),
    metavar="FINDING",
    help=f"Exit with code 1 if this finding holds; repeatable. One of {', '.join(FINDINGS)}.",
)
def command(
    paths: tuple[str, ...],
    where: tuple[str, ...],
    k: int,
    budget: int | None,
    level: float,
    replicates: int,
    seed: int,
    format_: str | None,
    verdict: str | None,
    signal: str | None,
    signal_budget: int,
    outcomes_path: str | None,
    workers: int,
    engine: Engine,
    memory: int | None,
    resume: Path | None,
    html: Path | None,
    as_json: bool,
    fail_on: tuple[str, ...],
) -> int:
    """What do the agents in these traces do with their own verdicts?

    PATHS are files, folders, globs or URLs of recorded search episodes, in any format that haltwise
    reads. Records that cannot be used are named, never dropped in silence.
    """
    if signal and verdict:
        raise click.UsageError("--signal judges anew, --verdict takes recorded verdicts: give one")
    if signal and signal.startswith(SIDE_CHANNEL) and (workers > 1 or engine != "local"):
        raise click.UsageError("--signal side-channel asks one result after the other: 1 worker")
    outcomes = read_outcomes(outcomes_path)
    judge = signal_named(signal, signal_budget)

    from ..audit.document import document
    from ..audit.findings import findings
    from ..audit.gather import gather
    from ..audit.result import audit
    from .output import print_json, print_skips
    from .recorded import Recorded
    from .terminal import busy, counter

    with counter("episodes read") as count:
        gathered = gather(
            paths,
            format=format_,
            where=filters(where),
            source=verdict,
            signal=judge,
            outcomes=outcomes,
            workers=workers,
            engine=engine,
            memory=memory,
            resume=resume,
            progress=count,
        )
    note_unused(outcomes_path, outcomes)
    note_asked(judge)
    if not gathered.tally.episodes:
        raise InputError(_nothing(paths, where, gathered))
    if verdict is not None and not gathered.tally.judged:
        _check_source(verdict, Recorded(paths, where, format_=format_))
    with busy("computing the numbers"):
        done = audit(
            gathered.tally, k=k, budget=budget, level=level, replicates=replicates, seed=seed
        )
    if html is not None:
        from .pages import Request, page_of_search, write_html

        request = Request(
            paths,
            where,
            signal,
            verdict,
            format_,
            outcomes,
            k=k,
            level=level,
            replicates=replicates,
            seed=seed,
        )
        with busy("writing the page"):
            sample = gathered.tally.sample(done.budget)
            page = page_of_search(request, done, sample, gathered.skipped)
        write_html(page, html)
    if as_json:
        print_json(document(done, gathered.skipped))
    else:
        from .audit_view import show

        show(done, paths)
        print_skips(gathered.skipped)
    failed = {finding.id for finding in findings(done)} & set(fail_on)
    return 1 if failed else 0


def _check_source(verdict: str, recorded: Recorded) -> None:
    """Look once more at episodes without any verdict of this source: a name that none has?"""
    present = {
        name for episode in recorded.search() for step in episode.steps for name in step.verdicts
    }
    if verdict not in present:
        names = (
            f"present: {', '.join(sorted(present))}"
            if present
            else "no result was judged; --signal does it now"
        )
        raise InputError(f"--verdict {verdict}: no verdicts of this source; {names}")


def _nothing(paths: Sequence[str], where: Sequence[str], gathered: Gathered) -> str:
    """Return the sentence for an input in which nothing is usable."""
    from .output import reasons

    condition = f" with {' and '.join(where)}" if where else ""
    return f"no search episode in {', '.join(paths)}{condition}{reasons(gathered.skipped)}"
