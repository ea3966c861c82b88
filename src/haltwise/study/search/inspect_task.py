"""The study as an Inspect AI task: one task an arm, one sample an episode.

A sample whose episode stands in the folder already is not run again, whatever Inspect's own logs
say: this is what makes a study resumable after a kill without counting anything twice.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import Model, ModelOutput, get_model
from inspect_ai.scorer import Score, Scorer, Target, accuracy, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

from ...record.episode import Key, SearchEpisode, identity
from ..runner import get_study_model
from .agent import play
from .chat import Chat
from .judge_check import judge_of
from .plan import Plan
from .probes import Judge
from .protocols import PROTOCOLS
from .question import Question
from .question import Task as Questions
from .regimes import world
from .study_folder import StudyFolder
from .tasks import load_task


class _Study:
    """What all samples of a process share."""

    def __init__(self, folder: StudyFolder) -> None:
        self.folder = folder
        self.plan: Plan = folder.plan()
        self.task: Questions = load_task(self.plan.task)
        self.questions: dict[str, Question] = {
            item.question_id: item for item in self.plan.questions(self.task)
        }
        checked = folder.read("judge_check.json")
        self.judge = judge_of(checked) if checked else Judge()
        self.finished: dict[Key, bool] = {
            identity(episode): bool(episode.outcome.success) for episode in folder.episodes()
        }


@lru_cache(maxsize=4)
def _study(path: str) -> _Study:
    return _Study(StudyFolder(Path(path)))


def open_study(path: Path) -> _Study:
    """Return what the samples share, read anew from the folder."""
    _study.cache_clear()
    return _study(str(path))


def prepare(
    out: Path, shard: int, shards: int, model_args: dict[str, Any]
) -> tuple[list[Task], Model]:
    """Return the tasks of one part of the study in a folder, and its model."""
    study = open_study(out)
    tasks = [search_study(str(out), arm, shard, shards) for arm in study.plan.arms]
    return tasks, get_study_model(study.plan.model, model_args)


@task
def search_study(study: str, arm: str, shard: int = 0, shards: int = 1) -> Task:
    """One arm of the study in a folder, or the part of it that belongs to a process.

    Args:
        study: the folder.
        arm: name of the arm.
        shard: number of the part, from 0.
        shards: number of parts; questions are dealt out in turns.
    """
    shared = _study(study)
    plan = shared.plan
    samples = [
        Sample(
            id=f"{question.question_id}|{regime}|{seed}",
            input=question.text,
            target=question.answer,
            metadata={"question": question.question_id, "regime": regime, "seed": seed},
        )
        for question in list(shared.questions.values())[shard::shards]
        for seed in plan.seeds()
        for regime in plan.regimes
    ]
    return Task(
        dataset=MemoryDataset(samples, name=plan.task),
        solver=episode(study, arm),
        scorer=right(),
        name=f"{arm}",
    )


@solver
def episode(study: str, arm: str) -> Solver:
    """Run one episode, or find it among the finished ones."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        shared = _study(study)
        plan, about = shared.plan, state.metadata
        question, regime, seed = shared.questions[about["question"]], about["regime"], about["seed"]
        key: Key = identity(
            SearchEpisode(
                episode_id="",
                cluster_id="",
                question_id=question.question_id,
                regime=regime,
                model=plan.model,
                arm=arm,
                seed=seed,
            )
        )
        if key in shared.finished:
            state.metadata["success"] = shared.finished[key]
            return state
        chat = Chat(get_model(), PROTOCOLS[plan.protocol], plan.reasoning)
        where = world(question, regime, shared.task.questions, seed=seed, length=plan.budget)
        setting = plan.setting(arm, shared.task, seed, shared.judge)
        played = await play(where, setting, chat.ask)
        shared.folder.append(played.episode)
        success = bool(played.episode.outcome.success)
        shared.finished[key] = success
        state.messages = [chat.message(entry) for entry in played.history]
        answer = played.episode.outcome.answer or ""
        state.output = ModelOutput.from_content(plan.model, answer)
        state.metadata["success"] = success
        return state

    return solve


@scorer(metrics=[accuracy()])
def right() -> Scorer:
    """Whether the episode's answer was right, as its own grader said."""

    async def score(state: TaskState, target: Target) -> Score:
        return Score(value=bool(state.metadata.get("success")), answer=state.output.completion)

    return score
