"""What docs/study-repair.md says of the bundled recording is what the recording shows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from haltwise.cli.demo_repair import RULES, Cell, analysed_repair
from haltwise.judges.weights import QWEN
from haltwise.record.episode import RepairEpisode
from haltwise.study.recording import Recording, bundled_recording, read_recording
from haltwise.study.repair.prompts import EXACT
from haltwise.study.repair.views import of_view

DOCS = (Path(__file__).resolve().parents[3] / "docs" / "study-repair.md").read_text("utf-8")
VOTED_AT = 0.7
"""Temperature of the recorded votes."""


@pytest.fixture(scope="module")
def recording() -> Recording[RepairEpisode]:
    """The recording that comes with haltwise."""
    path = bundled_recording("haltwise.study.repair")
    assert path is not None
    return read_recording(path, RepairEpisode)


@pytest.fixture(scope="module")
def cells(recording: Recording[RepairEpisode]) -> list[Cell]:
    """Nine cells: three repairers, three verifiers."""
    return analysed_repair(recording)


def test_thirty_problems_with_three_repairers(recording: Recording[RepairEpisode]) -> None:
    """Every loop has its four plans, five votes of each verifier on each, and the truth."""
    assert recording.header["sha256"] == QWEN.sha256
    episodes = recording.episodes
    assert len(episodes) == 90
    assert len({(e.arm, e.question_id) for e in episodes}) == 90
    assert len({e.question_id for e in episodes}) == 30
    for episode in episodes:
        assert len(episode.steps) == 4
        for step in episode.steps:
            assert {n for _, n in step.views.values()} == {5} and len(step.views) == 3
            assert step.valid is not None


def test_the_rounds_of_the_docs(cells: list[Cell]) -> None:
    """Truth by round, and the plans that most votes accept, repairer by repairer."""
    for repairer in dict.fromkeys(cell.repairer for cell in cells):
        mine = [cell for cell in cells if cell.repairer == repairer]
        truth = [f"{rate.value:.0%}" for rate in mine[0].study.validity_by_round]
        told = [
            f"{rates[0].value:.0%} to {rates[-1].value:.0%}"
            for rates in (cell.study.acceptance_by_round for cell in mine)
        ]
        assert f"| `{repairer}` | {' | '.join([*truth, *told])} |" in DOCS


def test_the_rules_of_the_docs(cells: list[Cell]) -> None:
    """J, alpha, beta, whether the sign is known, and what every rule delivers."""
    assert len(cells) == 9
    for cell in cells:
        known = cell.study.labelled.estimates
        rules = {row.policy: row.success.value for row in cell.study.crossfit.summary.policies}
        row = [f"`{cell.repairer}`", f"`{cell.verifier}`"]
        row += [f"{known[name].value:.2f}" for name in ("discrimination", "alpha", "beta")]
        row += ["yes" if cell.study.identified else "no"]
        row += [f"{rules[rule]:.0%}" for rule in RULES]
        assert f"| {' | '.join(row)} |" in DOCS


def test_the_sentences_of_the_docs(cells: list[Cell]) -> None:
    """The guard where votes tell little; auto never below no repair; vrr once, by one plan."""
    lost = []
    for cell in cells:
        rules = {row.policy: row.success.value for row in cell.study.crossfit.summary.policies}
        assert rules["auto"] >= rules["fixed(0)"]
        if rules["vrr"] < rules["fixed(0)"]:
            lost.append((cell.repairer, cell.verifier, round(30 * rules["vrr"]) - 20))
        guarded = cell.study.otherwise
        assert (guarded.guarded == guarded.folds) is (cell.verifier == "plain")
    assert lost == [("told_wrong", "steps", -1)]


def test_exact_probabilities_beside_the_sampled_ones(recording: Recording[RepairEpisode]) -> None:
    """The model's own probability, brought to the votes' temperature, is the rate of its votes.

    Within two standard errors of the share, on right plans and on wrong ones, by repairer.
    """
    shown: dict[bool, list[str]] = {True: [], False: []}
    for arm in dict.fromkeys(episode.arm for episode in recording.episodes):
        steps = [
            step
            for episode in of_view([e for e in recording.episodes if e.arm == arm], EXACT)
            for step in episode.steps
        ]
        for valid, found in shown.items():
            mine = [step for step in steps if step.valid is valid]
            own = np.array([step.accept_probability for step in mine], dtype=float)
            odds = (own / (1 - own)) ** (1 / VOTED_AT)
            share = np.array([step.accepts / step.votes for step in mine])
            error = share.std(ddof=1) / np.sqrt(len(share))
            expected = (odds / (1 + odds)).mean()
            assert abs(expected - share.mean()) < 2 * error
            found += [f"{expected:.2f}"[1:] + " and " + f"{share.mean():.2f}"[1:]]
    right, wrong = shown[True], shown[False]
    assert f"on right plans {right[0]} (`revise`), {right[1]} (`told_wrong`)" in DOCS
    assert f"{right[2]} (`restart`); on wrong ones {', '.join(wrong)}." in DOCS
