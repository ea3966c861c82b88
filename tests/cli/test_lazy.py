"""Groups whose commands are imported when they are called."""

from __future__ import annotations

import pytest

from haltwise.cli.main import run


@pytest.mark.parametrize(
    ("arguments", "word"), [(["--help"], "doctor"), (["calibrate", "--help"], "recorded loops")]
)
def test_help_lists_the_commands(
    capsys: pytest.CaptureFixture[str], arguments: list[str], word: str
) -> None:
    """The help of a group lists its commands without importing them."""
    assert run(arguments) == 0
    assert word in capsys.readouterr().out


def test_unknown_command(capsys: pytest.CaptureFixture[str]) -> None:
    """An unknown command is bad usage."""
    assert run(["calibrate", "nothing"]) == 2
    assert "nothing" in capsys.readouterr().err
