"""What users get wrong: exit code 2 and one sentence, never a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from haltwise.cli.main import run

NOISE = ["--rho0", ".3", "--rho1", ".2", "--alpha", ".25", "--beta", ".1", "--valid", ".6"]


def _write(path: Path, *rounds: list[int]) -> str:
    """Write repair loops of our own format: the round numbers of each."""
    path.write_text(
        "".join(
            json.dumps(
                {
                    "kind": "repair",
                    "episode_id": f"e{i}",
                    "cluster_id": f"q{i}",
                    "question_id": f"q{i}",
                    "steps": [
                        {"round": k, "accepts": (i + k) % 5, "votes": 5, "valid": i % 2 == 0}
                        for k in numbers
                    ],
                }
            )
            + "\n"
            for i, numbers in enumerate(rounds)
        )
    )
    return str(path)


def _refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Run a command that must be refused; return what it said, one line without the usage."""
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    return err.strip().splitlines()[-1]


@pytest.mark.parametrize("number", ["nan", "inf", "-inf"])
def test_a_number_is_finite(number: str, capsys: pytest.CaptureFixture[str]) -> None:
    """NaN passes every range of click and must be refused all the same."""
    for command in ["replay x --policy never --price", "replay x --policy never --level"]:
        assert number in _refused([*command.split(), number], capsys)
    assert number in _refused(["simulate", *NOISE, "--plan", "--eta", number], capsys)


@pytest.mark.parametrize(
    ("command", "value"),
    [
        ("study search --price", "nan"),
        ("study repair --temperature", "nan"),
        ("study repair --vote-temperature", "-1"),
        ("audit x --seed", "-1"),
        ("demo --seed", "-1"),
        ("audit x --level", "0.9999999999999999"),
        ("audit x --level", "1"),
    ],
)
def test_a_value_that_makes_no_sense_is_named(
    command: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The option and what came are in the sentence; a level next to 1 has no tails to compute."""
    said = _refused([*command.split(), value], capsys)
    assert value in said
    assert command.split()[-1] in said


@pytest.mark.parametrize("option", ["--votes", "--rounds"])
def test_sizes_that_never_end_are_refused(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    """100,000 votes overflow a float and 100,000 rounds run for hours: out of range."""
    assert "not in the range" in _refused(["simulate", *NOISE, option, "100000"], capsys)


def test_one_bad_loop_does_not_cost_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Loops with a round twice, a negative round or none are skipped by line; the rest is used."""
    good = [[0, 1, 2]] * 8
    path = _write(tmp_path / "loops.jsonl", *good, [0, 0], [0, -1], [], [0, 10**9])
    assert run(["calibrate", "repair", path, "--json"]) == 0
    skipped = json.loads(capsys.readouterr().out)["skipped"]
    assert [(skip["line"], skip["reason"]) for skip in skipped] == [
        (9, "round 0 comes twice"),
        (10, "round lies between 0 and 10000; got -1"),
        (11, "is a repair loop without rounds; the initial plan is round 0"),
        (12, "round lies between 0 and 10000; got 1000000000"),
    ]


def test_votes_beyond_counting_are_skipped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A vote count that no verifier gives is named with its line instead of filling the memory."""
    path = Path(_write(tmp_path / "loops.jsonl", [0, 1]))
    path.write_text(path.read_text().replace('"votes": 5', f'"votes": {10**30}'))
    said = _refused(["replay", str(path), "--policy", "vrr_guard"], capsys)
    assert ":1: round 0: votes is at most 1000; got 1000000" in said


def test_calibrate_refuses_a_search_rule(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A rule for search loops cannot be written into the file of a repair loop."""
    path = _write(tmp_path / "loops.jsonl", [0, 1], [0, 1])
    said = _refused(["calibrate", "repair", path, "--policy", "streak(5)"], capsys)
    assert "streak(5) is for search loops" in said


def test_a_deep_policy_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """TOML that is nested without end is refused by name."""
    path = tmp_path / "deep.toml"
    path.write_text("x = " + "[" * 5000 + "]" * 5000)
    said = _refused(["simulate", *NOISE, "--policy", str(path)], capsys)
    assert "deep.toml" in said and "nested too deeply" in said


def test_a_folder_that_cannot_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """``convert`` into a folder without write permission says so."""
    path = _write(tmp_path / "loops.jsonl", [0, 1])

    def refuse(self: Path, *args: object, **options: object) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "mkdir", refuse)
    said = _refused(["convert", path, "-o", str(tmp_path / "x.jsonl")], capsys)
    assert "x.jsonl cannot be written: Permission denied" in said


@pytest.mark.parametrize("url", ["http://[::1", "http://x:99999"])
def test_an_upstream_that_is_no_url(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A broken address or port is refused before anything listens."""
    pytest.importorskip("aiohttp")
    said = _refused(["serve", "--upstream", url, "--policy", "streak(5)"], capsys)
    assert said.startswith("haltwise: upstream is a URL") and url in said


def test_a_file_where_a_study_should_be(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``study analyze`` of a file says that it holds no study."""
    pytest.importorskip("inspect_ai")
    path = tmp_path / "file"
    path.write_text("")
    assert "holds no" in _refused(["study", "analyze", str(path)], capsys)


@pytest.mark.parametrize("command", ["convert", "calibrate repair", "calibrate search"])
def test_an_output_never_replaces_its_input(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """``-o`` with the name of the input is refused and the records stay as they are."""
    path = Path(_write(tmp_path / "loops.jsonl", [0, 1], [0, 1]))
    before = path.read_bytes()
    said = _refused([*command.split(), str(path), "-o", str(path)], capsys)
    assert "is the input as well" in said and path.read_bytes() == before


def _piped(arguments: list[str], stdout: int) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "haltwise", *arguments],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("form", [["--json"], []])
def test_a_reader_that_goes_away_is_no_finding(form: list[str]) -> None:
    """``haltwise simulate ... | head -1`` ends with 0 and in silence, not with 1 as a finding."""
    reads, writes = os.pipe()
    os.close(reads)
    try:
        assert _piped(["simulate", *NOISE, "--votes", "2", *form], writes) == (0, "")
    finally:
        os.close(writes)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("form", [["--json"], []])
def test_a_full_disk(form: list[str]) -> None:
    """An output that cannot be written is exit code 2 and one sentence."""
    with Path("/dev/full").open("w") as full:
        code, said = _piped(["simulate", *NOISE, "--votes", "2", *form], full.fileno())
    assert (code, said) == (2, "haltwise: the output cannot be written: No space left on device\n")
