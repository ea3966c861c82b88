"""Repair studies are packed into a recording; the demo analyses it and runs loops like it."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

pytest.importorskip("inspect_ai")

from haltwise.cli.demo_repair import repair_lines, run_repair_live, show_repair_recording
from haltwise.record.episode import RepairEpisode
from haltwise.study import runner
from haltwise.study.recording import Recording, read_recording
from haltwise.study.repair import models
from haltwise.study.repair.plan import Plan
from haltwise.study.repair.roles import Ask, Reply, Request, Role
from haltwise.study.repair.runner import run_study
from haltwise.study.runner import Running

pytestmark = pytest.mark.filterwarnings("default")

MODEL = "haltwise/scripted:noise(rho0=.2, rho1=.3, alpha=.15, beta=.7, valid=.7)"
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording[RepairEpisode]:
    """Two repairers, two verifiers with three votes each, twenty problems."""
    import runpy

    folder = tmp_path_factory.mktemp("studies")
    studies = []
    for repairer in ("revise", "restart"):
        plan = Plan(
            "scripted:20", MODEL, MODEL, MODEL, votes=6, rounds=2,
            verifiers=("plain", "steps"), repair=repairer,
        )  # fmt: skip
        studies.append(run_study(plan, folder / repairer, Running(connections=20)).path)
    pack = runpy.run_path(str(ROOT / "scripts" / "pack_recording.py"))["pack"]
    assert pack(folder / "recording.gz", "2026-01-01", studies) == 40
    return read_recording(folder / "recording.gz", RepairEpisode)


def test_every_verifier_is_shown_with_every_repairer(
    recording: Recording[RepairEpisode], capsys: pytest.CaptureFixture[str]
) -> None:
    """Four cells with what a vote tells and what each rule delivers, and two sentences."""
    assert len(recording.header["plans"]) == 2
    assert not any("--out" in command for command in recording.header["commands"])
    cells = show_repair_recording(recording)
    expected = itertools.product(("revise", "restart"), ("plain", "steps"))
    assert [(cell.repairer, cell.verifier) for cell in cells] == list(expected)
    printed = capsys.readouterr().out
    assert re.search(r"restart +steps +0\.\d\d +0\.\d\d +0\.\d\d +(yes|no)", printed)
    worst, chosen = repair_lines(cells)
    assert worst.startswith("Repaired 2 times whatever the votes say (")
    assert re.search(r"does most with \w+ under \w+ votes: \d+% right, where no repair", chosen)
    most, least = (int(found) for found in re.findall(r"votes: (\d+)% right", chosen))
    nothing = [int(found) for found in re.findall(r"no repair gives (\d+)%", chosen)]
    assert most - nothing[0] >= least - nothing[1]


def test_live_loops_show_each_round(
    recording: Recording[RepairEpisode],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Votes against a right answer buy repairs until the limit; the truth stands beside them."""

    def answering(_: object) -> Ask:
        async def ask(request: Request) -> Reply:
            text = "Verdict: no" if request.role is Role.VERIFIER else "17 x 24 = 408\n443"
            from haltwise.core.events import Usage

            return Reply((text,) * request.n, Usage(1, 1, 1))

        return ask

    monkeypatch.setattr(models, "inspect_models", answering)
    monkeypatch.setattr(runner, "get_study_model", lambda name, args: None)
    pencils = Recording(recording.header, [_of("pencils", recording.episodes[0])])
    run_repair_live(pencils, problems=1, seconds=60)
    printed = capsys.readouterr().out
    assert "first answer: 0 of 3 votes accept; really right" in printed
    assert "repair 2: 0 of 3 votes accept; really right" in printed
    run_repair_live(pencils, problems=1, seconds=-1)
    assert "The time of the demo is up" in capsys.readouterr().out


def _of(question: str, episode: RepairEpisode) -> RepairEpisode:
    import msgspec

    return msgspec.structs.replace(episode, question_id=question)
