"""`haltwise study search`: prompts, and the errors before anything runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from haltwise.cli.main import run


def test_the_prompts_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """Every text that a model is shown, as one JSON document."""
    assert run(["study", "search", "--show-prompts", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "haltwise.study-prompts/1"
    assert {"version", "judge, on a copy", "forced answer"} <= set(document["prompts"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--arm", "unaided"], "--out DIR"),
        (["--arm", "enforced_rule", "--out", "{out}"], "haltwise study tune"),
        (["--policy", "vrr_guard", "--out", "{out}"], "repair loops"),
        (["--policy", "streak(", "--out", "{out}"], "streak"),
        (["--regime", "flaky", "--out", "{out}"], "no fault regime 'flaky'"),
        (["--arm", "nudge", "--out", "{out}"], "no arm 'nudge'"),
        (["--task", "trivia", "--out", "{out}", "--model", "haltwise/scripted:follows"], "no task"),
        (["--out", "{out}", "--model-arg", "slots"], "KEY=VALUE"),
        (["--out", "{out}", "--plan", "{out}/none.toml"], "none.toml"),
    ],
)
def test_what_cannot_be_run_is_one_sentence(
    options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, nothing on stdout, a sentence on stderr that says what to type."""
    arguments = [option.format(out=tmp_path / "out") for option in options]
    assert run(["study", "search", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert "Traceback" not in printed.err


def test_a_plan_file_is_frozen_into_the_plan(tmp_path: Path) -> None:
    """Unknown keys and unknown arms in a plan file are refused."""
    from haltwise.core.errors import InputError
    from haltwise.study.search.plan import read_registered

    path = tmp_path / "plan.toml"
    path.write_text('primary = "mean6"\nmargin = 0.1\nhypotheses = ["combo"]\n')
    assert read_registered(path).hypotheses == ("combo",)
    for text, message in (
        ("goal = 1", "'goal' is not known"),
        ('hypotheses = ["x"]', "no arm 'x'"),
        ("margin = 2", "between 0 and 1"),
        ("margin =", "not TOML"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=message):
            read_registered(path)
