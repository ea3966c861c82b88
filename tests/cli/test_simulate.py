"""``haltwise simulate`` as a user types it."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from haltwise import NoiseModel
from haltwise.cli.main import run
from haltwise.record.policy_file import PolicyFile, write_policy_file

FLAGS = ["--rho0", ".4", "--rho1", ".2", "--alpha", ".25", "--beta", ".08", "--valid", ".6"]


def words(text: str) -> list[str]:
    """Return arguments as a shell would split them."""
    return text.split()


def document(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """Run the command with --json and return its document; nothing else may be on stdout."""
    assert run(["simulate", *arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_document(capsys: pytest.CaptureFixture[str]) -> None:
    """The keys of the schema, plain numbers, thresholds by rounds left."""
    found = document(capsys, *FLAGS, "--votes", "8", "--rounds", "5", "--policy", "vrr_stop")
    assert found["schema"] == "haltwise.simulation/1"
    assert found["noise"] == {
        "rho0": 0.4,
        "rho1": 0.2,
        "alpha": 0.25,
        "beta": 0.08,
        "valid": 0.6,
        "icc": 0.0,
    }
    assert found["threshold"] == pytest.approx(0.758, abs=5e-4)
    assert found["lookahead_thresholds"] == pytest.approx(
        [0.7576, 0.8566, 0.9016, 0.9284, 0.9467], abs=1e-4
    )
    (only,) = found["policies"]
    assert only["policy"] == "vrr_stop"
    assert only["expression"].startswith("vrr_stop(noise(rho0=0.4")
    assert {"validity", "repairs", "votes", "objective", "share", "error"} <= set(only)
    assert len(only["validity_by_round"]) == len(only["acceptance_by_round"]) == 6
    assert only["validity_by_round"][-1] == pytest.approx(only["validity"])
    assert set(found["optimal"]) == {"validity", "repairs", "objective"}
    assert found["optimal_recall"]["kind"] == "value"
    assert found["skipped"] == []


def test_price_reaches_what_does_not_name_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    """--tau prices thresholds, optimum and rules; a rule's own price stays."""
    found = document(
        capsys,
        *FLAGS,
        *words("--tau .05 --votes 4 --rounds 3 --policy lookahead --policy vrr_stop(tau=.1)"),
    )
    assert found["threshold"] == pytest.approx(0.2 / 0.33)
    first, second = found["policies"]
    assert "valid=0.6), 0.05," in first["expression"]
    assert "valid=0.6), 0.1," in second["expression"]
    assert first["objective"] == pytest.approx(first["validity"] - 0.05 * first["repairs"])


def test_every_rule_is_shown_by_default_and_quickly(capsys: pytest.CaptureFixture[str]) -> None:
    """All rules at M = 8, K = 5 in about a second of CPU."""
    started = time.process_time()
    found = document(capsys, *FLAGS)
    assert time.process_time() - started < 2.0
    shown = {row["policy"].split("(")[0] for row in found["policies"]}
    assert {"fixed", "majority", "vrr_stop", "vrr_guard", "vrr", "lookahead", "auto"} <= shown
    assert all(row["error"] == 0 for row in found["policies"])


def test_lists_by_round(capsys: pytest.CaptureFixture[str]) -> None:
    """alpha that falls by round moves the threshold of each round."""
    found = document(
        capsys, *FLAGS, *words("--alpha-by-round .4,.2,.1 --rounds 3 --policy auto --icc .2")
    )
    assert found["threshold_by_round"] == pytest.approx([0.4 / 0.48, 0.2 / 0.28, 0.1 / 0.18])
    assert found["noise"]["alpha_by_round"] == [0.4, 0.2, 0.1]


def test_a_policy_file_is_judged_by_the_flags(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A calibrated file keeps its own noise: the truth is what the flags say."""
    believed = NoiseModel(0.1, 0.1, 0.5, 0.05, 0.5)
    path = tmp_path / "p.toml"
    write_policy_file(path, PolicyFile("repair", "vrr_stop", {"noise": believed}))
    found = document(capsys, *FLAGS, "--policy", str(path), "--policy", "vrr_stop")
    calibrated, true = found["policies"]
    assert "rho0=0.1" in calibrated["expression"]
    assert calibrated["validity"] != true["validity"]


def test_a_rule_is_held_against_the_best_of_its_kind(capsys: pytest.CaptureFixture[str]) -> None:
    """With recall the best with recall counts: no rule that is blind to the truth exceeds 100 %."""
    found = document(capsys, *FLAGS, "--votes", "4", "--rounds", "3")
    rows = {row["policy"]: row for row in found["policies"]}
    assert rows["lookahead"]["recall"] and not rows["lookahead(recall=false)"]["recall"]
    assert rows["vrr_guard"]["recall"] and not rows["majority"]["recall"]
    best, newest = found["optimal_recall"]["objective"], found["optimal"]["objective"]
    assert newest < rows["lookahead"]["objective"] <= best
    assert rows["lookahead"]["share"] == pytest.approx(rows["lookahead"]["objective"] / best)
    assert rows["lookahead(recall=false)"]["share"] == pytest.approx(1)
    assert all(row["share"] <= 1 + 1e-9 for name, row in rows.items() if name != "oracle")
    unknown = document(capsys, *FLAGS, *words("--votes 16 --rounds 6 --policy lookahead"))
    assert unknown["policies"][0]["share"] is None  # only a lower bound of the best is known


def test_votes_that_point_the_wrong_way_are_noted(capsys: pytest.CaptureFixture[str]) -> None:
    """J below 0 is said, with the options that were probably meant; stdout stays a document."""
    swapped = words("--rho0 .3 --rho1 .8 --alpha .25 --beta .08 --valid .6 --votes 2 --rounds 1")
    assert run(["simulate", *swapped, "--policy", "majority", "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["noise"]["rho1"] == 0.8
    assert "J = -0.10" in printed.err
    assert "type --rho1 0.2" in printed.err
    assert run(["simulate", *FLAGS, "--votes", "2", "--rounds", "1", "--policy", "majority"]) == 0
    assert "wrong way" not in capsys.readouterr().err


def test_planning_and_map(capsys: pytest.CaptureFixture[str]) -> None:
    """--plan and --map add their parts to document and text."""
    found = document(capsys, *FLAGS, "--policy", "majority", "--plan", "--map", "--eta", ".1")
    assert found["plan"]["labelled_transitions"] > 0
    assert found["plan"]["eta"] == 0.1
    assert len(found["map"]["wrong"]) == len(found["map"]["discrimination"])
    assert run(["simulate", *FLAGS, "--policy", "majority", "--plan", "--map"]) == 0
    text = capsys.readouterr().out
    assert "Labelled transitions for a sign" in text and "P(wrong sign), 300 plans" in text


def test_what_a_reader_sees(capsys: pytest.CaptureFixture[str]) -> None:
    """One table of rules, then reported acceptance beside the truth where they part the most."""
    assert run(["simulate", *FLAGS]) == 0
    text = capsys.readouterr().out
    assert text.index("of the best") < text.index("round by round") < text.index("Best possible")
    assert "fixed(5)" in text
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 100


def test_a_merged_run_names_its_bound(capsys: pytest.CaptureFixture[str]) -> None:
    """M = 16, K = 6 has too many histories: the bound is in the document and in a note."""
    arguments = [*FLAGS, *words("--votes 16 --rounds 6 --policy vrr_stop")]
    found = document(capsys, *arguments)
    assert found["policies"][0]["merged"] is True
    assert found["policies"][0]["error"] <= 1e-4
    assert found["optimal_recall"]["kind"] == "lower bound"
    assert run(["simulate", *arguments]) == 0
    assert "within" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--policy", "streak(3)"], "for search loops"),
        (["--policy", "vrr_stopp"], "did you mean vrr_stop"),
        (["--policy", "patience(0)"], "at least 1"),
        (["--rho0", "1.5"], "--rho0"),
        (["--alpha-by-round", "a,b"], "not a list of numbers"),
        (["--alpha-by-round", "2"], "probability"),
        (["--votes", "0"], "--votes"),
    ],
)
def test_bad_usage(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    """Exit code 2 and one sentence on stderr that names the fault."""
    assert run(["simulate", *FLAGS, *arguments]) == 2
    captured = capsys.readouterr()
    assert message in captured.err and captured.out == ""
