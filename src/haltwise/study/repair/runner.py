"""Runs a verify-repair study: its folder, then its episodes. Ignorant of what an episode is."""

from __future__ import annotations

from pathlib import Path

from ..runner import Running, finish
from .inspect_task import study_task
from .plan import Plan
from .study_folder import StudyFolder


def run_study(plan: Plan, out: Path, how: Running = Running()) -> StudyFolder:  # noqa: B008
    """Run what is missing of a study and return its folder.

    Args:
        plan: what to run.
        out: the folder; begun if it is new, gone on with if it holds the same plan.
        how: processes, connections and the rest; nothing of the plan.

    Raises:
        InputError: the folder holds another study, a rule does not parse, or a model is not known.
        SandboxError: the task needs a sandbox and there is none.
        StudyError: episodes are missing at the end.
    """
    folder = StudyFolder(out)
    task = study_task(plan.task, plan.sandbox)
    for arm in plan.arms:
        plan.setting(arm, task)  # what makes no sense is refused before anything is written
    folder.begin(plan, how.command)
    folder.mend()
    problems = len(plan.problems(task))
    finish(folder, problems, len(plan.arms) * problems, how)
    return folder
