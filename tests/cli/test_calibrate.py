"""``haltwise calibrate repair`` as a user types it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from haltwise.cli.main import run
from haltwise.core.noise import NoiseModel
from haltwise.record.jsonl import write_episodes
from haltwise.record.policy_file import load_policy
from haltwise.simulated.repair import simulate_repair


def write_loops(path: Path, rows: list[tuple[list[int], int, list[bool | None]]]) -> str:
    """Write loops as people write them by hand: accepts, votes, truths."""
    lines = [
        json.dumps(
            {
                "task_id": f"t{i}",
                "rounds": [
                    {"accepts": a, "votes": votes, "valid": v}
                    for a, v in zip(accepts, valid, strict=True)
                ],
            }
        )
        for i, (accepts, votes, valid) in enumerate(rows)
    ]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


@pytest.fixture
def loops(tmp_path: Path) -> str:
    """Ninety labelled simulated loops."""
    runs = simulate_repair(NoiseModel(0.3, 0.2, 0.25, 0.1, 0.6), 90, rounds=3, seed=1)
    path = tmp_path / "loops.jsonl"
    write_episodes(path, runs.episodes())
    return str(path)


def test_document(loops: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--json prints one document to stdout and nothing else, and -o writes a file that loads."""
    output = tmp_path / "policy.toml"
    assert run(["calibrate", "repair", loops, "-o", str(output), "--json"]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert document["schema"] == "haltwise.calibration/1"
    assert set(document) >= {
        *("rho0", "rho1", "alpha", "beta", "valid", "icc", "discrimination"),
        *("n_invalid", "n_valid", "p_flip", "identified", "policy", "why", "notes", "skipped"),
    }
    assert document["n_invalid"] + document["n_valid"] == 270
    assert str(load_policy(output)).startswith("auto(noise(rho0=0.")


def test_terminal(loops: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """People read the parameters, the sign in words, the rule and why, and the next command."""
    output = tmp_path / "policy.toml"
    assert run(["calibrate", "repair", loops, "-o", str(output)]) == 0
    out, err = capsys.readouterr()
    for words in ("P(a vote accepts | plan invalid)", "Sign of the gain of a repair: identified"):
        assert words in out
    assert "Rule: auto" in out and "Why: optimal stopping" in out
    assert f"haltwise replay {loops} --policy {output}" in err
    assert run(["calibrate", "repair", loops]) == 0
    assert "-o policy.toml" in capsys.readouterr().err


def test_rule_and_method_can_be_chosen(loops: str, capsys: pytest.CaptureFixture[str]) -> None:
    """--policy and --method are honoured."""
    options = ["--policy", "vrr_stop(tau=.02)", "--method", "em", "--labelled-max", "30"]
    assert run(["calibrate", "repair", loops, *options, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["policy"] == "vrr_stop(tau=.02)" and document["method"] == "em"
    assert document["n_invalid"] + document["n_valid"] == 30


def test_where(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--where keeps the loops with a value; nothing left is an error that repeats the filter."""
    path = tmp_path / "loops.jsonl"
    rounds = [{"accepts": 4, "votes": 8, "valid": True}, {"accepts": 1, "votes": 8, "valid": False}]
    rows = [{"task_id": i, "regime": "ab"[i % 2], "rounds": rounds} for i in range(10)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run(["calibrate", "repair", str(path), "--where", "regime=a", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["loops"] == 5
    assert run(["calibrate", "repair", str(path), "--where", "regime=c"]) == 2
    assert "regime=c" in capsys.readouterr().err


def test_two_votes_without_labels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two votes a plan: label-free calibration is refused plainly, with exit code 2."""
    path = write_loops(tmp_path / "l.jsonl", [([1], 2, [None]), ([2], 2, [None])])
    assert run(["calibrate", "repair", path]) == 2
    err = capsys.readouterr().err
    assert "two votes per plan: label-free calibration needs at least 3; give labels" in err


def test_bad_lines_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line that cannot be used is skipped by name; the rest is calibrated."""
    path = Path(write_loops(tmp_path / "l.jsonl", [([7, 2], 8, [True, False])] * 1))
    path.write_text(path.read_text() + '{"task_id": "x", "rounds": [{"accepts": 9, "votes": 8}]}\n')
    assert run(["calibrate", "repair", str(path), "--json"]) == 0
    skipped = json.loads(capsys.readouterr().out)["skipped"]
    assert len(skipped) == 1 and skipped[0]["line"] == 2


@pytest.mark.parametrize(
    "options", [["--eta", "0"], ["--eta", "2"], ["--labelled-max", "-1"], ["--method", "magic"]]
)
def test_bad_usage(loops: str, options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Options out of range are bad usage."""
    assert run(["calibrate", "repair", loops, *options]) == 2
    assert options[0] in capsys.readouterr().err


def test_bad_expression_and_folder(
    loops: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An unknown rule and an output that cannot be written are one clear sentence each."""
    assert run(["calibrate", "repair", loops, "--policy", "autoo"]) == 2
    assert "did you mean auto?" in capsys.readouterr().err
    assert run(["calibrate", "repair", loops, "-o", str(tmp_path / "no" / "p.toml")]) == 2
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["fever", "vitaminc"])
def test_real_verifiers(
    name: str, shared_data: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Two recorded verifier modes: labels give the frequencies, label-free says M >= 3.

    Valid = gold SUPPORTS, accept = verdict SUPPORTS; FEVER rows without evidence are left out.
    """
    path = shared_data(f"votes/{name}_verifiers.jsonl")
    accepts, votes = [0, 0], [0, 0]
    for row in map(json.loads, path.read_text().splitlines()):
        if name == "fever" and row["expected"] == "NOT_ENOUGH_INFO":
            continue
        valid = row["expected"] == "SUPPORTS"
        accepts[valid] += list(row["verdicts"].values()).count("SUPPORTS")
        votes[valid] += 2
    assert run(["calibrate", "repair", str(path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    # correlated votes of one plan count for less than two: the frequencies hold within .01 then
    assert document["rho0"]["value"] == pytest.approx(accepts[0] / votes[0], abs=0.01)
    assert document["rho1"]["value"] == pytest.approx(1 - accepts[1] / votes[1], abs=0.01)
    assert document["rho0"]["n"] == sum(votes) / 2
    assert document["icc"]["value"] > 0 and document["alpha"]["value"] is None
    assert document["policy"] == 'auto(fallback="guard")'
    assert run(["calibrate", "repair", str(path), "--method", "em"]) == 2
    assert "two votes per plan: label-free calibration needs at least 3" in capsys.readouterr().err
