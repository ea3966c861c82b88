"""The terminal: no number is cut at any width, pipes stay plain, signs of life keep out of the way.

The commands run in this process with a stdout that says it is a terminal; 40 columns are what half
a phone screen has.
"""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from haltwise.cli import terminal
from haltwise.cli.main import run
from haltwise.core.noise import NoiseModel
from haltwise.record.jsonl import write_episodes
from haltwise.simulated.repair import simulate_repair
from haltwise.simulated.search import IGNORES, simulate_search

NARROW = 40
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-8]|4[0-8]|9\d|10\d)(?:;\d+)*m")
WORD = st.text("abcdefghij", min_size=1, max_size=6)
NUMBERS = st.integers(0, 9999).map(lambda n: f"{n / 1000:.3f} [{n / 2000:.3f}, {n / 500:.3f}]")


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """It is."""
        return True


def printed(table: terminal.Table, width: int) -> str:
    """Return what a terminal of this width shows."""
    from rich.console import Console

    screen = Screen()
    table.print(Console(file=screen, width=width, force_terminal=True, color_system=None))
    return ESCAPE.sub("", screen.getvalue())


@settings(max_examples=40)
@given(
    st.lists(WORD, min_size=2, max_size=6),
    st.lists(st.tuples(WORD, NUMBERS), min_size=1, max_size=4),
    st.integers(NARROW, 120),
)
def test_no_number_is_cut_and_no_line_is_too_long(
    columns: list[str], rows: list[tuple[str, str]], width: int
) -> None:
    """Whatever the table and the width: every cell stands there whole, on lines that fit."""
    table = terminal.Table("title", *columns)
    for name, number in rows:
        table.add_row(name, *[number] * (len(columns) - 1))
    shown = printed(table, width)
    assert max(map(len, shown.splitlines())) <= width
    for name, number in rows:
        assert name in shown
        assert shown.count(number) >= len(columns) - 1


def test_a_table_that_fits_is_a_table() -> None:
    """Side by side where there is room for it, a block for each row where there is none."""
    table = terminal.Table("", "rule", "valid")
    table.add_row("majority", "0.862")
    assert [line.split() for line in printed(table, 20).splitlines()] == [
        ["rule", "valid"],
        ["majority", "0.862"],
    ]
    assert printed(table, 12).splitlines() == ["majority", "  valid: ", "  0.862"]


def test_a_pipe_is_never_too_narrow(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a width a row is one line, however long; ``COLUMNS`` gives a pipe a width."""
    monkeypatch.delenv("COLUMNS", raising=False)
    cells = ["x" * 90, "y" * 90]
    terminal.print_table("", ["a", "b"], [cells])
    assert cells[0] + "  " + cells[1] in capsys.readouterr().out
    monkeypatch.setenv("COLUMNS", "50")
    terminal.print_table("", ["a", "b"], [cells])
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 50


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Search loops, repair loops, and a chat that nobody judged."""
    folder = tmp_path_factory.mktemp("terminal")
    write_episodes(folder / "traces.jsonl", simulate_search(IGNORES, 40).episodes())
    noise = NoiseModel(rho0=0.3, rho1=0.2, alpha=0.25, beta=0.1, valid=0.6)
    write_episodes(folder / "loops.jsonl", simulate_repair(noise, 80, seed=1).episodes())
    (folder / "chat.jsonl").write_text(
        '{"messages": [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": null,'
        ' "tool_calls": [{"id": "a", "type": "function", "function": {"name": "search",'
        ' "arguments": "{}"}}]}, {"role": "tool", "tool_call_id": "a", "content": "Nothing."},'
        ' {"role": "assistant", "content": "Nobody."}]}\n'
    )
    return folder


COMMANDS = [
    "audit traces.jsonl --replicates 50",
    "audit chat.jsonl --replicates 50",
    'replay traces.jsonl --replicates 50 --policy never --policy "streak(5) | deadline(8)"',
    "replay loops.jsonl --replicates 50 --policy majority --policy patience(2)",
    "calibrate search traces.jsonl --replicates 50 -o search.toml",
    "calibrate repair loops.jsonl -o repair.toml",
    "convert traces.jsonl -o again.jsonl",
    "simulate --rho0 .3 --rho1 .2 --alpha .25 --beta .1 --valid .6 --votes 3 --plan --map",
    "demo --no-live",
    "doctor",
    "report traces.jsonl --replicates 50 -o report.html",
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda text: " ".join(text.split()[:2]))
def test_every_command_at_40_columns_without_colour(
    command: str, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No colour, and nothing wider than the window but lines to be copied and file names."""
    import shlex

    monkeypatch.chdir(files)
    monkeypatch.setenv("COLUMNS", str(NARROW))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    screen, errors = Screen(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setattr(sys, "stderr", errors)
    assert run(shlex.split(command)) == 0
    shown = screen.getvalue()
    assert shown or "written: report.html" in errors.getvalue()
    assert not COLOUR.search(shown)
    assert "…" not in shown
    lines = ESCAPE.sub("", shown).splitlines()
    assert [x for x in lines if len(x) > NARROW and "haltwise " not in x and "/" not in x] == []
    assert "\x1b" not in errors.getvalue()


def test_an_audit_without_verdicts_says_what_to_type(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where no result was judged the last lines hold the command that judges them."""
    monkeypatch.chdir(files)
    assert run(["audit", "chat.jsonl"]) == 0
    assert "haltwise audit chat.jsonl --signal lexical" in capsys.readouterr().out
    assert run(["audit", "traces.jsonl", "--replicates", "50"]) == 0
    assert "--signal lexical" not in capsys.readouterr().out


@pytest.mark.parametrize("patience", [0.0, 3600.0])
def test_signs_of_life_on_a_terminal(patience: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """They come once the patience of a reader is over, on stderr, and not before."""
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(terminal, "PATIENCE", patience)
    with terminal.counter("records read", 10) as count:
        for number in range(10):
            count(number)
    with terminal.busy("fitting") as replace:
        replace("fitting again")
        if not patience:
            for _ in range(10_000_000):  # until the watcher has drawn; no clock is asked
                if "fitting" in screen.getvalue():
                    break
    assert ("records read" in screen.getvalue()) is (patience == 0)
    assert ("fitting" in screen.getvalue()) is (patience == 0)


def test_one_sign_of_life_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """What begins while another is shown stays silent; what begins afterwards is shown."""
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(terminal, "PATIENCE", 0.0)
    with terminal.counter("outer") as count, terminal.counter("inner") as silent:
        count(1)
        silent(1)
    with terminal.counter("later") as count:
        count(1)
    assert "outer" in screen.getvalue()
    assert "inner" not in screen.getvalue()
    assert "later" in screen.getvalue()


def test_no_sign_of_life_in_a_pipe(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A log file gets none, however long it takes."""
    monkeypatch.setattr(terminal, "PATIENCE", 0.0)
    with terminal.counter("records read") as count, terminal.busy("fitting"):
        count(1)
    assert capsys.readouterr() == ("", "")
