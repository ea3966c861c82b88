"""The analysis of a study: gates, comparisons, replay against enforced runs, tuning."""

from __future__ import annotations

import asyncio
import json
import math
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from haltwise.cli.main import run
from haltwise.core.errors import InputError
from haltwise.core.events import Usage, Verdict
from haltwise.record.episode import AnswerNow, Beliefs, Outcome, SearchEpisode, SearchStep
from haltwise.signals.stated import verdict_in
from haltwise.study.search.agent import play
from haltwise.study.search.analyze import analyze, stated_labels
from haltwise.study.search.answers import repaired
from haltwise.study.search.comparisons import compare, equal_weights, success, utility
from haltwise.study.search.conversation import Request
from haltwise.study.search.plan import Plan, Registered, read_tuned
from haltwise.study.search.protocols import Response
from haltwise.study.search.quality import agreement, calibration, quality
from haltwise.study.search.regimes import MEAN6, world
from haltwise.study.search.scripted import scripted
from haltwise.study.search.study_folder import StudyFolder
from haltwise.study.search.tasks import bundled
from haltwise.study.search.tune import tune


def made(tmp_path: Path, **changes: object) -> StudyFolder:
    """Write a study of a scripted model without Inspect: the loop is the same."""
    values: dict[str, object] = {
        "model": "haltwise/scripted:follows",
        "task": "bundled",
        "arms": ("unaided", "enforced_rule", "enforced_random", "deadline"),
        "regimes": (*MEAN6, "recover_after_5"),
        "split": None,
        "limit": 6,
        "record": "branches",
        "registered": Registered(hypotheses=("enforced_rule",)),
    }
    plan = Plan(**{**values, **changes})  # type: ignore[arg-type]
    folder = StudyFolder(tmp_path / "study")
    folder.begin(plan, "test")
    task = bundled()
    script = scripted(plan.model.removeprefix("haltwise/scripted:"))

    async def ask(request: Request) -> Response:
        return script(request)

    for arm in plan.arms:
        for question in plan.questions(task):
            for regime in plan.regimes:
                where = world(question, regime, task.questions, seed=0)
                played = asyncio.run(play(where, plan.setting(arm, task, 0), ask))
                folder.append(played.episode)
    return folder


def test_a_study_is_analysed_and_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The document has every arm, the plan was kept, and replay equals what was enforced."""
    folder = made(tmp_path)
    assert run(["study", "analyze", str(folder.path), "--json", "--replicates", "50"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "haltwise.search-study/1"
    assert document["plan"]["kept"] is True
    unaided = document["arms"]["unaided"]
    assert set(unaided["success"]) == {*MEAN6, "recover_after_5"}
    assert unaided["success"]["clean"]["value"] > unaided["success"]["persistent"]["value"]
    assert unaided["judge"]["side_channel"]["valid"] is True
    assert sum(unaided["answer_positions"]["8"].values()) == unaided["episodes"] == 42
    checks = {check["arm"]: check for check in document["replay_check"]}
    assert {check["agree"]["value"] for check in checks.values()} == {1.0}
    assert set(checks) == {"enforced_rule", "deadline"}
    rows = {(c["arm"], c["against"], c["endpoint"]): c for c in document["comparisons"]}
    assert rows["enforced_rule", "unaided", "mean6"]["p_holm"] is not None
    assert rows["deadline", "unaided", "mean6"]["p_holm"] is None
    assert ("enforced_rule", "enforced_random", "mean6") in rows
    assert run(["study", "analyze", str(folder.path), "--replicates", "50"]) == 0
    assert "Success by regime" in capsys.readouterr().out


def test_an_invalid_judge_has_its_figures_withheld(tmp_path: Path) -> None:
    """`never_stops` calls every page useless: contrast and slope are null, the note says why."""
    folder = made(
        tmp_path, model="haltwise/scripted:never_stops", arms=("unaided",), record="verdicts"
    )
    arm = analyze(folder, replicates=20).to_json()["arms"]["unaided"]
    assert arm["judge"]["side_channel"]["valid"] is False
    assert arm["contrast"]["value"] is None
    assert "withheld" in arm["contrast"]["note"]
    assert arm["after_run"] == []


def test_without_verdicts_delta_is_undefined_with_a_reason(tmp_path: Path) -> None:
    """An arm recorded without verdicts has no contrast, and says that no verdict was there."""
    folder = made(tmp_path, arms=("unaided",), record="none", regimes=("persistent",), limit=2)
    found = analyze(folder, replicates=20).to_json()["arms"]["unaided"]
    assert found["contrast"]["value"] is None
    assert "no verdict" in found["contrast"]["note"]


def test_a_plan_that_was_not_kept_is_told(tmp_path: Path) -> None:
    """Missing episodes, and episodes of another plan."""
    folder = made(tmp_path, arms=("unaided",), regimes=("clean",), limit=2)
    lines = folder.episodes_file.read_bytes().splitlines(keepends=True)
    folder.episodes_file.write_bytes(lines[0])
    assert analyze(folder, replicates=5).kept == "1 of 2 episodes are missing"
    digest = folder.plan().digest.encode()
    folder.episodes_file.write_bytes(b"".join(lines).replace(digest, b"0" * 12))
    assert analyze(folder, replicates=5).kept == "2 episodes were run under another plan"


def test_a_folder_without_a_study_is_an_error(tmp_path: Path) -> None:
    """The error names the folder and the command that makes one."""
    with pytest.raises(InputError, match="holds no search study"):
        analyze(StudyFolder(tmp_path))


def test_tuning_chooses_on_dev_and_its_file_is_taken(tmp_path: Path) -> None:
    """k by replayed utility, threshold by balanced accuracy, the judge's rate; read back."""
    folder = made(tmp_path, split="dev", limit=5, arms=("unaided",))
    assert run(["study", "tune", str(folder.path), "-o", str(tmp_path / "tuned.toml")]) == 0
    tuning = tune(folder)
    assert tuning.by_k[tuning.k] == max(tuning.by_k.values())
    assert tuning.by_threshold[tuning.threshold] == max(tuning.by_threshold.values())
    judged = [
        step.verdicts["side_channel"] is Verdict.USELESS
        for episode in folder.episodes()
        for step in episode.steps
        if "side_channel" in step.verdicts
    ]
    assert tuning.rate == pytest.approx(sum(judged) / len(judged), abs=1e-4)
    values = read_tuned(tmp_path / "tuned.toml")
    assert (values.k, values.rate) == (tuning.k, tuning.rate)
    assert values.source is not None
    assert tomllib.loads(tuning.to_toml())["plan"] == folder.plan().digest


def test_only_dev_episodes_with_branches_are_tuned_on(tmp_path: Path) -> None:
    """Other splits and records without branches are refused, with the option to add."""
    folder = made(tmp_path, arms=("unaided",), regimes=("clean",), limit=1)
    with pytest.raises(InputError, match="--split dev"):
        tune(folder)
    other = made(
        tmp_path / "b", arms=("unaided",), regimes=("clean",), limit=1, split="dev", record="none"
    )
    with pytest.raises(InputError, match="--record branches"):
        tune(other)


def episode(
    question: str, regime: str, right: bool, calls: int = 2, **more: object
) -> SearchEpisode:
    """Return an episode with ``calls`` searches and an answer."""
    steps = [SearchStep(t=t, action="search", result="x") for t in range(1, calls + 1)]
    steps.append(SearchStep(t=calls + 1, action="answer"))
    values: dict[str, object] = {
        "episode_id": f"{question}/{regime}",
        "cluster_id": question,
        "question_id": question,
        "regime": regime,
        "arm": "a",
        "seed": 0,
        "outcome": Outcome(success=right),
        "steps": steps,
    }
    return SearchEpisode(**{**values, **more})  # type: ignore[arg-type]


def test_differences_weight_regimes_equally_and_pair_questions() -> None:
    """By hand: clean 1 - 0.5 = .5 over two questions, persistent 0 - 0 over one: mean .25."""
    first = [episode("q1", "clean", True), episode("q2", "clean", True)]
    second = [episode("q1", "clean", True), episode("q2", "clean", False)]
    first.append(episode("q1", "persistent", False))
    second.append(episode("q1", "persistent", False))
    found = compare(first, second, replicates=50)
    assert found.endpoint == "mean over regimes run"
    assert found.difference.value == pytest.approx(0.25)
    assert found.by_regime["clean"][0].value == pytest.approx(0.5)
    assert found.by_regime["clean"][1] == 1.0  # one discordant pair: exact McNemar p = 1
    assert "persistent" not in found.noninferior


def test_arms_without_a_common_regime_have_no_difference() -> None:
    """Undefined with a reason, never 0."""
    found = compare([episode("q", "clean", True)], [episode("q", "persistent", True)])
    assert math.isnan(found.difference.value)
    assert "share no regime" in found.difference.note


def test_utility_prices_tool_calls_and_on_demand_the_judge() -> None:
    """1 - .05 x 3 = .85; with 4 judge calls 1 - .05 x 7 = .65."""
    one = episode("q", "clean", True, calls=3, usage_by_role={"judge": Usage(calls=4)})
    assert utility(0.05, judge=False)(one) == pytest.approx(0.85)
    assert utility(0.05, judge=True)(one) == pytest.approx(0.65)
    assert equal_weights([one], success, replicates=5).value == 1


def judged(question: str, *pairs: tuple[Verdict, Verdict]) -> SearchEpisode:
    """Return an episode with (verdict, truth) of each result."""
    steps = [
        SearchStep(t=t, action="search", verdicts={"side_channel": verdict, "truth": truth})
        for t, (verdict, truth) in enumerate(pairs, start=1)
    ]
    return episode(question, "clean", True, steps=steps)


def test_the_validity_gate() -> None:
    """Only the first supporting page of an episode counts; below 50 % or 90 % the judge fails."""
    useful, useless = Verdict.USEFUL, Verdict.USELESS
    good = [judged("q1", (useful, useful), (useless, useful), (useless, useless))]
    assert quality(good, "side_channel").withheld == ""
    assert quality(good, "side_channel").useful_on_supporting.n == 1
    bad = [*good, judged("q2", (useful, useless))]
    assert "50% of failed results useless, 90% are needed" in quality(bad, "side_channel").withheld
    nothing = quality([judged("q1", (useless, useless))], "side_channel")
    assert "no verdict on first supporting pages" in nothing.withheld


def test_beliefs_are_compared_with_what_came_of_them() -> None:
    """By hand: said .2 and .8, wrong and right: Brier (.04 + .04) / 2 = .04, two bins."""
    steps = [
        SearchStep(
            t=t,
            action="search",
            beliefs=Beliefs(answer_now=said),
            answer_now=AnswerNow(success=right),
        )
        for t, (said, right) in enumerate([(0.2, False), (0.8, True)], start=1)
    ]
    found = calibration([episode("q", "clean", True, steps=steps)])
    assert found is not None
    assert found.brier == pytest.approx(0.04)
    assert found.bins == ((0.2, 0.0, 1), (0.8, 1.0, 1))
    assert calibration([episode("q", "clean", True)]) is None


@pytest.mark.parametrize(
    ("answer", "clean"),
    [
        ("finish[Ulm]", "Ulm"),
        ("Action: finish['Ulm']", "Ulm"),
        ('The answer is: "Ulm"', "Ulm"),
        ("<answer>Ulm</answer>", "Ulm"),
        ("[answer]", ""),
        ("<your answer here>", ""),
        ("Answer Street", "Answer Street"),
        ("Ulm", "Ulm"),
    ],
)
def test_template_answers_are_repaired(answer: str, clean: str) -> None:
    """Echoed syntax, quotes and placeholders go; a real answer stays as it is."""
    assert repaired(answer) == clean


def test_the_stated_patterns_agree_with_hand_made_labels() -> None:
    """60 thoughts labelled by hand, 7 of which the patterns are known to miss or misread."""
    agreeing, every, _ = agreement(stated_labels(), verdict_in)
    assert every == 60
    assert agreeing >= 53


def test_untuned_values_are_noted(tmp_path: Path) -> None:
    """A test study with default values says so."""
    folder = made(tmp_path, arms=("unaided",), regimes=("clean",), limit=1, split="test")
    assert any("not tuned" in note for note in analyze(folder, replicates=5).notes)
    assert replace(folder.plan(), split="dev").split == "dev"
