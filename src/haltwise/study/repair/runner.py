"""Runs a verify-repair study: its folder, then its episodes. Ignorant of what an episode is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..runner import Tell, finish
from .inspect_task import study_task
from .plan import Plan
from .study_folder import StudyFolder


def run_study(
    plan: Plan,
    out: Path,
    *,
    connections: int = 1,
    processes: int = 1,
    engine: str | None = None,
    model_args: dict[str, Any] | None = None,
    command: str = "",
    tell: Tell = lambda line: None,
    every: float = 10.0,
) -> StudyFolder:
    """Run what is missing of a study and return its folder.

    Args:
        plan: what to run.
        out: the folder; begun if it is new, gone on with if it holds the same plan.
        connections: requests at once in each process.
        processes: parts that run side by side, each in a process of its own.
        engine: "ray" runs the parts as tasks of a Ray cluster that shares the folder.
        model_args: passed to the models' provider.
        command: the command line, for the record.
        tell: told of progress.
        every: seconds between two lines of progress.

    Raises:
        InputError: the folder holds another study, a rule does not parse, or a model is not known.
        SandboxError: the task needs a sandbox and there is none.
        StudyError: episodes are missing at the end.
    """
    folder = StudyFolder(out)
    task = study_task(plan.task, plan.sandbox)
    for arm in plan.arms:
        plan.setting(arm, task)  # what makes no sense is refused before anything is written
    folder.begin(plan, command)
    folder.mend()
    finish(
        folder,
        len(plan.arms) * len(plan.problems(task)),
        connections=connections,
        processes=processes,
        engine=engine,
        model_args=model_args or {},
        tell=tell,
        every=every,
    )
    return folder
