"""Runs a search study: its folder, the judge's check, then its episodes.

Knows nothing of what happens in an episode.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from ..runner import Tell, finish, get_study_model
from .plan import Plan
from .study_folder import StudyFolder
from .tasks import load_task


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
        model_args: passed to the model's provider.
        command: the command line, for the record.
        tell: told of progress.
        every: seconds between two lines of progress.

    Raises:
        InputError: the folder holds another study, or the model is not known.
        StudyError: episodes are missing at the end.
    """
    folder = StudyFolder(out)
    task = load_task(plan.task)
    wanted = plan.episodes(task)
    folder.begin(plan, command)
    folder.mend()
    if folder.read("judge_check.json") is None and plan.record != "none":
        tell("checking the judge's wording on labelled pairs")
        _judge_check(plan, folder, model_args or {})
    finish(
        folder,
        wanted,
        connections=connections,
        processes=processes,
        engine=engine,
        model_args=model_args or {},
        tell=tell,
        every=every,
    )
    return folder


def _judge_check(plan: Plan, folder: StudyFolder, model_args: dict[str, Any]) -> None:
    from .chat import Chat
    from .judge_check import check
    from .protocols import PROTOCOLS

    chat = Chat(get_study_model(plan.model, model_args), PROTOCOLS[plan.protocol], plan.reasoning)
    checked = asyncio.run(check(plan, load_task(plan.task), chat.ask))
    folder.write("judge_check.json", checked)
