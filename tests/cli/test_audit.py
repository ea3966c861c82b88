"""``haltwise audit``: documents, exit codes, and every kind of broken input."""

from __future__ import annotations

import gzip
import json
import math
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from haltwise.cli.main import run
from haltwise.simulated import IGNORES, simulate_search

KEYS = {
    "schema",
    "episodes",
    "clusters",
    "regimes",
    "contrast",
    "hazard_slope",
    "after_run",
    "success",
    "mean6",
    "calls",
    "counterfactual",
    "findings",
    "skipped",
}
ESTIMATE = {"value", "low", "high", "level", "n", "method", "note"}
LINE = (
    '{"question_id": "q%d", "regime": "persistent", '
    '"actions": ["search", "search", "search", "search"], '
    '"judgments": ["USELESS", "USELESS", "USELESS", "USELESS"], "success": false}'
)


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of 240 simulated episodes."""
    path = tmp_path_factory.mktemp("audit") / "simulated.jsonl"
    simulate_search(IGNORES, 40).write_judged_useless(path)
    return path


def lines(count: int) -> str:
    """Return ``count`` good lines of different questions."""
    return "".join(LINE % i + "\n" for i in range(count))


def documented(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """Run the audit with ``--json`` and return its document; nothing else may be on stdout."""
    code = run(["audit", *arguments, "--json", "--replicates", "50"])
    printed = capsys.readouterr()
    assert code == 0, printed.err
    document = json.loads(printed.out)
    assert isinstance(document, dict)
    return document


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run the audit, expect exit code 2 and nothing on stdout, and return what stderr says."""
    assert run(["audit", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "Traceback" not in printed.err
    return printed.err


def test_the_document(capsys: pytest.CaptureFixture[str], simulated: Path) -> None:
    """All keys of the schema are there, and every estimate has its seven."""
    document = documented(capsys, str(simulated))
    assert document["schema"] == "haltwise.audit/1"
    assert set(document) >= KEYS
    assert document["episodes"] == 240
    assert document["clusters"] == 40
    estimates = [
        document["contrast"],
        document["hazard_slope"],
        document["mean6"],
        document["calls"],
        *document["after_run"],
        *document["success"].values(),
    ]
    assert all(set(estimate) >= ESTIMATE for estimate in estimates)
    assert set(document["contrast"]["strata"][0]) == {"t", "n1", "x1", "n0", "x0"}
    assert "se" in document["hazard_slope"]
    assert {"k", "regime", "at_risk", "answered"} <= set(document["after_run"][0])
    assert {"policy", "calls_saved", "answers_at_risk"} <= set(document["counterfactual"][0])
    assert all({"id", "evidence"} <= set(finding) for finding in document["findings"])
    assert document["skipped"] == []


def test_simulated_episodes_say_so(capsys: pytest.CaptureFixture[str], simulated: Path) -> None:
    """A report of simulated agents carries the label, in JSON and for people."""
    assert documented(capsys, str(simulated))["simulated"] == 240
    assert run(["audit", str(simulated), "--replicates", "50"]) == 0
    assert "simulated agents" in capsys.readouterr().out


def test_options_reach_the_numbers(capsys: pytest.CaptureFixture[str], simulated: Path) -> None:
    """Filter, level, budget and k are those asked for."""
    document = documented(
        capsys, str(simulated), "--where", "regime=persistent", "--level", ".9", "--budget", "7"
    )
    assert document["regimes"] == ["persistent"]
    assert document["episodes"] == 40
    assert document["contrast"]["level"] == 0.9
    assert [s["t"] for s in document["contrast"]["strata"]] == [3, 4, 5]
    assert document["k"] == 5
    assert "deadline(7)" in [row["policy"] for row in document["counterfactual"]]


def test_workers_change_no_digit(
    capsys: pytest.CaptureFixture[str], simulated: Path, tmp_path: Path
) -> None:
    """Two files read by two processes give the document of one, duplicates across them named."""
    whole = simulated.read_text().splitlines(keepends=True)
    (tmp_path / "a.jsonl").write_text("".join(whole[:100]))
    (tmp_path / "b.jsonl").write_text("".join(whole[99:]))
    one = documented(capsys, str(tmp_path))
    two = documented(capsys, str(tmp_path), "--workers", "2")
    assert one == two
    assert len(one["skipped"]) == 1
    assert one["skipped"][0]["line"] == 1
    assert one["skipped"][0]["path"].endswith("b.jsonl")
    skipped = one.pop("skipped")
    alone = documented(capsys, str(simulated))
    assert alone.pop("skipped") == []
    assert one == alone
    assert "duplicate" in skipped[0]["reason"]


def test_fail_on_a_finding(capsys: pytest.CaptureFixture[str], simulated: Path) -> None:
    """Exit code 1 if a finding asked for holds, 0 if another one does."""
    options = [str(simulated), "--replicates", "50"]
    assert run(["audit", *options, "--fail-on", "ignores-own-verdicts"]) == 1
    assert run(["audit", *options, "--fail-on", "error-texts"]) == 0
    capsys.readouterr()
    assert "error-texts" in refused(capsys, *options, "--fail-on", "no-such-finding")


def test_truncated_last_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A last line that breaks off is named with its number; the others are used."""
    path = tmp_path / "cut.jsonl"
    path.write_text(lines(3) + (LINE % 9)[:50])
    document = documented(capsys, str(path))
    assert document["episodes"] == 3
    assert [skip["line"] for skip in document["skipped"]] == [4]
    assert document["skipped"][0]["path"] == str(path)


def test_wrong_types_and_foreign_objects(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Every line that is no episode is named, in the order of the file; none ends the audit."""
    bad = ['{"question_id": "x", "actions": "search", "judgments": []}', "[1]", "null", '{"a": 1}']
    path = tmp_path / "types.jsonl"
    path.write_text(lines(2) + "\n".join(bad) + "\n" + LINE % 7 + "\n")
    document = documented(capsys, str(path))
    assert document["episodes"] == 3
    assert [skip["line"] for skip in document["skipped"]] == [3, 4, 5, 6]
    assert all(skip["reason"] for skip in document["skipped"])


def test_unknown_regime(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A regime outside the design is kept, counted under its name, and noted."""
    path = tmp_path / "regime.jsonl"
    path.write_text(lines(2) + (LINE % 5).replace("persistent", "lunar") + "\n")
    document = documented(capsys, str(path))
    assert document["regimes"] == ["persistent", "lunar"]
    assert any("lunar" in note for note in document["notes"])
    assert "left out: lunar" in document["contrast"]["note"]


@pytest.mark.parametrize("content", ["", "  \n\n", "hello\n", "x" * 50_000_000 + "\n"])
def test_nothing_usable(capsys: pytest.CaptureFixture[str], tmp_path: Path, content: str) -> None:
    """Empty files, other text and one line of 50 MB of it: exit 2 and a sentence with the file."""
    path = tmp_path / "file.jsonl"
    path.write_text(content)
    assert str(path) in refused(capsys, str(path))


def test_one_long_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """An episode with 50 MB of other fields in its one line is read."""
    path = tmp_path / "long.jsonl"
    path.write_text(LINE[:-1] % 1 + ', "other": "' + "y" * 50_000_000 + '"}\n')
    assert documented(capsys, str(path))["episodes"] == 1


def test_folder(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A folder gives its readable files, and the others by name."""
    (tmp_path / "a.jsonl").write_text(lines(2))
    (tmp_path / "b.txt").write_text("notes")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "c.jsonl").write_text(LINE % 8 + "\n")
    (tmp_path / "d.bin").write_bytes(bytes(range(256)))
    document = documented(capsys, str(tmp_path))
    assert document["episodes"] == 3
    assert sorted(Path(skip["path"]).name for skip in document["skipped"]) == ["b.txt", "d.bin"]


def test_missing_file_and_empty_folder(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A path that is not there, and a folder with nothing in it, are sentences with exit code 2."""
    assert "nothing.jsonl" in refused(capsys, str(tmp_path / "nothing.jsonl"))
    assert str(tmp_path) in refused(capsys, str(tmp_path))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_other_encodings(capsys: pytest.CaptureFixture[str], tmp_path: Path, encoding: str) -> None:
    """UTF-16 and a byte order mark are read like plain UTF-8."""
    path = tmp_path / "other.jsonl"
    path.write_text(lines(4), encoding=encoding)
    assert documented(capsys, str(path))["episodes"] == 4


def test_gzip(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A gzip file is read by its content; one that is cut off gives its beginning and a skip."""
    packed = gzip.compress(lines(2000).encode())
    (tmp_path / "whole").write_bytes(packed)
    assert documented(capsys, str(tmp_path / "whole"))["episodes"] == 2000
    (tmp_path / "cut").write_bytes(packed[: len(packed) // 2])
    document = documented(capsys, str(tmp_path / "cut"))
    assert 0 < document["episodes"] < 2000
    assert any("compressed" in skip["reason"] for skip in document["skipped"])


def test_duplicates(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Repeated episodes are counted once and named with their lines."""
    path = tmp_path / "twice.jsonl"
    path.write_text(lines(3) * 2)
    document = documented(capsys, str(path))
    assert document["episodes"] == 3
    assert [skip["line"] for skip in document["skipped"]] == [4, 5, 6]
    assert run(["audit", str(path), "--replicates", "50"]) == 0
    assert "duplicate" in capsys.readouterr().err


def test_names_that_are_no_text(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A file name that is not UTF-8 is named in the document without breaking it."""
    (tmp_path / "good.jsonl").write_text(lines(2))
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff.txt")).write_text("text")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    assert len(documented(capsys, str(tmp_path))["skipped"]) == 1


def test_a_signal_judges_anew(
    capsys: pytest.CaptureFixture[str], simulated: Path, shared_data: Callable[[str], Path]
) -> None:
    """`--signal` supplies verdicts, is named in the document, and excludes `--verdict`."""
    path = str(shared_data("trajectories/react_fever_250.jsonl"))
    document = documented(capsys, path, "--signal", "lexical")
    assert "lexical" in document["verdicts"]
    assert document["useless_rate"]["value"] is not None
    assert documented(capsys, path)["useless_rate"]["value"] is None
    assert "--verdict" in refused(capsys, path, "--signal", "stated", "--verdict", "recorded")


def test_filters_that_leave_nothing(capsys: pytest.CaptureFixture[str], simulated: Path) -> None:
    """A filter that no episode passes is an error that names the filter."""
    assert "regime=lunar" in refused(capsys, str(simulated), "--where", "regime=lunar")
    assert "KEY=VALUE" in refused(capsys, str(simulated), "--where", "regime")


@pytest.mark.parametrize(
    "options",
    [
        ["--k", "0"],
        ["--k", "8", "--budget", "8"],
        ["--level", "1"],
        ["--replicates", "0"],
        ["--budget", "1"],
        ["--format", "no-such-format"],
        ["--workers", "0"],
        ["--nothing"],
    ],
)
def test_options_out_of_range(
    capsys: pytest.CaptureFixture[str], simulated: Path, options: list[str]
) -> None:
    """An option without meaning is bad usage and names itself."""
    assert options[0] in refused(capsys, str(simulated), *options) or "no-such" in options[-1]


def test_k_beyond_the_recorded_budget(capsys: pytest.CaptureFixture[str], simulated: Path) -> None:
    """A k that no episode can reach within its budget is bad usage, too."""
    assert "--k" in refused(capsys, str(simulated), "--k", "9")


def test_no_undefined_number_is_zero(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Undefined numbers are null with a note."""
    path = tmp_path / "dead.jsonl"
    path.write_text(lines(4))
    document = documented(capsys, str(path))
    for name in ("contrast", "hazard_slope", "mean6", "first_useful"):
        assert document[name]["value"] is None
        assert document[name]["note"]
    assert document["success"]["persistent"]["value"] == 0
    assert not any(isinstance(v, float) and math.isnan(v) for v in document["calls"].values())


def test_a_narrow_pipe_without_colour(simulated: Path) -> None:
    """In a pipe there is no escape sequence, and a narrow window loses no number."""
    environment = {**os.environ, "COLUMNS": "50", "NO_COLOR": "1", "PYTHONIOENCODING": "ascii"}
    environment["PYTHONPATH"] = str(Path(__file__).parents[2] / "src")
    done = subprocess.run(
        [sys.executable, "-m", "haltwise", "audit", str(simulated), "--replicates", "50"],
        env=environment,
        capture_output=True,
        check=True,
    )
    assert b"\x1b" not in done.stdout
    assert b"ignores-own-verdicts" in done.stdout
    assert b"\xe2" not in done.stdout


def test_report_for_people(
    capsys: pytest.CaptureFixture[str], shared_data: Callable[[str], Path]
) -> None:
    """The headline finding comes first, with its numbers."""
    path = shared_data("judged_useless/qwen3-8b_unaided_test300.jsonl")
    assert run(["audit", str(path)]) == 0
    printed = capsys.readouterr().out
    assert printed.index("1 of 292") < printed.index("What the agents do")
    assert "-0.065" in printed
    assert "streak(5) | deadline(8)" in printed
    following = next(line for line in printed.splitlines() if line.startswith("Next: "))
    assert '"streak(4) | deadline(8)"' in following  # 12 of 625 right answers at risk: below 2 %
    assert run(shlex.split(following)[2:]) == 0


def test_an_unknown_verdict_source(capsys: pytest.CaptureFixture[str], simulated: Path) -> None:
    """A source that no episode has is bad usage; the sentence lists those that are present."""
    told = refused(capsys, str(simulated), "--verdict", "nosuch")
    assert "--verdict nosuch" in told and "present: recorded" in told
    assert documented(capsys, str(simulated), "--verdict", "recorded")["episodes"] == 240
