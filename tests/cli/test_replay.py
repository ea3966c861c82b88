"""``haltwise replay`` and ``haltwise calibrate search`` as a user types them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from haltwise.cli.main import run
from haltwise.core.events import Verdict
from haltwise.record.episode import AnswerNow, Outcome, SearchEpisode, SearchStep
from haltwise.record.jsonl import write_episodes
from haltwise.simulated import IGNORES, simulate_search

ESTIMATE = {"value", "low", "high", "level", "n", "method", "note"}


@pytest.fixture
def search_file(tmp_path: Path) -> str:
    """Simulated search loops with answer-now branches."""
    path = tmp_path / "search.jsonl"
    write_episodes(path, simulate_search(IGNORES, 40, seed=1).episodes())
    return str(path)


@pytest.fixture
def repair_file(tmp_path: Path) -> str:
    """Six repair loops in the format that people write by hand."""
    path = tmp_path / "repair.jsonl"
    accepts = [[8, 2, 1], [2, 7, 3], [3, 3, 8]] * 2
    valid = [[True, False, False], [False, True, True], [False, False, True]] * 2
    rows = [
        {
            "task_id": f"t{i}",
            "rounds": [{"accepts": a, "votes": 8, "valid": v} for a, v in zip(*pair, strict=True)],
        }
        for i, pair in enumerate(zip(accepts, valid, strict=True))
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def document(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """Run a command with --json and return its document; nothing else may be on stdout."""
    assert run([*arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_document_of_search_loops(search_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    """haltwise.replay/1: every measure an estimate, every pair compared, votes null with a note."""
    found = document(
        capsys,
        *("replay", search_file, "--policy", "streak(3)", "--policy", "never"),
        *("--policy", "streak(3) | deadline(8)", "--replicates", "100", "--price", ".02"),
    )
    assert found["schema"] == "haltwise.replay/1"
    assert (found["kind"], found["loops"], found["clusters"]) == ("search", 240, 40)
    assert found["skipped"] == [] and found["price"] == 0.02
    assert [p["policy"] for p in found["policies"]] == [
        "streak(3)",
        "never",
        "streak(3) | deadline(8)",
    ]
    for policy in found["policies"]:
        for name in ("success", "steps", "votes", "utility", "miss", "regret"):
            assert set(policy[name]) == ESTIMATE
        assert policy["votes"]["value"] is None and policy["votes"]["note"]
        utility = policy["success"]["value"] - 0.02 * policy["steps"]["value"]
        assert policy["utility"]["value"] == pytest.approx(utility)
    pairs = [(c["a"], c["b"]) for c in found["comparisons"]]
    assert len(pairs) == 3 and pairs[0] == ("streak(3)", "never")
    first = found["comparisons"][0]
    difference = first["difference"]["value"]
    a, b = (policy["success"]["value"] for policy in found["policies"][:2])
    assert difference == pytest.approx(a - b)
    assert 0 < first["p"] <= first["p_holm"] <= 1


def test_document_of_repair_loops(repair_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    """By hand: majority stops at plan 0, 1, 2 with a valid plan each; votes are counted."""
    found = document(
        capsys, "replay", repair_file, "--policy", "majority", "--policy", "fixed(0)", "--price=.1"
    )
    assert found["kind"] == "repair"
    majority, first = found["policies"]
    values = {name: majority[name]["value"] for name in ("success", "steps", "votes", "regret")}
    assert values == {"success": 1, "steps": 1, "votes": 16, "regret": pytest.approx(0)}
    assert first["success"]["value"] == pytest.approx(1 / 3)
    assert first["miss"]["value"] == pytest.approx(2 / 3)


def test_table_for_people(repair_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The terminal table names each policy with its numbers; notes go to stderr."""
    assert run(["replay", repair_file, "--policy", "patience(3)", "--policy", "fixed(1)"]) == 0
    shown = capsys.readouterr()
    assert "6 repair loops, 6 clusters" in shown.out
    assert "patience(3)  -  fixed(1)" in shown.out
    assert "patience(3): " in shown.err
    assert "6 loops end before the policy has stopped" in shown.err


def test_filters_and_rules_of_no_kind(search_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    """--where keeps one regime; "never" alone takes the kind of the loops."""
    found = document(
        capsys, "replay", search_file, "--policy", "never", "--where", "regime=persistent"
    )
    assert (found["kind"], found["loops"]) == ("search", 40)


def test_unknown_stops_are_undefined_not_zero(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No branch, no table: success is null and says why; with a table it is known."""
    path, table = tmp_path / "e.jsonl", tmp_path / "t.jsonl"
    episodes = [
        SearchEpisode(
            episode_id=f"q{i}",
            cluster_id=f"q{i}",
            question_id=f"q{i}",
            steps=[
                SearchStep(t=t, action="s", verdicts={"recorded": Verdict.USELESS})
                for t in (1, 2, 3)
            ],
            outcome=Outcome(success=True),
        )
        for i in range(4)
    ]
    write_episodes(path, episodes)
    arguments = ["replay", str(path), "--policy", "streak(2)", "--policy", "never"]
    found = document(capsys, *arguments)
    success = found["policies"][0]["success"]
    assert success["value"] is None and "give --answer-now" in success["note"]
    comparison = found["comparisons"][0]
    assert comparison["difference"]["value"] is None and comparison["p"] is None
    table.write_text('{"question_id": "q0", "success": true}\n')
    found = document(capsys, *arguments, "--answer-now", str(table))
    success = found["policies"][0]["success"]
    assert success["value"] == 1
    assert "between 0.2500 and 1.0000 whatever they are worth" in success["note"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--policy", "streak(5"], "expected ')'"),
        (["--policy", "majority", "--policy", "streak(5)"], "cannot be replayed together"),
        (["--policy", "fixed(0)"], "fixed is for repair loops; these are search loops"),
        (
            ["--policy", "fixed(0)", "--policy", "majority"],
            "fixed, majority are for repair loops; these are search loops",
        ),
        (["--policy", "streak(5)", "--where", "regime"], "--where takes KEY=VALUE"),
        (["--policy", "streak(5)", "--where", "regime=nowhere"], "no search loop in"),
        (["--policy", "streak(5)", "--answer-now", "nowhere.jsonl"], "nowhere.jsonl"),
        (["--policy", "nowhere.toml"], "there is no such policy file"),
        ([], "Missing option '--policy'"),
        (["--policy", "never", "--price", "-1"], "--price"),
    ],
)
def test_bad_usage_is_one_sentence_and_exit_2(
    search_file: str, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    """Exit code 2, nothing on stdout, no traceback."""
    assert run(["replay", search_file, *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and message in shown.err and "Traceback" not in shown.err


def test_unreadable_lines_are_skipped_by_name(
    repair_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A broken line is counted and named; the rest is replayed with exit code 0."""
    with Path(repair_file).open("a") as file:
        file.write('{"task_id": "t9", "rou')
    found = document(capsys, "replay", repair_file, "--policy", "majority")
    assert found["loops"] == 6
    assert [(skip["line"], skip["path"]) for skip in found["skipped"]] == [(7, repair_file)]


def test_calibrate_search_writes_a_policy_that_replays(
    search_file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The written file is a rule of its own and a parameter inside an expression."""
    path = str(tmp_path / "p.toml")
    arguments = ["calibrate", "search", search_file, "-o", path, "--price", ".05"]
    fit = document(capsys, *arguments, "--replicates", "50")
    assert fit["schema"] == "haltwise.recovery/1"
    assert {"hazard", "answer_now", "useful_value", "stop", "price", "n", "notes"} <= set(fit)
    assert fit["n"] == 240 and fit["price"] == 0.05
    found = document(
        capsys,
        *("replay", search_file, "--policy", path),
        *("--policy", f'recovery("{path}", trust=.5) | deadline(8)', "--replicates", "50"),
    )
    assert len(found["policies"]) == 2
    assert run([*arguments, "--replicates", "50"]) == 0
    shown = capsys.readouterr()
    assert "answer is forced at a run of" in shown.out and "written:" in shown.err


def test_published_episodes_with_their_table(
    shared_data: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """METHODS section 1: .4167 / .4567 / .4600 / .4600 at 5.14 / 4.27 / 4.20 / 4.76 calls."""
    folder = shared_data("judged_useless")
    rules = ["never", "streak(5)", "streak(5) | deadline(8)", "deadline(8)"]
    found = document(
        capsys,
        *("replay", str(folder / "qwen3-8b_unaided_test300.jsonl")),
        *("--answer-now", str(folder / "answer_now_qwen3-8b_test300.jsonl")),
        *(part for rule in rules for part in ("--policy", rule)),
    )
    success = [round(policy["success"]["value"], 4) for policy in found["policies"]]
    calls = [round(policy["steps"]["value"], 2) for policy in found["policies"]]
    assert success == [0.4167, 0.4567, 0.4600, 0.4600]
    assert calls == [5.14, 4.27, 4.20, 4.76]


def test_branches_in_the_record_need_no_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An answer-now branch recorded at the step where the rule fires is its outcome."""
    path = tmp_path / "e.jsonl"
    steps = [
        SearchStep(
            t=t,
            action="s",
            verdicts={"recorded": Verdict.USELESS},
            answer_now=AnswerNow(success=t == 2),
        )
        for t in (1, 2, 3)
    ]
    episode = SearchEpisode(
        episode_id="e",
        cluster_id="q",
        question_id="q",
        steps=steps,
        outcome=Outcome(success=False),
    )
    write_episodes(path, [episode])
    found = document(capsys, "replay", str(path), "--policy", "streak(2)", "--policy", "streak(1)")
    assert [policy["success"]["value"] for policy in found["policies"]] == [1, 0]
    assert [policy["miss"]["value"] for policy in found["policies"]] == [0, 1]


@pytest.fixture
def unjudged_file(tmp_path: Path) -> str:
    """Four loops of three useless results each, which nobody judged; forced answers are known."""
    path = tmp_path / "unjudged.jsonl"
    steps = [
        SearchStep(t=t, action="search", result="bread", answer_now=AnswerNow(success=t > 1))
        for t in (1, 2, 3)
    ]
    episodes = [
        SearchEpisode(
            episode_id=f"q{i}",
            cluster_id=f"q{i}",
            question_id=f"q{i}",
            question="Which river flows through the capital of Hungary?",
            steps=[*steps, SearchStep(t=4, action="answer")],
            outcome=Outcome(success=True),
        )
        for i in range(4)
    ]
    write_episodes(path, episodes)
    return str(path)


def test_rules_on_verdicts_without_verdicts_are_undefined(
    unjudged_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody judged: streak is null with a note naming --signal, not equal to never; never is."""
    arguments = ["replay", unjudged_file, "--policy", "streak(1) | deadline(8)", "--policy=never"]
    found = document(capsys, *arguments)
    streak, never = found["policies"]
    for measure in ("success", "steps", "utility", "miss", "regret"):
        assert streak[measure]["value"] is None and "--signal" in streak[measure]["note"]
    assert never["steps"]["value"] == 3
    pair = found["comparisons"][0]
    assert pair["difference"]["value"] is None and pair["p"] is None
    assert "--signal" in pair["difference"]["note"]
    assert run(arguments) == 0
    assert "--signal lexical" in capsys.readouterr().err


def test_a_signal_judges_before_the_replay(
    unjudged_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The results share no word with the question: streak(1) stops at the first of three calls."""
    found = document(
        capsys, "replay", unjudged_file, "--policy", "streak(1)", "--signal", "lexical"
    )
    streak = found["policies"][0]
    assert (streak["steps"]["value"], streak["success"]["value"]) == (1, 0)


def test_the_signal_s_verdicts_replace_recorded_ones(
    search_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With --signal no recorded verdict counts: simulated loops without thoughts are unjudged."""
    found = document(capsys, "replay", search_file, "--policy", "streak(1)", "--signal", "stated")
    assert found["policies"][0]["success"]["value"] is None


def test_calibrate_search_judges_by_a_signal(
    unjudged_file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without verdicts the error names --signal; with it there are loops that searched on."""
    path = str(tmp_path / "p.toml")
    arguments = ["calibrate", "search", unjudged_file, "-o", path, "--replicates", "20"]
    assert run(arguments) == 2
    assert "--signal lexical" in capsys.readouterr().err
    fit = document(capsys, *arguments, "--signal", "lexical")
    first = next(row for row in fit["hazard"] if row["fresh"] and row["r"] == 1)
    assert (first["value"], first["n"]) == (0, 4)


@pytest.mark.parametrize(
    "command",
    [
        ["audit"],
        ["replay", "--policy", "streak(1)"],
        ["calibrate", "repair"],
        ["calibrate", "search", "-o", "never-written.toml"],
    ],
)
def test_nothing_usable_gives_three_reasons(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    """Where every line is bad the error names the first three with their reasons, and the rest."""
    path = tmp_path / "bad.jsonl"
    path.write_text('{"task_id": "t", "rounds": [{"acepts": 1, "votes": 8}]}\n' * 5)
    assert run([*command, str(path)]) == 2
    told = capsys.readouterr().err
    assert all(f"bad.jsonl:{line}: is not a repair loop" in told for line in (1, 2, 3))
    assert "bad.jsonl:4" not in told and "2 more skipped" in told and "'accepts'" in told
