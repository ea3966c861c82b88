"""Simulated search agents behave as their parameters say, and every run says it is simulated."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from haltwise.core.errors import ParameterError
from haltwise.simulated import (
    ENFORCED,
    IGNORES,
    SearchAgent,
    SearchRuns,
    is_simulated,
    logit_hazard,
    simulate_search,
)
from haltwise.simulated.faults import MEAN6, failing

CERTAIN = SearchAgent("certain", logit_hazard([-2.0] * 7, 0.2), helpful=1.0, useless_if_helpful=0.0)


def runs_of(useless: list[bool]) -> list[int]:
    """Return the run after each verdict, written out as METHODS defines it."""
    run, runs = 0, []
    for verdict in useless:
        run = run + 1 if verdict else 0
        runs.append(run)
    return runs


def test_same_seed_same_episodes() -> None:
    """Equal arguments give equal arrays, another seed gives others."""
    a, b = simulate_search(IGNORES, 40, seed=3), simulate_search(IGNORES, 40, seed=3)
    assert np.array_equal(a.useless, b.useless)
    assert np.array_equal(a.results, b.results)
    assert not np.array_equal(a.useless, simulate_search(IGNORES, 40, seed=4).useless)


@pytest.mark.parametrize(
    ("regime", "row"),
    [
        ("clean", [0, 0, 0, 0, 0, 0]),
        ("persistent", [1, 1, 1, 1, 1, 1]),
        ("recover_after_2", [1, 1, 0, 0, 0, 0]),
        ("recover_after_5", [1, 1, 1, 1, 1, 0]),
        ("late_onset_from_3", [0, 0, 1, 1, 1, 1]),
    ],
)
def test_fixed_regimes_fail_where_the_methods_say(regime: str, row: list[int]) -> None:
    """The rows are those of the regime table in METHODS section 1."""
    failed = failing(regime, 3, 6, np.random.default_rng(0))
    assert failed.astype(int).tolist() == [row] * 3


def test_geometric_durations() -> None:
    """Each failed observation is followed by a recovery with probability p: mean 1/p."""
    failed = failing("geometric(0.3)", 50_000, 80, np.random.default_rng(0)).sum(axis=1)
    assert failed.min() == 1
    assert abs(failed.mean() - 1 / 0.3) < 5 * np.sqrt(0.7) / 0.3 / np.sqrt(50_000)


def test_pareto_durations_have_a_heavy_tail() -> None:
    """P(more than d fail) = (d + 1)^-shape, checked at d = 1, 3, 7 within 5 standard errors."""
    failed = failing("pareto(1.2)", 50_000, 20, np.random.default_rng(0)).sum(axis=1)
    for d in (1, 3, 7):
        expected = (d + 1) ** -1.2
        error = np.sqrt(expected * (1 - expected) / 50_000)
        assert abs((failed > d).mean() - expected) < 5 * error


@pytest.mark.parametrize(
    "regime", ["", "dead", "recover_after_0", "geometric(0)", "geometric(2)", "pareto(0)"]
)
def test_unknown_regimes_are_refused(regime: str) -> None:
    """A regime that has no meaning is an error that says what came."""
    with pytest.raises(ParameterError):
        failing(regime, 1, 5, np.random.default_rng(0))


def test_answers_follow_the_hazard() -> None:
    """At every (t, r) with 1,000 episodes or more, the share that answers is the table's."""
    runs = simulate_search(IGNORES, 20_000, seed=1)
    run = np.array([runs_of(row) for row in runs.useless[::7].tolist()])
    results, answered = runs.results[::7], runs.answered[::7]
    checked = 0
    for t in range(1, 8):
        for r in range(t + 1):
            here = (results >= t) & (run[:, t - 1] == r)
            if here.sum() < 1000:
                continue
            expected = IGNORES.hazard[t - 1][r]
            share = ((results == t) & answered)[here].mean()
            assert abs(share - expected) < 5 * np.sqrt(expected * (1 - expected) / here.sum())
            checked += 1
    assert checked >= 10


def test_verdict_errors_are_the_judges() -> None:
    """On a dead source results are called useless at the judge's rate, whatever the agent does."""
    runs = simulate_search(IGNORES, 20_000, regimes=("persistent",), seed=2)
    assert abs(runs.useless.mean() - IGNORES.useless_if_not) < 0.003


def test_a_perfect_judge_sees_the_recovery() -> None:
    """With certain help and no judge error on helpful results, recovery ends the run."""
    runs = simulate_search(CERTAIN, 200, regimes=("recover_after_3",), seed=5)
    assert not runs.useless[:, 3:].any()
    assert runs.failed[:, :3].all()
    assert not runs.failed[:, 3:].any()


def test_answer_now_only_improves_and_memory_is_the_questions() -> None:
    """Forced answers never get worse; on a dead source they depend on the question only."""
    runs = simulate_search(IGNORES, 500, regimes=("persistent", "clean"), seed=6)
    now = runs.answer_now.astype(int)
    assert (np.diff(now, axis=1) >= 0).all()
    dead = now[runs.regime == 0]
    assert (dead == dead[:, :1]).all()
    assert abs(dead[:, 0].mean() - IGNORES.from_memory) < 5 * np.sqrt(0.09 / 500)


def test_an_enforced_threshold_is_kept() -> None:
    """No run of the enforced agent grows past its threshold before the last action."""
    runs = simulate_search(ENFORCED, 300, seed=7)
    for useless, results in zip(runs.useless.tolist(), runs.results.tolist(), strict=True):
        assert max(runs_of(useless[: min(results, 7)])) <= 5


@given(st.integers(1, 6), st.integers(0, 50))
def test_episodes_and_arrays_agree(questions: int, seed: int) -> None:
    """Steps, verdicts, ending and truth of each episode are those of the arrays."""
    runs = simulate_search(IGNORES, questions, seed=seed)
    episodes = list(runs.episodes())
    assert len(episodes) == len(runs) == questions * 6
    for i, episode in enumerate(episodes):
        searches = [step for step in episode.steps if step.action == "search"]
        assert is_simulated(episode.model)
        assert "simulated" in episode.notes[0]
        assert episode.regime == MEAN6[i % 6]
        assert len(searches) == runs.results[i]
        assert (episode.steps[-1].action == "answer") == runs.answered[i]
        verdicts = [step.verdicts["recorded"] == "useless" for step in searches]
        assert verdicts == runs.useless[i, : runs.results[i]].tolist()
        assert episode.outcome.success == runs.success[i]
        assert not episode.outcome.success or runs.answered[i]


def read_back(runs: SearchRuns, path: Path) -> list[dict[str, object]]:
    """Write runs in the judged-useless format and decode every line."""
    runs.write_judged_useless(path)
    return [json.loads(line) for line in path.read_text(encoding="ascii").splitlines()]


def test_the_written_file_equals_the_episodes(tmp_path: Path) -> None:
    """The fast writer gives, line for line, what the episodes say, the simulated label included."""
    runs = simulate_search(IGNORES, 60, seed=8)
    lines = read_back(runs, tmp_path / "runs.jsonl")
    for line, episode in zip(lines, runs.episodes(), strict=True):
        searches = [step for step in episode.steps if step.action == "search"]
        assert line["question_id"] == episode.question_id
        assert line["regime"] == episode.regime
        assert line["model"] == episode.model
        assert line["actions"] == [
            "finish" if step.action == "answer" else "search" for step in episode.steps
        ]
        assert line["judgments"] == [step.verdicts["recorded"].upper() for step in searches]
        assert line["success"] == episode.outcome.success


def test_parameters_out_of_range() -> None:
    """Rates outside [0, 1], short hazard rows and empty designs are refused."""
    with pytest.raises(ParameterError, match="probability"):
        SearchAgent("x", ((0.5, 1.5),))
    with pytest.raises(ParameterError, match="entries"):
        SearchAgent("x", ((0.5, 0.5), (0.5, 0.5)))
    with pytest.raises(ParameterError, match="at least one"):
        simulate_search(IGNORES, 0)
    with pytest.raises(ParameterError, match="at least one"):
        simulate_search(IGNORES, 5, regimes=())
