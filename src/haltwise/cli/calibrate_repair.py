"""``haltwise calibrate repair PATH... -o policy.toml``: vote noise, repair, and when to stop."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .number import Number
from .options import html_option, json_option, level_option, seed_option
from .output import note, print_json, print_skips, refuse_overwriting, shown
from .pages import colophon, write_html
from .recorded import Recorded, where_option
from .terminal import busy, print_table, say

if TYPE_CHECKING:
    from ..calibrate.repair import RepairCalibration

MEANING = {
    "rho0": "P(a vote accepts | plan invalid)",
    "rho1": "P(a vote rejects | plan valid)",
    "discrimination": "J = 1 - rho0 - rho1, what a vote tells",
    "icc": "correlation of votes on one plan",
    "valid": "P(initial plan valid)",
    "alpha": "P(valid after a repair | invalid before)",
    "beta": "P(invalid after a repair | valid before)",
}
"""The parameters in the order in which they are shown, each in words."""


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="The policy file to write.",
)
@click.option(
    "--labelled-max",
    type=click.IntRange(min=0),
    default=300,
    show_default=True,
    help="Labelled transitions that may be used; those of further loops are hidden.",
)
@click.option(
    "--eta",
    type=Number(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Share of reversed decisions up to which the sign of the gain counts as identified.",
)
@click.option(
    "--policy",
    default="auto",
    show_default=True,
    metavar="EXPR",
    help="The rule to write. Plain auto falls back where the evidence asks for it.",
)
@click.option(
    "--method",
    type=click.Choice(["em", "semi", "labels", "chain"]),
    help="How votes are fitted: em (label-free), semi (labelled plans clamped), labels (labelled "
    "plans alone), chain (whole loops). Left out: the one that uses all there is.",
)
@level_option
@seed_option
@where_option
@html_option
@json_option
def command(
    paths: tuple[str, ...],
    output: str | None,
    labelled_max: int,
    eta: float,
    policy: str,
    method: str | None,
    level: float,
    seed: int,
    where: tuple[str, ...],
    html: Path | None,
    as_json: bool,
) -> None:
    """Fit the votes and the repairs of recorded loops, and write the rule that they support."""
    from ..calibrate.repair import calibrate_repair
    from ..record.policy_file import write_policy_file
    from ..record.repair_table import RepairTable

    if output is not None:
        refuse_overwriting(output, paths)
    recorded = Recorded(paths, where)
    table = RepairTable.from_episodes(recorded.repair())
    if len(table) == 0:
        raise recorded.nothing("verify-repair loop")
    with busy("fitting votes and repairs"):
        calibration = calibrate_repair(
            table,
            labelled_max=labelled_max,
            eta=eta,
            policy=policy,
            method=method,
            level=level,
            seed=seed,
        )
    if output is not None:
        write_policy_file(output, calibration.policy_file())
    if html is not None:
        from ..report.repair.page import calibration_page

        typed = shlex.join(paths)
        told = colophon(typed, len(recorded.skips))
        write_html(calibration_page(table, calibration, again=typed, colophon=told), html)
    if as_json:
        skipped = [skip.to_json() for skip in recorded.skips]
        print_json({**calibration.to_json(), "skipped": skipped})
        return
    _print(calibration)
    for text in calibration.notes:
        note(f"note: {text}")
    print_skips(recorded.skips)
    if output is None:
        note("nothing written; to write the policy file add: -o policy.toml")
    else:
        note(f"written: {output}; try: haltwise replay {paths[0]} --policy {output}")


def _print(calibration: RepairCalibration) -> None:
    estimates = calibration.estimates
    counts = {
        "alpha": calibration.fit.n_invalid,
        "beta": calibration.fit.n_valid,
    }
    print_table(
        f"Noise of {calibration.loops:,} loops ({calibration.words})",
        ["", "estimate", "n", "meaning"],
        [
            [name, shown(estimates[name]), f"{counts.get(name, estimates[name].n):,}", meaning]
            for name, meaning in MEANING.items()
        ],
    )
    flips = f"{calibration.sign.p_flip:.1%} of decisions, accepted {calibration.eta:.1%}"
    if calibration.identified:
        verdict = f"identified. Another fit that the data allow would reverse {flips}."
    else:
        verdict = f"NOT identified. Another fit that the data allow would reverse {flips}."
    say(f"\nSign of the gain of a repair: {verdict}")
    say(f"Rule: {calibration.choice.policy}\nWhy: {calibration.choice.why}")
