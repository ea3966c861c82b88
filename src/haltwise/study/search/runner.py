"""Runs a study: its folder, the judge's check, shards in processes or on a cluster, progress.

Knows nothing of what happens in an episode. Interrupt it at any time, by kill -9 too: the same
command goes on where it stopped.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...core.errors import HaltwiseError, InputError
from .plan import Plan
from .study_folder import StudyFolder
from .tasks import load_task

Tell = Callable[[str], None]
"""Shows a line of progress to a person."""


class StudyError(HaltwiseError):
    """A study did not come to its end; what is finished is kept."""


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
    with _Progress(folder, wanted, tell, every):
        _run_shards(out, processes, connections, engine, model_args or {})
    have = sum(1 for _ in folder.episodes())
    if have < wanted:
        raise StudyError(
            f"{wanted - have} of {wanted} episodes are missing; what is finished is kept in {out}: "
            f"give the same command again; why they failed: inspect view --log-dir {folder.logs}"
        )
    return folder


def run_shard(
    out: str, shard: int, shards: int, connections: int, model_args: dict[str, Any]
) -> None:
    """Run one part of a study in this process."""
    os.environ.setdefault("INSPECT_DISPLAY", "none")
    from inspect_ai import eval_set

    from .inspect_task import open_study, search_study

    study = open_study(Path(out))
    model = get_study_model(study.plan.model, model_args)
    tasks = [search_study(out, arm, shard, shards) for arm in study.plan.arms]
    logs = study.folder.logs / f"{shard}-of-{shards}"
    with contextlib.redirect_stdout(sys.stderr):  # stdout belongs to --json
        eval_set(
            tasks,
            log_dir=str(logs),
            model=model,
            max_connections=connections,
            max_samples=connections,
            max_tasks=1 if connections == 1 else None,
            retry_attempts=1,
            retry_wait=1,
            fail_on_error=False,
            display="none",
            log_dir_allow_dirty=True,
            score_display=False,
            log_level="warning",
        )


def get_study_model(name: str, model_args: dict[str, Any]) -> Any:
    """Return an Inspect model.

    Raises:
        InputError: Inspect does not know it, or a package or key that it needs is missing.
    """
    from inspect_ai._util.error import PrerequisiteError
    from inspect_ai.model import get_model

    from .. import provider  # noqa: F401 - registers haltwise/embedded

    try:
        return get_model(name, memoize=False, **model_args)
    except (PrerequisiteError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        text = str(getattr(error, "message", error)).strip().splitlines()
        raise InputError(f"--model {name}: {' '.join(text)}") from error


def _judge_check(plan: Plan, folder: StudyFolder, model_args: dict[str, Any]) -> None:
    from .chat import Chat
    from .judge_check import check
    from .protocols import PROTOCOLS

    chat = Chat(get_study_model(plan.model, model_args), PROTOCOLS[plan.protocol], plan.reasoning)
    checked = asyncio.run(check(plan, load_task(plan.task), chat.ask))
    folder.write("judge_check.json", checked.to_json(plan.model))


def _run_shards(
    out: Path, processes: int, connections: int, engine: str | None, model_args: dict[str, Any]
) -> None:
    if engine == "ray":
        _run_on_ray(out, processes, connections, model_args)
        return
    if processes == 1:
        run_shard(str(out), 0, 1, connections, model_args)
        return
    command = [sys.executable, "-m", "haltwise.study.search.worker", str(out)]
    rest = [str(processes), str(connections), json.dumps(model_args)]
    running = [subprocess.Popen([*command, str(shard), *rest]) for shard in range(processes)]
    try:
        for process in running:
            process.wait()
    finally:
        for process in running:
            if process.poll() is None:
                process.terminate()


def _run_on_ray(out: Path, processes: int, connections: int, model_args: dict[str, Any]) -> None:
    try:
        import ray
    except ImportError as error:
        raise InputError("--engine ray needs Ray; type: pip install ray") from error
    ray.init(ignore_reinit_error=True)
    part = ray.remote(run_shard)
    shards = range(processes)
    ray.get([part.remote(str(out), i, processes, connections, model_args) for i in shards])


class _Progress:
    """Tells how many episodes are finished, and when the rest will be."""

    def __init__(self, folder: StudyFolder, wanted: int, tell: Tell, every: float) -> None:
        self._folder, self._wanted, self._tell = folder, wanted, tell
        self._every = every
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> None:
        self._begun, self._first = time.monotonic(), self._folder.count()
        if self._first:
            self._tell(f"{self._first} of {self._wanted} episodes are finished already")
        self._thread.start()

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(self._every):
            have = self._folder.count()
            self._tell(eta(self._first, have, self._wanted, time.monotonic() - self._begun))


def eta(first: int, have: int, wanted: int, seconds: float) -> str:
    """Return a line of progress; ``first`` episodes were there when the clock began."""
    line = f"{have} of {wanted} episodes"
    if have <= first:
        return line
    each = seconds / (have - first)
    left = max(0, wanted - have) * each
    return f"{line}, {each:.1f} s each, {left / 60:.0f} min left"
