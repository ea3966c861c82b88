"""The embedded model in the study (slow): real tasks end to end, repeatable, unmoved by probes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from haltwise.judges.weights import find_weights
from haltwise.record.jsonl import encode
from haltwise.study.runner import get_study_model
from haltwise.study.search.agent import play
from haltwise.study.search.plan import Plan
from haltwise.study.search.protocols import PROTOCOLS
from haltwise.study.search.regimes import world
from haltwise.study.search.runner import run_study
from haltwise.study.search.study_folder import StudyFolder
from haltwise.study.search.tasks import load_task

pytest.importorskip("inspect_ai")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]

PLAN = Plan(
    model="haltwise/embedded",
    task="bundled",
    arms=("enforced_rule",),
    regimes=("recover_after_2",),
    split=None,
    limit=2,
    max_tokens=120,
)


@pytest.fixture(autouse=True)
def weights() -> None:
    """Skip where the weights are not on this machine."""
    pytest.importorskip("xllamacpp")
    if find_weights() is None:
        pytest.skip("the weights are not on this machine; type: haltwise demo")


@pytest.mark.parametrize(
    ("kind", "file"),
    [
        ("hotpotqa", "hotpotqa/dev_distractor_300.json"),
        ("fever", "fever/claims_with_pages_200.json"),
    ],
)
def test_real_tasks_run_end_to_end(
    kind: str, file: str, shared_data: Callable[[str], Path], tmp_path: Path
) -> None:
    """20 questions under the deadline: every episode ends with a reason, tokens are counted."""
    plan = replace(
        PLAN,
        task=f"{kind}:{shared_data(file)}",
        arms=("deadline",),
        regimes=("clean",),
        limit=20,
        record="none",  # no probes: the run is then mostly the agent
    )
    folder = run_study(plan, tmp_path / "study")
    episodes = list(folder.episodes())
    assert len(episodes) == 20
    assert all(episode.outcome.reason for episode in episodes)
    assert all(episode.usage_by_role["agent"].output_tokens for episode in episodes)
    assert not folder.read("judge_check.json")
    print(kind, sum(bool(episode.outcome.success) for episode in episodes), "of 20 right")


def test_two_runs_are_identical(tmp_path: Path) -> None:
    """One slot: the same study twice gives the same records and judge's check, byte for byte."""
    runs, checks = [], []
    for name in ("first", "second"):
        folder = run_study(PLAN, tmp_path / name)
        runs.append(sorted(encode(episode) for episode in StudyFolder(folder.path).episodes()))
        checks.append(folder.read("judge_check.json"))
        assert {"agent", "judge"} <= set(next(folder.episodes()).usage_by_role)
    assert runs[0] == runs[1]
    assert checks[0] == checks[1]
    assert checks[0] is not None


def test_probes_do_not_move_the_agent() -> None:
    """One slot, probes after the episode, prefix reuse off: the same history with and without."""
    from haltwise.study.search.chat import Chat

    task = load_task("bundled")
    question = task.questions[6]
    histories = []
    for record in ("none", "branches"):
        # A model of its own for each run: one would answer from what it remembers of the other.
        model = get_study_model("haltwise/embedded", {"reuse_prefix": False})
        plan = replace(PLAN, arms=("deadline",), record=record, budget=4)
        where = world(question, "recover_after_1", task.questions, seed=0)
        chat = Chat(model, PROTOCOLS["react"])
        played = asyncio.run(play(where, plan.setting("deadline", task, 0), chat.ask))
        histories.append([entry.message for entry in played.history])
    assert histories[0] == histories[1]
