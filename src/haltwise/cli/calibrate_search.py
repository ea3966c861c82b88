"""``haltwise calibrate search PATH... -o policy.toml``: how sources recover, and when to stop."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .number import Number
from .options import (
    answer_now_option,
    html_option,
    json_option,
    level_option,
    replicates_option,
    seed_option,
)
from .outcomes import note_unused, outcomes_option, read_outcomes
from .output import note, print_json, print_skips, refuse_overwriting, shown
from .pages import colophon, write_html
from .recorded import Recorded, signal_option, where_option
from .terminal import busy, print_table, say

if TYPE_CHECKING:
    from ..calibrate.recovery import RecoveryFit


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="The policy file to write.",
)
@answer_now_option
@click.option(
    "--price",
    type=Number(min=0),
    default=0.0,
    show_default=True,
    help="Cost of a tool call, in right answers.",
)
@click.option(
    "--budget",
    type=click.IntRange(2, 100),
    default=8,
    show_default=True,
    help="Actions that the loop may take, the answer included.",
)
@level_option
@replicates_option
@seed_option
@signal_option
@outcomes_option
@where_option
@html_option
@json_option
def command(
    paths: tuple[str, ...],
    output: str,
    answer_now: str | None,
    price: float,
    budget: int,
    level: float,
    replicates: int,
    seed: int,
    signal: str | None,
    outcomes_path: str | None,
    where: tuple[str, ...],
    html: Path | None,
    as_json: bool,
) -> None:
    """Fit how sources recover from a run of useless results, and write the stopping table.

    The file's rule is `recovery`; in an expression, recovery("policy.toml", trust=.5) protects it
    against fault durations that were never recorded.
    """
    from ..calibrate.recovery import estimate_recovery
    from ..record.policy_file import PolicyFile, write_policy_file
    from ..replay.answer_now import read_answer_now

    refuse_overwriting(output, paths)
    outcomes = read_outcomes(outcomes_path)
    recorded = Recorded(paths, where, signal, outcomes=outcomes)
    table = None if answer_now is None else read_answer_now(answer_now)
    episodes = list(recorded.search())
    if not episodes:
        raise recorded.nothing("search loop")
    with busy("fitting the recovery of sources"):
        fit = estimate_recovery(
            episodes,
            table,
            budget=budget,
            price=price,
            level=level,
            replicates=replicates,
            seed=seed,
        )
    note_unused(outcomes_path, outcomes)
    if answer_now is not None and table is not None:
        table.refuse_strangers(answer_now)
    content = PolicyFile("search", "recovery", {"recovery": fit.model}, fit.evidence())
    write_policy_file(output, content)
    if html is not None:
        from ..report.search.calibration_page import recovery_page

        typed = shlex.join(paths)
        told = colophon(typed, len(recorded.skips))
        write_html(recovery_page(fit, again=typed, policy=output, colophon=told), html)
    if as_json:
        skipped = [skip.to_json() for skip in recorded.skips]
        print_json({**fit.to_json(), "skipped": skipped})
        return
    _print(fit)
    for text in fit.notes:
        note(f"note: {text}")
    print_skips(recorded.skips)
    note(f"written: {output}; try: haltwise replay {paths[0]} --policy {output}")


def _print(fit: RecoveryFit) -> None:
    budget = fit.model.budget
    fresh, later = fit.hazard
    print_table(
        f"Recovery of the source, {fit.loops:,} loops, {fit.clusters:,} clusters",
        ["useless in a row", "P(recovers next), nothing useful so far", "after a useful result"],
        [[str(run), shown(fresh[run - 1]), shown(later[run - 1])] for run in range(1, budget - 1)],
    )
    click.echo()
    print_table(
        f"Stopping table at price {fit.model.price:g}, budget {budget}",
        ["actions left", "worth of a recovery", "answer is forced at a run of"],
        [
            [
                str(left),
                shown(fit.useful_value[left - 1]) if left <= budget - 2 else "",
                "any" if left == 1 else ", ".join(map(str, fit.model.stop[left - 1])) or "none",
            ]
            for left in range(budget - 1, 0, -1)
        ],
    )
    say(
        f"\nAnswer now: {shown(fit.answer_now[0])} with nothing useful so far, "
        f"{shown(fit.answer_now[1])} after a useful result"
    )
