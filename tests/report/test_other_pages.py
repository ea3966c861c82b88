"""Reports of replays, simulations and fits of how sources recover."""

from __future__ import annotations

from pathlib import Path

import pytest

from haltwise.cli.main import run
from haltwise.record.jsonl import write_episodes
from haltwise.simulated.search import IGNORES, simulate_search


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Simulated episodes with answer-now branches."""
    path = tmp_path_factory.mktemp("traces") / "traces.jsonl"
    write_episodes(path, simulate_search(IGNORES, 60, seed=2).episodes())
    return path


def page_of(line: list[str], folder: Path) -> str:
    """Run a command with --html and return the page."""
    out = folder / "page.html"
    assert run([*line, "--html", str(out)]) == 0
    return out.read_text("utf-8")


def test_a_replay_names_the_rule_that_is_worth_most(traces: Path, tmp_path: Path) -> None:
    """The headline has a rule and its numbers; pairs are compared."""
    rules = ["--policy", "never", "--policy", "streak(5) | deadline(8)", "--replicates", "50"]
    html = page_of(["replay", str(traces), *rules], tmp_path)
    assert "is worth most at a price of 0.05" in html
    assert "never − streak(5) | deadline(8)" in html


def test_a_replay_without_branches_says_that_nothing_is_known(tmp_path: Path) -> None:
    """Undefined rules are dashes with a reason, and no chart pretends otherwise."""
    path = tmp_path / "traces.jsonl"
    simulate_search(IGNORES, 30, seed=1).write_judged_useless(path)
    line = ["replay", str(path), "--policy", "streak(2)", "--replicates", "50"]
    html = page_of(line, tmp_path)
    assert "The record does not tell what these rules are worth</h1>" in html
    assert "record answer-now branches" in html


def test_a_simulation_is_exact_and_recommends_no_oracle(tmp_path: Path) -> None:
    """The best rule that can be used is named; numbers are those of the command."""
    noise = ["--rho0", ".3", "--rho1", ".2", "--alpha", ".25", "--beta", ".1", "--valid", ".6"]
    html = page_of(["simulate", *noise, "--rounds", "3"], tmp_path)
    headline = html[html.index("<h1>") : html.index("</h1>")]
    assert "no repair delivers 60 %" in headline
    assert "oracle" not in headline
    assert "Where the sign is lost" not in html


def test_a_fit_of_recoveries_shows_its_table(traces: Path, tmp_path: Path) -> None:
    """The stopping table and the hazard behind it are there, and the rule to type."""
    line = ["calibrate", "search", str(traces), "-o", str(tmp_path / "p.toml")]
    html = page_of([*line, "--price", ".05", "--replicates", "50"], tmp_path)
    assert "How often a source recovers" in html
    assert "haltwise replay" in html


def test_an_audit_has_the_report_as_well(
    traces: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """--html and --json together: the page is written, stdout holds one document."""
    html = page_of(["audit", str(traces), "--replicates", "50", "--json"], tmp_path)
    assert capsys.readouterr().out.startswith("{")
    assert "What if" in html
