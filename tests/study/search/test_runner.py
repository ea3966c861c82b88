"""A study runs, resumes after a kill, keeps its plan, and uses any provider of Inspect."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

import haltwise
from haltwise.core.errors import InputError
from haltwise.record.episode import SearchEpisode, identity
from haltwise.study.runner import Running, eta
from haltwise.study.search.plan import Plan, plan_from_json
from haltwise.study.search.runner import run_study
from haltwise.study.search.study_folder import StudyFolder

pytest.importorskip("inspect_ai")

PLAN = Plan(
    model="haltwise/scripted:follows",
    task="bundled",
    arms=("unaided", "enforced_rule"),
    regimes=("clean", "recover_after_2"),
    split=None,
    limit=2,
)
# Inspect and its dependencies warn about themselves; none of it is ours.
pytestmark = pytest.mark.filterwarnings("default")


def episodes_in(folder: Path) -> dict[Any, SearchEpisode]:
    """Return the episodes of a study by what tells them apart."""
    return {identity(episode): episode for episode in StudyFolder(folder).episodes()}


KILLED = """
import os, signal, sys
from pathlib import Path
from haltwise.study.search import study_folder
from haltwise.study.search.runner import run_study
sys.path.insert(0, sys.argv[2])
from test_runner import PLAN

append = study_folder.StudyFolder.append
count = 0

def dying(self, episode):
    global count
    append(self, episode)
    count += 1
    if count == 3:
        with self.episodes_file.open("ab") as file:
            file.write(b'{"kind": "search", "episode_id": "to')
        os.kill(os.getpid(), signal.SIGKILL)

study_folder.StudyFolder.append = dying
run_study(PLAN, Path(sys.argv[1]))
"""


def test_a_killed_study_goes_on_without_loss_or_repetition(tmp_path: Path) -> None:
    """Kill -9 after 3 of 8 episodes, in the middle of a line; the second run makes the other 5."""
    out = tmp_path / "study"
    here = str(Path(__file__).parent)
    source = str(Path(haltwise.__file__).parent.parent)  # not installed where it is developed
    died = subprocess.run(
        [sys.executable, "-c", KILLED, str(out), here],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": source},
    )
    assert died.returncode == -9, died.stderr.decode()
    before = (out / "episodes.jsonl").read_bytes().splitlines()
    assert len(before) == 4
    run_study(PLAN, out, Running(connections=4))
    lines = (out / "episodes.jsonl").read_bytes().splitlines()
    assert lines[:3] == before[:3]
    episodes = list(StudyFolder(out).episodes())
    assert len(lines) == len(episodes) == 8
    assert len({identity(episode) for episode in episodes}) == 8
    assert {episode.plan for episode in episodes} == {PLAN.digest}
    assert json.loads((out / "judge_check.json").read_text())["results"] == 20

    with pytest.raises(InputError, match="another plan"):
        run_study(replace(PLAN, seed=1), out)
    (out / "study.json").write_text(
        (out / "study.json").read_text().replace('"budget": 8', '"budget": 9')
    )
    with pytest.raises(InputError, match="changed after the study had begun"):
        StudyFolder(out).plan()


@pytest.mark.slow
def test_processes_share_the_questions_and_the_file(tmp_path: Path) -> None:
    """Two processes make the same episodes as one, whatever order they finish in."""
    plan = replace(PLAN, model="haltwise/scripted:never_stops", record="none", limit=4)
    run_study(plan, tmp_path / "two", Running(processes=2))
    run_study(plan, tmp_path / "one")
    two, one = episodes_in(tmp_path / "two"), episodes_in(tmp_path / "one")
    assert two == one
    assert len(one) == 16


def test_parts_deal_out_the_questions(tmp_path: Path) -> None:
    """Each question is in one part, and parts differ by one question at most."""
    from haltwise.study.search.inspect_task import prepare

    StudyFolder(tmp_path).begin(replace(PLAN, limit=5), "")
    parts = [prepare(tmp_path, part, 3, {})[0] for part in range(3)]
    dealt = [{sample.metadata["question"] for sample in part[0].dataset} for part in parts]
    assert [len(questions) for questions in dealt] == [2, 2, 1]
    assert len(set.union(*dealt)) == 5


def test_no_more_parts_are_begun_than_there_are_questions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two questions in five processes are two parts: none waits for a model it does not use."""
    begun: list[list[str]] = []

    def popen(command: list[str]) -> subprocess.Popen[bytes]:
        begun.append(command)
        return spawn(command)

    spawn = subprocess.Popen
    monkeypatch.setattr("haltwise.study.runner.subprocess.Popen", popen)
    plan = replace(PLAN, model="haltwise/scripted:never_stops", record="none")
    run_study(plan, tmp_path, Running(processes=5))
    assert [command[5:7] for command in begun] == [["0", "2"], ["1", "2"]]
    assert len(episodes_in(tmp_path)) == 8


@pytest.mark.slow
def test_a_ray_cluster_runs_the_parts(tmp_path: Path) -> None:
    """Two tasks of Ray make the same episodes as one process."""
    ray = pytest.importorskip("ray", reason="needs the extra ray")
    source = str(Path(haltwise.__file__).parents[1])
    ray.init(
        num_cpus=2,
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join([source, *sys.path])}},
    )
    plan = replace(PLAN, model="haltwise/scripted:never_stops", record="none")
    try:
        run_study(plan, tmp_path / "ray", Running(processes=2, engine="ray"))
    finally:
        ray.shutdown()
    run_study(plan, tmp_path / "one")
    parts, one = episodes_in(tmp_path / "ray"), episodes_in(tmp_path / "one")
    assert parts == one
    assert len(one) == 8


def test_a_plan_survives_its_file() -> None:
    """Written out and read back it is equal and has the same digest."""
    document = json.loads(json.dumps(asdict(PLAN)))
    assert plan_from_json(document) == PLAN
    assert plan_from_json(document).digest == PLAN.digest
    assert replace(PLAN, price=0.1).digest != PLAN.digest


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"arms": ("nudge",)}, "there is no arm 'nudge'"),
        ({"regimes": ("flaky",)}, "no fault regime 'flaky'"),
        ({"protocol": "xml"}, "protocol is one of react"),
        ({"budget": 1}, "budget is at least 2"),
        ({"arms": ()}, "at least one arm"),
        ({"protocol": "search-r1", "regimes": ("backup_tool",)}, "one tool only"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(changes: dict[str, object], message: str) -> None:
    """The error names what came and what is known."""
    with pytest.raises(InputError, match=message):
        replace(PLAN, **changes)


def test_an_unknown_model_is_one_sentence(tmp_path: Path) -> None:
    """The provider's complaint becomes an input error that names --model."""
    with pytest.raises(InputError, match="haltwise/large"):
        run_study(replace(PLAN, model="haltwise/large"), tmp_path / "s")


def test_progress_is_told_in_time_and_episodes() -> None:
    """10 episodes were there, 20 more in 60 s: 3 s each, 70 left are 3.5 minutes."""
    assert eta(10, 30, 100, 60.0) == "30 of 100 episodes, 3.0 s each, 4 min left"
    assert eta(10, 10, 100, 60.0) == "10 of 100 episodes"


@pytest.mark.parametrize("mode", ["obedient", "strict", "rogue"])
def test_an_openai_compatible_server_runs_the_same_study(
    mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tool calls over HTTP: the rule answers at action 6, whatever the server insists on."""
    pytest.importorskip("openai")
    pytest.importorskip("aiohttp")
    from haltwise.study.search import chat
    from haltwise.testing.stub_models import ANSWER, StubServer

    monkeypatch.setattr(chat, "_FLAT", set())
    with StubServer(mode) as stub:
        monkeypatch.setenv("STUB_API_KEY", "none")
        monkeypatch.setenv("STUB_BASE_URL", f"{stub.url}/v1")
        plan = replace(
            PLAN,
            model="openai-api/stub/model",
            arms=("enforced_rule",),
            regimes=("persistent",),
            limit=1,
            protocol="native",
        )
        folder = run_study(plan, tmp_path / "study")
    (episode,) = folder.episodes()
    assert len(stub.complaints) == (mode == "strict")  # refused once, then told as text
    assert [step.action for step in episode.steps[:5]] == ["search"] * 5
    if mode == "rogue":
        assert "the forced answer was empty" in (episode.outcome.reason or "")
    else:
        assert episode.outcome.answer == ANSWER
        assert len(episode.steps) == 6
    assert {body["temperature"] for _, body, _, _ in stub.requests} == {0.0}


@pytest.mark.parametrize("reasoning", ["on", "off"])
def test_reasoning_is_switched_in_every_request(
    reasoning: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The chat template is told, thinking gets room of its own, and left out nothing is said."""
    pytest.importorskip("openai")
    pytest.importorskip("aiohttp")
    from haltwise.testing.stub_models import StubServer

    plan = replace(
        PLAN,
        model="openai-api/stub/model",
        arms=("enforced_rule",),
        regimes=("persistent",),
        limit=1,
        protocol="native",
        max_tokens=100,
    )
    with StubServer("obedient") as stub:
        monkeypatch.setenv("STUB_API_KEY", "none")
        monkeypatch.setenv("STUB_BASE_URL", f"{stub.url}/v1")
        run_study(replace(plan, reasoning=reasoning), tmp_path / "switched")
        switched = [body for _, body, _, _ in stub.requests]
        stub.requests.clear()
        run_study(plan, tmp_path / "left")
        left = [body for _, body, _, _ in stub.requests]
    thinking = {"enable_thinking": reasoning == "on"}
    assert all(body["chat_template_kwargs"] == thinking for body in switched)
    assert not any("chat_template_kwargs" in body for body in left)
    assert len(switched) == len(left)
    for one, other in zip(switched, left, strict=True):
        extra = one["max_tokens"] - other["max_tokens"]
        assert extra == (4096 if reasoning == "on" else 0)
