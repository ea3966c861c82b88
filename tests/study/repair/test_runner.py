"""A repair study runs on Inspect, goes on after an interruption, and is analysed as a folder."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from haltwise import InputError
from haltwise.cli.main import run
from haltwise.core.events import Usage
from haltwise.study.repair.plan import FULL, Plan, plan_from_json

pytest.importorskip("inspect_ai")

from haltwise.study.repair.inspect_task import prepare
from haltwise.study.repair.runner import run_study
from haltwise.study.repair.study_folder import StudyFolder
from haltwise.study.repair.views import of_view, views
from haltwise.study.runner import Running

# Inspect and its dependencies warn about themselves; none of it is ours.
pytestmark = pytest.mark.filterwarnings("default")

GATED = "plain/revise/majority(3)"
"""The gated arm: the rule is written out, with the study's three rounds."""
MODEL = "haltwise/scripted:noise(rho0=.2, rho1=.3, alpha=.15, beta=.7, valid=.7)"
PLAN = Plan("scripted:12", MODEL, MODEL, MODEL, policies=("majority",), votes=5, rounds=3)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> StudyFolder:
    """A finished study of twelve problems, recorded in full and gated by majority."""
    return run_study(PLAN, tmp_path_factory.mktemp("study") / "out", Running(connections=12))


def test_every_problem_is_run_once_in_every_arm(study: StudyFolder) -> None:
    """12 problems x 2 arms; the full record has every round, the gated one stops."""
    episodes = list(study.episodes())
    assert len({episode.episode_id for episode in episodes}) == len(episodes) == 24
    full = [episode for episode in episodes if episode.arm.endswith(FULL)]
    assert all(len(episode.steps) == 4 and episode.outcome.censored for episode in full)
    assert all(episode.plan == PLAN.digest for episode in episodes)


def test_parts_deal_out_the_problems(study: StudyFolder) -> None:
    """Each problem is in one part, and parts differ by one problem at most."""
    parts = [prepare(study.path, part, 5, {})[0] for part in range(5)]
    dealt = [[sample.id for sample in part[0].dataset] for part in parts]
    assert [len(names) for names in dealt] == [3, 3, 2, 2, 2]
    assert len({name for names in dealt for name in names}) == 12


def test_gated_loops_follow_the_recorded_ones(study: StudyFolder) -> None:
    """The same seeds give the same plans and votes until the rule stops: replay tells the truth."""
    by_arm: dict[str, dict[str, list[object]]] = {}
    for episode in study.episodes():
        by_arm.setdefault(str(episode.arm), {})[episode.question_id] = list(episode.steps)
    gated, full = by_arm[GATED], by_arm["plain/revise/full"]
    assert all(full[name][: len(steps)] == steps for name, steps in gated.items())


def test_a_study_goes_on_where_it_stopped(study: StudyFolder, tmp_path: Path) -> None:
    """With half of the lines kept, and one of them cut, the rest is run and nothing twice."""
    lines = study.episodes_file.read_bytes().splitlines(keepends=True)
    out = tmp_path / "half"
    StudyFolder(out).begin(PLAN, "")
    (out / "episodes.jsonl").write_bytes(b"".join(lines[:11]) + lines[11][:40])
    again = run_study(PLAN, out, Running(connections=12))
    kept = again.episodes_file.read_bytes().splitlines(keepends=True)
    assert kept[:11] == lines[:11]
    assert sorted(kept) == sorted(lines)


def test_another_plan_is_refused(study: StudyFolder) -> None:
    """A folder holds one study; the error names what changed."""
    with pytest.raises(InputError, match="changed: votes"):
        run_study(replace(PLAN, votes=6), study.path)


def test_a_plan_survives_its_file() -> None:
    """study.json gives back the plan, digest and all."""
    from dataclasses import asdict

    assert plan_from_json(json.loads(json.dumps(asdict(PLAN)))) == PLAN


def test_the_folder_is_analysed_and_read_by_the_other_commands(
    study: StudyFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    """analyze gives its document, and calibrate and replay read the folder as it is."""
    assert run(["study", "analyze", str(study.path), "--replicates", "100", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "haltwise.repair-study/1"
    assert document["gated"][GATED]["loops"] == 12
    assert document["reported"] == {}
    assert run(["replay", str(study.path), "--policy", "majority", "--json"]) == 0
    capsys.readouterr()


def test_prompts_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """--show-prompts needs neither a model nor a folder."""
    assert run(["study", "repair", "--show-prompts"]) == 0
    assert "You check answers." in capsys.readouterr().out
    with pytest.raises(InputError, match="where is the study to be kept"):
        from haltwise.cli.study_repair import command

        command.main([], standalone_mode=False)


def test_votes_are_asked_again_until_there_are_enough() -> None:
    """A provider that gives one choice a call is asked n times, each time with another seed."""
    import asyncio

    from inspect_ai.model import GenerateConfig, ModelOutput, ModelUsage

    from haltwise.study.repair.models import inspect_models
    from haltwise.study.repair.roles import Request, Role

    class OneChoice:
        """A model that ignores ``num_choices`` and fails at its fourth call."""

        def __init__(self) -> None:
            self.seeds: list[int | None] = []

        async def generate(self, messages: object, config: GenerateConfig) -> ModelOutput:
            """Answer once."""
            self.seeds.append(config.seed)
            if len(self.seeds) == 4:
                raise RuntimeError("out of service")
            output = ModelOutput.from_content("m", "yes")
            output.usage = ModelUsage(input_tokens=7, output_tokens=1, total_tokens=8)
            return output

    model = OneChoice()
    ask = inspect_models({Role.VERIFIER: model})  # type: ignore[dict-item]
    reply = asyncio.run(ask(Request(Role.VERIFIER, (("user", "?"),), n=3, seed=10)))
    assert reply.texts == ("yes", "yes", "yes")
    assert reply.usage == Usage(3, 21, 3)
    assert model.seeds == [10, 11, 12]
    reply = asyncio.run(ask(Request(Role.VERIFIER, (("user", "?"),), n=3, seed=20)))
    assert reply.texts == ()


def test_one_record_serves_every_verifier_that_voted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Six votes of two views: each is analysed alone, they add up, an unknown one is refused."""
    plan = replace(PLAN, policies=(), votes=6, verifiers=("plain", "steps"))
    folder = run_study(plan, tmp_path / "out", Running(connections=12))
    whole = sorted(folder.episodes(), key=lambda episode: episode.episode_id)
    parts = {view: of_view(whole, view) for view in views(whole)}
    assert list(parts) == ["plain", "steps"]
    for episode, plain, steps in zip(whole, *parts.values(), strict=True):
        assert (plain.arm, steps.arm) == ("plain/revise/full", "steps/revise/full")
        for both, one, other in zip(episode.steps, plain.steps, steps.steps, strict=True):
            assert (one.accepts or 0) + (other.accepts or 0) == both.accepts
            assert one.votes == other.votes == 3
    line = ["study", "analyze", str(folder.path), "--replicates", "100", "--json", "--verifier"]
    assert run([*line, "steps"]) == 0
    assert json.loads(capsys.readouterr().out)["arm"] == "steps/revise/full"
    assert run([*line, "result"]) == 2
    assert "keeps those of: plain, steps" in capsys.readouterr().err
