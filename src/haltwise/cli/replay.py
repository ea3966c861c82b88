"""``haltwise replay PATH... --policy EXPR|FILE ...``: what a rule would have done on a record."""

from __future__ import annotations

import math
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..core.errors import InputError
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
from .output import note, print_json, print_skips, shown
from .pages import colophon, write_html
from .recorded import Recorded, signal_option, where_option
from .terminal import busy, print_table

if TYPE_CHECKING:
    from ..core.policy import Policy
    from ..replay.run import Replayed
    from ..replay.summary import ReplaySummary


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--policy",
    "policies",
    multiple=True,
    required=True,
    metavar="EXPR|FILE",
    help='A rule to replay: an expression such as "streak(5) | deadline(8)", or a policy file; '
    "repeatable. Every pair of rules is compared.",
)
@answer_now_option
@click.option(
    "--price",
    type=Number(min=0),
    default=0.05,
    show_default=True,
    help="Cost of a tool call or a repair, in right answers: utility = success - price x steps.",
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
    policies: tuple[str, ...],
    answer_now: str | None,
    price: float,
    level: float,
    replicates: int,
    seed: int,
    signal: str | None,
    outcomes_path: str | None,
    where: tuple[str, ...],
    html: Path | None,
    as_json: bool,
) -> None:
    """Replay stopping rules over recorded loops, without any new model call.

    A rule only truncates. On search loops it fires at decision points, and the outcome is then the
    answer-now branch; on verify-repair loops the outcome is the truth of the plan it delivers. What
    the record does not tell is left out and counted, never taken as 0.
    """
    from ..record.policy_file import load_policy
    from ..replay.summary import summarise

    rules = [load_policy(text) for text in policies]
    outcomes = read_outcomes(outcomes_path)
    recorded = Recorded(paths, where, signal, outcomes=outcomes)
    replayed = _replayed(rules, recorded, answer_now, price)
    if len(replayed.clusters) == 0:
        if recorded.others:
            raise InputError(_wrong_kind(rules, replayed.kind))
        raise recorded.nothing(f"{replayed.kind} loop")
    note_unused(outcomes_path, outcomes)
    with busy("comparing the rules"):
        summary = summarise(
            replayed.kind,
            policies,
            replayed.outcomes,
            replayed.clusters,
            price=price,
            level=level,
            replicates=replicates,
            seed=seed,
        )
    if html is not None:
        from ..report.replay_page import replay_page

        told = colophon(shlex.join(paths), len(recorded.skips))
        write_html(replay_page(summary, colophon=told), html)
    if as_json:
        skipped = [skip.to_json() for skip in recorded.skips]
        print_json({**summary.to_json(), "skipped": skipped})
    else:
        _print(summary)
        print_skips(recorded.skips)


def _replayed(
    rules: list[Policy], recorded: Recorded, answer_now: str | None, price: float
) -> Replayed:
    from ..replay.answer_now import read_answer_now
    from ..replay.run import replay_repair, replay_search

    kinds = {rule.kind for rule in rules} - {"any"}
    if len(kinds) > 1:
        raise InputError(
            "--policy: search and repair rules cannot be replayed together; "
            + "; ".join(f"{rule} is for {rule.kind} loops" for rule in rules)
        )
    table = None if answer_now is None else read_answer_now(answer_now)
    kind = kinds.pop() if kinds else recorded.kind()
    if kind == "search":
        replayed = replay_search(recorded.search(), rules, answer_now=table, price=price)
        if answer_now is not None and table is not None:
            table.refuse_strangers(answer_now)
        return replayed
    if table is not None:
        raise InputError("--answer-now is for search loops; verify-repair loops have no such table")
    return replay_repair(recorded.repair(), rules, price=price)


def _wrong_kind(rules: list[Policy], kind: str) -> str:
    """Return the sentence for rules of one kind over loops of the other."""
    words = [getattr(rule, "name", str(rule)) for rule in rules if rule.kind == kind]
    verb = "is" if len(words) == 1 else "are"
    other = "repair" if kind == "search" else "search"
    return f"--policy: {', '.join(words)} {verb} for {kind} loops; these are {other} loops"


def _print(summary: ReplaySummary) -> None:
    search = summary.kind == "search"
    steps, success = ("calls", "success") if search else ("repairs", "validity")
    columns = ["policy", success, steps, *([] if search else ["votes"])]
    columns += [f"utility at {summary.price:g}", "miss", "regret"]
    print_table(
        f"{summary.loops:,} {summary.kind} loops, {summary.clusters:,} clusters",
        columns,
        [
            [
                policy.policy,
                shown(policy.success, 4),
                shown(policy.steps, 2),
                *([] if search else [shown(policy.votes, 1, interval=False)]),
                shown(policy.utility, 4),
                shown(policy.miss, 3, interval=False),
                shown(policy.regret, 3, interval=False),
            ]
            for policy in summary.policies
        ],
    )
    if summary.comparisons:
        click.echo()
        print_table(
            "Paired differences",
            ["a - b", success, "p", "p (Holm)", "utility"],
            [
                [
                    f"{pair.a}  -  {pair.b}",
                    shown(pair.difference, 4),
                    _p(pair.p),
                    _p(pair.p_holm),
                    shown(pair.utility, 4),
                ]
                for pair in summary.comparisons
            ],
        )
    for policy in summary.policies:
        for text in dict.fromkeys([policy.success.note, policy.steps.note]):
            if text:
                note(f"{policy.policy}: {text}")


def _p(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4f}"
