"""The study as an Inspect AI task: one task an arm, one sample an episode.

A sample whose episode stands in the folder already is not run again.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import Model, ModelOutput
from inspect_ai.scorer import Score, Scorer, Target, accuracy, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

from ..runner import get_study_model
from .loop import play
from .models import inspect_models
from .problem import Problem
from .roles import Ask, Role
from .sandbox import runner
from .scripted import NAME, scripted_models, scripted_task
from .study_folder import StudyFolder
from .tasks import load_task


class _Study:
    """What all samples of a process share."""

    def __init__(self, folder: StudyFolder, models: dict[Role, Model]) -> None:
        self.folder = folder
        self.plan = folder.plan()
        self.task = study_task(self.plan.task, self.plan.sandbox)
        self.problems: dict[str, Problem] = {
            problem.problem_id: problem for problem in self.plan.problems(self.task)
        }
        self.settings = {arm: self.plan.setting(arm, self.task) for arm in self.plan.arms}
        self.finished = {episode.episode_id: episode for episode in folder.episodes()}
        if self.plan.proposer.startswith(NAME):
            self.ask: Ask = scripted_models(self.plan.proposer)
        else:
            self.ask = inspect_models(models)


_OPEN: dict[str, _Study] = {}


def study_task(name: str, sandbox: str) -> Any:
    """Return the task, with a sandbox where its plans are programs."""
    if name.startswith("scripted:"):
        return scripted_task(int(name.removeprefix("scripted:")))
    task = load_task(name)
    return load_task(name, runner(sandbox)) if task.needs_sandbox else task


def prepare(
    out: Path, shard: int, shards: int, model_args: dict[str, Any]
) -> tuple[list[Task], Model]:
    """Return the tasks of one part of the study in a folder, and the proposer's model."""
    folder = StudyFolder(out)
    plan = folder.plan()
    names = {
        Role.PROPOSER: plan.proposer,
        Role.VERIFIER: plan.verifier,
        Role.REPAIRER: plan.repairer,
    }
    load = lru_cache(maxsize=None)(lambda name: get_study_model(inspect_name(name), model_args))
    models = {role: load(name) for role, name in names.items()}
    _OPEN[str(out)] = _Study(folder, models)
    tasks = [repair_study(str(out), arm, shard, shards) for arm in plan.arms]
    return tasks, models[Role.PROPOSER]


def inspect_name(name: str) -> str:
    """Return the model that Inspect is told of: scripted roles need none, a mock stands there."""
    return "mockllm/model" if name.startswith(NAME) else name


@task
def repair_study(study: str, arm: str, shard: int = 0, shards: int = 1) -> Task:
    """One arm of the study in a folder, or the part of it that belongs to a process.

    Args:
        study: the folder, prepared in this process.
        arm: "full", or the rule that gates.
        shard: number of the part, from 0.
        shards: number of parts; problems are dealt out in turns.
    """
    shared = _OPEN[study]
    samples = [
        Sample(id=problem.problem_id, input=problem.text, metadata={"problem": name})
        for name, problem in list(shared.problems.items())[shard::shards]
    ]
    return Task(
        dataset=MemoryDataset(samples, name=shared.plan.task),
        solver=episode(study, arm),
        scorer=valid(),
        name=f"arm-{shared.plan.arms.index(arm)}",
    )


@solver
def episode(study: str, arm: str) -> Solver:
    """Run one episode, or find it among the finished ones."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        shared = _OPEN[study]
        problem, setting = shared.problems[state.metadata["problem"]], shared.settings[arm]
        found = shared.finished.get(setting.episode_id(problem))
        if found is None:
            found = await play(problem, setting, shared.ask)
            shared.folder.append(found)
            shared.finished[found.episode_id] = found
        state.output = ModelOutput.from_content(shared.plan.model, found.outcome.answer or "")
        state.metadata["success"] = bool(found.outcome.success)
        return state

    return solve


@scorer(metrics=[accuracy()])
def valid() -> Scorer:
    """Whether the delivered plan is valid, as its own grader said."""

    async def score(state: TaskState, target: Target) -> Score:
        return Score(value=bool(state.metadata.get("success")), answer=state.output.completion)

    return score
