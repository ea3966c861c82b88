"""What a trace holds does not steer the terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from haltwise.cli.main import run
from haltwise.cli.output import harmless

EVIL = "\x1b]0;owned\x07\x1b[2J\r\u202eevil"


def test_lines_stay_and_control_characters_go() -> None:
    """Tabs and line ends are text; escapes, returns and changes of direction are not."""
    assert harmless("a\tb\nc") == "a\tb\nc"
    assert harmless("a\x1b[31m\x9b1m\rb") == "a\ufffd[31m\ufffd1m\ufffdb"


@pytest.mark.parametrize("command", [["audit"], ["replay", "--policy", "streak(2)"]])
def test_no_escape_reaches_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    """Models, regimes, sources, error texts and reasons of skips come out without them."""
    step = {"action": "search", "result": f"Error: {EVIL}", "verdicts": {EVIL: "useless"}}
    rows = [
        {
            "kind": "search",
            "schema_version": 1,
            "episode_id": f"e{n}",
            "cluster_id": f"q{n}",
            "question_id": f"q{n}",
            "regime": EVIL,
            "model": EVIL,
            "arm": EVIL,
            "outcome": {"success": True},
            "steps": [{"t": t, **step} for t in (1, 2, 3, 4)],
        }
        for n in range(4)
    ]
    rows.append({**rows[0], "episode_id": "bad", "steps": [{"t": 0, "action": EVIL}]})
    rows.append({EVIL: EVIL})
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    assert run([command[0], str(path), *command[1:], "--replicates", "5"]) == 0
    printed = capsys.readouterr()
    for character in "\x1b\x07\r\u202e":
        assert character not in printed.out + printed.err
    if command == ["audit"]:
        assert "owned" in printed.out
