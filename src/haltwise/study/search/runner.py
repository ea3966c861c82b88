"""Runs a search study: its folder, the judge's check, then its episodes.

Knows nothing of what happens in an episode.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from ..runner import Running, finish, get_study_model
from .plan import Plan
from .study_folder import StudyFolder
from .tasks import load_task


def run_study(plan: Plan, out: Path, how: Running = Running()) -> StudyFolder:  # noqa: B008
    """Run what is missing of a study and return its folder.

    Args:
        plan: what to run.
        out: the folder; begun if it is new, gone on with if it holds the same plan.
        how: processes, connections and the rest; nothing of the plan.

    Raises:
        InputError: the folder holds another study, or the model is not known.
        StudyError: episodes are missing at the end.
    """
    folder = StudyFolder(out)
    task = load_task(plan.task)
    wanted = plan.episodes(task)
    folder.begin(plan, how.command)
    folder.mend()
    if folder.read("judge_check.json") is None and plan.record != "none":
        how.tell("checking the judge's wording on labelled pairs")
        _judge_check(plan, folder, dict(how.model_args))
    finish(folder, len(plan.questions(task)), wanted, how)
    return folder


def _judge_check(plan: Plan, folder: StudyFolder, model_args: dict[str, Any]) -> None:
    from .chat import Chat
    from .judge_check import check
    from .protocols import PROTOCOLS

    chat = Chat(get_study_model(plan.model, model_args), PROTOCOLS[plan.protocol], plan.reasoning)
    checked = asyncio.run(check(plan, load_task(plan.task), chat.ask))
    folder.write("judge_check.json", checked)
