"""What the search study costs beside the model: time per step against Inspect's bare tool loop.

Both loops run in one process on a model that answers at once (a scripted one): eight tool calls an
episode, ten episodes at a time. The bare loop is the shortest that Inspect allows: generate, run
the tool, append, again. Printed is milliseconds of processor time a step and their ratio; the
study does its whole work (regime, decision of a rule at every step, record to disk), without
probes.

With ``--processes`` it also measures how two processes scale on scripted work.

    python benchmarks/bench_study.py [--processes]
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from inspect_ai import Task, eval, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig, execute_tools, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import Tool, tool

from haltwise.study.runner import Running, get_study_model
from haltwise.study.search.inspect_task import open_study, search_study
from haltwise.study.search.plan import Plan
from haltwise.study.search.regimes import MEAN6
from haltwise.study.search.runner import run_study
from haltwise.study.search.study_folder import StudyFolder

EPISODES = 30
STEPS = 8
MODEL = "haltwise/scripted:never_stops"
PAGE = "Ulm: Ulm is a town on the Danube. It has a tall church. It was first named in 854."


@tool
def search() -> Tool:
    """Return the tool of the bare loop."""

    async def execute(query: str) -> str:
        """Search.

        Args:
            query: words
        """
        return PAGE

    return execute


@solver
def bare() -> Solver:
    """Return Inspect's own loop: generate, run the tool, append."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        model, tools = get_model(), [search()]
        for _ in range(STEPS):
            output = await model.generate(
                state.messages, tools, config=GenerateConfig(temperature=0.0, max_tokens=400)
            )
            state.messages.append(output.message)
            answered = await execute_tools(state.messages, tools)
            state.messages += answered.messages
        return state

    return solve


@task
def bare_task() -> Task:
    """Return the bare loop as a task."""
    samples = [Sample(id=str(n), input=f"Question {n}?", target="x") for n in range(EPISODES)]
    return Task(dataset=MemoryDataset(samples), solver=bare(), scorer=includes())


def timed(work: Task, model: Any, folder: str) -> float:
    """Return the milliseconds of processor time a step takes: other work does not count."""
    begun = time.process_time()
    with contextlib.redirect_stdout(sys.stderr):
        (log,) = eval(
            work, model=model, display="none", log_dir=folder, max_samples=10, log_level="warning"
        )
    assert log.status == "success", log.error
    return 1000 * (time.process_time() - begun) / (EPISODES * STEPS)


def overhead() -> None:
    """Print time per step of both loops, best of two each, taken in turn."""
    bares, ours = [], []
    for _ in range(2):
        with tempfile.TemporaryDirectory() as scratch:
            model = get_study_model(MODEL, {})
            bares.append(timed(bare_task(), model, f"{scratch}/bare"))
            plan = Plan(
                MODEL, "bundled", ("deadline",), ("persistent",), split=None, limit=EPISODES,
                protocol="native", record="none",
            )  # fmt: skip
            out = Path(scratch) / "study"
            StudyFolder(out).begin(plan, "bench")
            open_study(out)
            ours.append(timed(search_study(str(out), "deadline"), model, f"{scratch}/logs"))
    print(f"Inspect's bare tool loop  {min(bares):6.2f} ms a step")
    print(f"search study              {min(ours):6.2f} ms a step")
    print(f"ratio                     {min(ours) / min(bares):6.2f}  (at most 1.3 is asked for)")


def scaling() -> None:
    """Print how much faster two processes do the same scripted work.

    Each is timed on a short and on a long study; the difference holds the work alone, since
    start-up (imports, processes) is in both.
    """
    work = {
        processes: timed_study(processes, 48) - timed_study(processes, 8) for processes in (1, 2)
    }
    for processes, seconds in work.items():
        print(f"{processes} process(es): {seconds:.1f} s, start-up excluded")
    print(f"speed-up                  {work[1] / work[2]:6.2f}  (at least 1.5 is asked for)")


def timed_study(processes: int, questions: int) -> float:
    """Return the seconds that a scripted study takes, start-up included."""
    with tempfile.TemporaryDirectory() as scratch:
        plan = Plan(
            MODEL, "bundled", ("unaided", "combo", "decide"), MEAN6, split=None,
            limit=questions, record="verdicts",
        )  # fmt: skip
        begun = time.perf_counter()
        run_study(plan, Path(scratch) / "s", Running(connections=10, processes=processes))
        return time.perf_counter() - begun


if __name__ == "__main__":
    overhead()
    if "--processes" in sys.argv:
        scaling()
