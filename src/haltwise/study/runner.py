"""What every study needs to run: its model, its shards in processes or on a cluster, progress.

Knows nothing of what happens in an episode. Interrupt a study at any time, by kill -9 too: the same
command goes on where it stopped.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..core.errors import HaltwiseError, InputError
from .folder import StudyFolder

Tell = Callable[[str], None]
"""Shows a line of progress to a person."""


class StudyError(HaltwiseError):
    """A study did not come to its end; what is finished is kept."""


@dataclass(frozen=True, slots=True)
class Running:
    """How a study is run, whatever it studies; none of it changes what is found."""

    connections: int = 1
    """Requests at once in each process."""
    processes: int = 1
    """Parts that run side by side, each in a process of its own."""
    engine: str | None = None
    """"ray" runs the parts as tasks of a Ray cluster that shares the folder."""
    model_args: Mapping[str, Any] = field(default_factory=dict)
    """Passed to the models' provider."""
    command: str = ""
    """The command line, for the record."""
    tell: Tell = lambda line: None
    """Told of progress."""
    every: float = 10.0
    """Seconds between two lines of progress."""


def finish(folder: StudyFolder[Any, Any], items: int, wanted: int, how: Running) -> None:
    """Run what is missing of a study that has begun.

    Args:
        folder: the folder of the study.
        items: questions or problems of the study; no more parts than that are begun.
        wanted: episodes of the whole study.
        how: processes, connections and the rest.

    Raises:
        StudyError: episodes are missing at the end.
    """
    with _Progress(folder, wanted, how.tell, how.every):
        _run_shards(folder.kind, folder.path, min(how.processes, items), how)
    have = sum(1 for _ in folder.episodes())
    if have < wanted:
        raise StudyError(
            f"{wanted - have} of {wanted} episodes are missing; what is finished is kept in "
            f"{folder.path}: give the same command again; why they failed: inspect view --log-dir "
            f"{folder.logs}"
        )


def run_shard(
    kind: str, out: str, shard: int, shards: int, connections: int, model_args: dict[str, Any]
) -> None:
    """Run one part of a study in this process.

    ``study/KIND/inspect_task.py`` has ``prepare(out, shard, shards, model_args)``, which returns
    Inspect's tasks and its model.
    """
    os.environ.setdefault("INSPECT_DISPLAY", "none")
    tasks, model = importlib.import_module(f".{kind}.inspect_task", __package__).prepare(
        Path(out), shard, shards, model_args
    )
    run_tasks(tasks, model, Path(out) / ".inspect" / f"{shard}-of-{shards}", connections)


def run_tasks(tasks: Sequence[Any], model: Any, logs: Path, connections: int) -> None:
    """Run Inspect tasks as one set whose logs are kept in a folder."""
    from inspect_ai import eval_set

    with contextlib.redirect_stdout(sys.stderr):  # stdout belongs to --json
        eval_set(
            list(tasks),
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

    from . import provider  # noqa: F401 - registers haltwise/embedded

    try:
        return get_model(name, memoize=False, **model_args)
    except (PrerequisiteError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        text = str(getattr(error, "message", error)).strip().splitlines()
        raise InputError(f"--model {name}: {' '.join(text)}") from error


def _run_shards(kind: str, out: Path, processes: int, how: Running) -> None:
    connections, model_args = how.connections, dict(how.model_args)
    if how.engine == "ray":
        _run_on_ray(kind, out, processes, connections, model_args)
        return
    if processes == 1:
        run_shard(kind, str(out), 0, 1, connections, model_args)
        return
    command = [sys.executable, "-m", "haltwise.study.worker", kind, str(out)]
    rest = [str(processes), str(connections), json.dumps(model_args)]
    running = [subprocess.Popen([*command, str(shard), *rest]) for shard in range(processes)]
    try:
        for process in running:
            process.wait()
    finally:
        for process in running:
            if process.poll() is None:
                process.terminate()


def _run_on_ray(
    kind: str, out: Path, processes: int, connections: int, model_args: dict[str, Any]
) -> None:
    try:
        import ray
    except ImportError as error:
        raise InputError("--engine ray needs Ray; type: pip install ray") from error
    ray.init(ignore_reinit_error=True)
    part = ray.remote(run_shard)
    shards = range(processes)
    ray.get([part.remote(kind, str(out), i, processes, connections, model_args) for i in shards])


class _Progress:
    """Tells how many episodes are finished, and when the rest will be."""

    def __init__(
        self, folder: StudyFolder[Any, Any], wanted: int, tell: Tell, every: float
    ) -> None:
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
