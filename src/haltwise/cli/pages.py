"""Reports for the commands: what was read becomes a page, a page becomes a file.

Knows which report fits which input, and where files go; what a report says is the affair of
`haltwise.report`.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..core.errors import InputError
from ..record.episode import SearchEpisode
from .output import note, reasons
from .recorded import Recorded
from .signal import signal_named
from .where import filters

if TYPE_CHECKING:
    from ..audit.result import Audit
    from ..audit.tally import Sample
    from ..record.outcomes import Outcomes
    from ..record.repair_table import RepairTable
    from ..record.skip import Skip
    from ..report.page import Page


@dataclass(frozen=True)
class Request:
    """What a report is to be made of, as it was typed."""

    paths: tuple[str, ...]
    where: tuple[str, ...] = ()
    signal: str | None = None
    verdict: str | None = None
    reader: str | None = None
    outcomes: Outcomes | None = None
    answer_now: str | None = None
    k: int = 5
    budget: int | None = None
    price: float = 0.05
    level: float = 0.95
    replicates: int = 2000
    seed: int = 0

    @property
    def typed(self) -> str:
        """What was read, as it is typed for another command."""
        parts = list(self.paths)
        for condition in self.where:
            parts += ["--where", condition]
        if self.signal is not None:
            parts += ["--signal", self.signal]
        if self.answer_now is not None:
            parts += ["--answer-now", self.answer_now]
        return shlex.join(parts)


@dataclass(frozen=True)
class Built:
    """A page, and what was passed over on the way."""

    page: Page
    skipped: list[Skip] = field(default_factory=list)


def page_of(request: Request) -> Built:
    """Return the report that fits the input: a study, search loops or verify-repair loops.

    Raises:
        InputError: nothing there is usable.
    """
    folder = Path(request.paths[0])
    if len(request.paths) == 1 and (folder / "study.json").is_file():
        return Built(page_of_study(folder, request.replicates))
    from ..audit.gather import gather
    from ..audit.result import audit

    gathered = gather(
        request.paths,
        where=filters(request.where),
        signal=signal_named(request.signal),
        outcomes=request.outcomes,
    )
    if not gathered.tally.episodes:
        return page_of_repair(request, gathered.skipped)
    done = audit(
        gathered.tally,
        k=request.k,
        budget=request.budget,
        level=request.level,
        replicates=request.replicates,
        seed=request.seed,
    )
    sample = gathered.tally.sample(done.budget)
    return Built(page_of_search(request, done, sample, gathered.skipped), gathered.skipped)


def page_of_search(
    request: Request, done: Audit, sample: Sample, skipped: Sequence[Skip] = ()
) -> Page:
    """Return the report on search loops, whose audit is there already."""
    from ..replay.answer_now import read_answer_now
    from ..report.search.details import details
    from ..report.search.page import search_page

    episodes = Recorded(
        request.paths, request.where, request.signal, request.reader, request.outcomes
    ).search()
    table = None if request.answer_now is None else read_answer_now(request.answer_now)
    found = details(
        _only(episodes, request.verdict),
        k=request.k,
        budget=done.budget,
        price=request.price,
        answer_now=table,
    )
    return search_page(
        done,
        sample,
        found,
        again=request.typed,
        price=request.price,
        replicates=request.replicates,
        seed=request.seed,
        colophon=colophon(request.typed, len(skipped)),
    )


def page_of_repair(request: Request, skipped: Sequence[Skip] = ()) -> Built:
    """Return the report on verify-repair loops: of a study where every round is graded."""
    from ..record.repair_table import RepairTable

    recorded = Recorded(request.paths, request.where, outcomes=request.outcomes)
    episodes = list(recorded.repair())
    if not episodes:
        condition = f" with {' and '.join(request.where)}" if request.where else ""
        raise InputError(
            f"no loop in {', '.join(request.paths)}{condition}{reasons(list(skipped))}"
        )
    table = RepairTable.from_episodes(episodes)
    told = colophon(request.typed, len(recorded.skips))
    if graded(table) and len({episode.arm for episode in episodes}) == 1:
        from ..report.repair.page import study_page
        from ..study.repair.analysis import analyse

        problems = int(table.cluster.max()) + 1
        if problems >= FEWEST and table.columns > 1:
            study = analyse(
                episodes,
                folds=min(5, problems // 4),
                replicates=request.replicates,
                level=request.level,
                seed=request.seed,
            )
            return Built(study_page(study, table, colophon=told), recorded.skips)
    return Built(_loops_page(request, table, told), recorded.skips)


FEWEST = 40
"""Problems from which rules are compared cross-fitted."""


def graded(table: RepairTable) -> bool:
    """Return whether every round that was reached has a known truth."""
    import numpy as np

    from ..record.repair_table import UNKNOWN

    inside = np.arange(table.columns) < table.length[:, None]
    return not bool((inside & (table.valid == UNKNOWN)).any())


def _loops_page(request: Request, table: RepairTable, told: Sequence[tuple[str, str]]) -> Page:
    from ..calibrate.repair import calibrate_repair
    from ..report.repair.page import loops_page

    calibration, why_not = None, ""
    try:
        calibration = calibrate_repair(table, level=request.level, seed=request.seed)
    except InputError as error:
        why_not = str(error)
    return loops_page(
        table,
        calibration,
        why_not,
        None,
        again=request.typed,
        level=request.level,
        colophon=told,
    )


def page_of_study(folder: Path, replicates: int) -> Page:
    """Return the report of a study, finished or not.

    Raises:
        InputError: the folder holds no study, or nothing to analyse yet.
    """
    from .study_analyze import study_kind

    if study_kind(folder) == "repair":
        from .repair_study_view import analysed, repair_study_page

        return repair_study_page(folder, *analysed(folder, None, replicates))
    from ..report.search.study_page import study_page as search_study_page
    from ..study.search.analyze import analyze
    from ..study.search.study_folder import StudyFolder

    found = analyze(StudyFolder(folder), replicates=replicates)
    return search_study_page(found, colophon=colophon(str(folder), 0))


def colophon(typed: str, skipped: int) -> list[tuple[str, str]]:
    """Return how a report came about: by which version, when, from what."""
    from datetime import UTC, datetime

    from .. import __version__

    rows = [
        ("made by", f"haltwise {__version__}"),
        ("on", f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"),
        ("from", typed),
    ]
    if skipped:
        rows.append(("passed over", f"{skipped:,} records; named by haltwise report --json"))
    return rows


def write_html(page: Page, path: Path) -> Path:
    """Write a page to a file, which appears whole or not at all, and say so on stderr.

    Raises:
        InputError: the place cannot be written to, or the extra ``report`` is not installed.
    """
    from ..report import render
    from ..report.files import write_atomically

    write_atomically(path, render(page).encode("utf-8"))
    note(f"written: {path}")
    return path


def write_images(page: Page, folder: Path, format: str) -> list[Path]:
    """Write every chart of a page into a folder.

    Raises:
        InputError: the folder cannot be made or written to.
    """
    from ..report import write_image

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made: {error.strerror}") from None
    files = []
    for figure in page.figures:
        if figure.spec is not None:
            files.append(folder / f"{figure.name}.{format}")
            write_image(figure, files[-1])
    note(f"written: {len(files)} charts into {folder}")
    return files


def _only(episodes: Iterable[SearchEpisode], source: str | None) -> Iterator[SearchEpisode]:
    """Yield the episodes with the verdicts of one source alone; None leaves them as they are."""
    for episode in episodes:
        if source is not None:
            steps = [
                replace(step, verdicts={n: v for n, v in step.verdicts.items() if n == source})
                for step in episode.steps
            ]
            episode = replace(episode, steps=steps)
        yield episode
