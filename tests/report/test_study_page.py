"""The report of a search study: its arms, and what is withheld."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from haltwise.cli.main import run
from haltwise.study.search.agent import play
from haltwise.study.search.conversation import Request
from haltwise.study.search.plan import Plan
from haltwise.study.search.protocols import Response
from haltwise.study.search.regimes import world
from haltwise.study.search.scripted import scripted
from haltwise.study.search.study_folder import StudyFolder
from haltwise.study.search.tasks import bundled


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small study of a scripted model: two arms, two regimes, four questions."""
    plan = Plan(
        model="haltwise/scripted:follows",
        task="bundled",
        arms=("unaided", "enforced_rule"),
        regimes=("clean", "persistent"),
        split=None,
        limit=4,
        record="branches",
    )
    folder = StudyFolder(tmp_path_factory.mktemp("study") / "study")
    folder.begin(plan, "test")
    task, script = bundled(), scripted("follows")

    async def ask(request: Request) -> Response:
        return script(request)

    for arm in plan.arms:
        for question in plan.questions(task):
            for regime in plan.regimes:
                where = world(question, regime, task.questions, seed=0)
                folder.append(asyncio.run(play(where, plan.setting(arm, task, 0), ask)).episode)
    return folder.path


def test_a_study_folder_gives_the_report_of_the_study(study: Path, tmp_path: Path) -> None:
    """Arms, comparisons and judges are there; mean6 is undefined and says which regimes lack."""
    out = tmp_path / "study.html"
    assert run(["report", str(study), "--replicates", "20", "-o", str(out)]) == 0
    html = out.read_text("utf-8")
    assert "Search study" in html
    assert "enforced_rule" in html
    assert "No graded episodes of recover_after_1" in html


def test_analyze_writes_the_same_kind_of_page(study: Path, tmp_path: Path) -> None:
    """``study analyze --html`` gives the report beside its tables."""
    out = tmp_path / "study.html"
    assert run(["study", "analyze", str(study), "--replicates", "20", "--html", str(out)]) == 0
    assert "Arms against each other" in out.read_text("utf-8")
