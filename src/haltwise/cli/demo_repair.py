"""The part of ``haltwise demo`` on verify-repair loops: recorded ones analysed, a few run live."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .terminal import print_table, say

if TYPE_CHECKING:
    from ..record.episode import RepairEpisode
    from ..study.recording import Recording
    from ..study.repair.analysis import RepairStudy

RULES = ("fixed(0)", "fixed", "majority", "vrr", "auto")
TITLES = {
    "fixed(0)": "no repair",
    "fixed": "repair always",
    "majority": "until most accept",
    "vrr": "vrr",
    "auto": "auto",
}
"""What the demo calls the rules."""
LIVE_POLICY = "majority"
"""The rule that people write first: repair until most votes accept."""


@dataclass(frozen=True)
class Cell:
    """One verifier with one repairer."""

    verifier: str
    repairer: str
    study: RepairStudy


def analysed_repair(recording: Recording[RepairEpisode]) -> list[Cell]:
    """Analyse every verifier with every repairer of the recording."""
    from ..study.repair.analysis import analyse
    from ..study.repair.views import of_view, views

    by_arm: dict[str, list[RepairEpisode]] = {}
    for episode in recording.episodes:
        by_arm.setdefault(str(episode.arm), []).append(episode)
    return [
        Cell(view, arm.split("/")[1], analyse(of_view(episodes, view), RULES, replicates=500))
        for arm, episodes in by_arm.items()
        for view in views(episodes)
    ]


def show_repair_recording(recording: Recording[RepairEpisode]) -> list[Cell]:
    """Show what every verifier and repairer did to the plans, and what rules would have done."""
    header = recording.header
    say("\nPart two: verify-repair loops, recorded")
    problems = len({episode.cluster_id for episode in recording.episodes})
    say(
        f"The same model solves {problems} problems, votes on its solutions in three ways (a bare "
        "yes or no, after a result, after steps) and repairs them in three ways, three times each, "
        f"whatever the votes say. Recorded {header.get('date') or 'at an unknown date'} with "
        "`make recording`. J is what a vote tells (0 nothing, 1 everything), alpha the share of "
        "wrong plans that a repair mends, beta the share of right ones that it breaks.\n"
    )
    cells = analysed_repair(recording)
    rows = []
    for cell in cells:
        known = cell.study.labelled.estimates
        found = {row.policy: row for row in cell.study.crossfit.summary.policies}
        rows.append(
            (
                cell.repairer,
                cell.verifier,
                *(_number(known[name].value) for name in ("discrimination", "alpha", "beta")),
                "yes" if cell.study.identified else "no",
                *(f"{found[rule].success.value:.0%}" for rule in RULES),
            )
        )
    columns = ["repairer", "verifier", "J", "alpha", "beta", "sign known", *TITLES.values()]
    print_table("Really right at the end, by rule", columns, rows)
    return cells


def repair_lines(cells: list[Cell]) -> list[str]:
    """Return what the recording shows of repair, in two sentences."""
    by_repairer = {cell.repairer: cell.study.validity_by_round for cell in cells}
    worst = min(by_repairer, key=lambda name: by_repairer[name][-1].value)
    rounds = by_repairer[worst]
    ordered = sorted(cells, key=_gain)
    return [
        f"Repaired {len(rounds) - 1} times whatever the votes say ({worst}), "
        f"{rounds[-1].value:.0%} of its solutions are right; {rounds[0].value:.0%} were at "
        "the start.",
        "The rule that haltwise chooses, calibrated on other problems, does most with "
        f"{_outcome(ordered[-1])}, and least with {_outcome(ordered[0])}.",
    ]


def _gain(cell: Cell) -> float:
    delivered = _delivered(cell)
    return delivered["auto"] - delivered["fixed(0)"]


def _outcome(cell: Cell) -> str:
    delivered = _delivered(cell)
    return (
        f"{cell.repairer} under {cell.verifier} votes: {delivered['auto']:.0%} right, where no "
        f"repair gives {delivered['fixed(0)']:.0%} and repair until most votes accept "
        f"{delivered['majority']:.0%}"
    )


def _delivered(cell: Cell) -> dict[str, float]:
    return {row.policy: row.success.value for row in cell.study.crossfit.summary.policies}


def run_repair_live(recording: Recording[RepairEpisode], *, problems: int, seconds: float) -> None:
    """Run a few loops under the rule that people write first, and show every round.

    Args:
        recording: where the problems come from.
        problems: how many.
        seconds: no loop is begun after that long.
    """
    from ..core.expression import parse_policy
    from ..study.repair.inspect_task import study_task
    from ..study.repair.loop import Setting, play
    from ..study.repair.models import inspect_models
    from ..study.repair.roles import Role
    from ..study.runner import get_study_model

    task = study_task("arithmetic", "bubblewrap")
    model = get_study_model("haltwise/embedded", {})
    ask = inspect_models(dict.fromkeys(Role, model))
    setting = Setting(
        task, "haltwise/embedded", parse_policy(LIVE_POLICY, defaults={"rounds": 2}),
        votes=3, rounds=2, verifiers=("result",),
    )  # fmt: skip
    names = list(dict.fromkeys(str(episode.question_id) for episode in recording.episodes))
    begun = time.monotonic()
    say("\nVerify and repair, live: repair until most of 3 votes accept, twice at most")
    for name in names[:problems]:
        if time.monotonic() - begun > seconds:
            say("The time of the demo is up: the other problems are left out.")
            return
        problem = next(item for item in task.problems if item.problem_id == name)
        say(f"\n{problem.text}")
        episode = asyncio.run(play(problem, setting, ask))
        for step in episode.steps:
            what = "first answer" if step.round == 0 else f"repair {step.round}"
            truth = "right" if step.valid else "wrong"
            say(f"    {what}: {step.accepts} of {step.votes} votes accept; really {truth}")
        say(f"  delivered: {'right' if episode.outcome.success else 'wrong'}")


def _number(value: float) -> str:
    return "-" if value != value else f"{value:.2f}"
