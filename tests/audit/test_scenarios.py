"""Hand-made episodes whose audit is known in advance."""

from __future__ import annotations

import math

import numpy as np
import pytest

from audit.episodes import audited, episode, repeated, tally_of
from haltwise.audit.contrast import contrast
from haltwise.audit.result import audit
from haltwise.record import MEAN6


def test_groups_of_the_contrast() -> None:
    """At t = 4, "UUUU" is in group 1, "HUUU" and "UHUU" not both: the run must be <= t - 2."""
    # r at t = 4: UUUU 4 (group 1); HUUU 3 (neither: t - 2 = 2); UHUU 2, UUHU 1 (group 0).
    rows = [episode(f"{start}U", f"q{i}") for i, start in enumerate(("UUUU", "HUUU", "UHUU"))]
    rows.append(episode("UUHU.", "q3"))
    strata = {s.t: s for s in audited(rows).contrast.strata}
    four = strata[4]
    assert (four.n1, four.x1, four.n0, four.x0) == (1, 0, 2, 1)


def test_unjudged_results_leave_the_run_and_are_no_decision_on_a_useless_one() -> None:
    """ "UU-U" reaches a run of 3 at t = 4: neither all useless (3 < 4) nor mixed (3 > t - 2)."""
    strata = {s.t: s for s in audited([episode("UU-UU")]).contrast.strata}
    assert (strata[3].n1, strata[3].n0) == (0, 0)
    assert (strata[4].n1, strata[4].n0) == (0, 0)


def test_contrast_by_hand() -> None:
    """One stratum, 10 against 10: 8 of 10 answer after all useless, 2 of 10 after mixed: +0.6."""
    rows = repeated("UUU.", 8) + repeated("UUUU", 2, 8)
    rows += repeated("UHU.", 2, 10) + repeated("UHUU", 8, 12)
    # "UUUU" and "UHUU" have their fourth step last, hence no decision point there.
    found = contrast(tally_of(rows).sample(8), level=0.95, replicates=500, seed=1)
    assert found.estimate.value == pytest.approx(0.6)
    assert found.estimate.low < 0.6 < found.estimate.high
    assert found.estimate.n == 20


def test_the_last_action_is_left_out() -> None:
    """An answer at the budget's last action is no reaction: t = 7 of 8 is in no stratum."""
    assert [s.t for s in audited([episode("UUUUUUU.")]).contrast.strata] == [3, 4, 5, 6]


def test_an_episode_s_own_smaller_budget_holds() -> None:
    """With a recorded budget of 6, decision points after t = 4 do not count."""
    strata = audited([episode("UUUUU.", budget=6)]).contrast.strata
    assert [s.n1 for s in strata] == [1, 1, 0, 0]


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (["HHHH", "HH."], "no result was called useless"),
        (["UUUU."], "something"),
        (["UHUU", "HHUUU."], "nothing but useless"),
        (["--.", "----"], "no result was judged"),
    ],
)
def test_undefined_contrast_says_what_is_missing(rows: list[str], reason: str) -> None:
    """An empty group makes the contrast undefined, and the note says which; it is never 0."""
    found = audited([episode(row, f"q{i}") for i, row in enumerate(rows)]).contrast.estimate
    assert math.isnan(found.value)
    assert reason in found.note or "one of another kind" in found.note


def test_a_small_budget_has_no_decision_points() -> None:
    """A budget of 4 leaves nothing between 3 and budget - 2; the note says what it needs."""
    found = audited([episode("UU.")], k=2, budget=4)
    assert "needs 5" in found.contrast.estimate.note
    assert not found.hazard_slope.estimate.defined


def test_mean6_over_six_regimes() -> None:
    """With all six regimes mean6 is their plain mean, whatever their sizes."""
    rows = []
    for i, regime in enumerate(MEAN6):
        rows += repeated("H.", i + 1, regime=regime, success=True)
        rows += repeated("H.", 2, i + 1, regime=regime, success=False)
    found = audited(rows).mean6
    assert found.value == pytest.approx(np.mean([(i + 1) / (i + 3) for i in range(6)]))


def test_ungraded_episodes_count_as_missing() -> None:
    """A regime whose episodes nobody graded is named as missing, and its success is undefined."""
    rows = [episode("H.", regime=regime, success=True) for regime in MEAN6[1:]]
    rows.append(episode("H.", regime="clean"))
    found = audited(rows)
    assert found.mean6.note == "no graded episodes of clean"
    assert not found.success["clean"].defined
    assert found.success["persistent"].value == 1


def test_scope_names_what_was_used() -> None:
    """Slow and clean regimes are left out of the contrast, and the note says so."""
    rows = [episode("UUU.", regime=regime) for regime in ("clean", "persistent", "plausible")]
    note = audited(rows).contrast.estimate.note
    assert "regimes used: persistent" in note
    assert "left out: clean, plausible" in note


def test_without_regimes_everything_is_used() -> None:
    """Episodes outside experiments all count, and are reported once, as "all"."""
    found = audited(repeated("UUUU.", 3) + repeated("UHUU.", 2, 3))
    assert found.contrast.estimate.defined
    assert "regimes" not in found.contrast.estimate.note
    assert {row.regime for row in found.after_run} == {"all"}
    assert list(found.success) == ["none"]


def test_waste_and_first_useful() -> None:
    """ "UUHU" has two calls after its second useless result of four, and its first useful at 3."""
    found = audited([episode("UUHU"), episode("UUU", "q2")], k=2)
    assert found.waste[1].calls == 3
    assert found.waste[1].estimate.value == pytest.approx(3 / 7)
    assert found.first_useful.value == 3
    assert "1 episodes never had one" in found.first_useful.note
    assert found.useless_rate.value == pytest.approx(6 / 7)


def test_source_errors_are_no_judgements() -> None:
    """A failed tool and a missing verdict do not enter the useless rate; "unknown" does."""
    assert audited([episode("U?E-H.")]).useless_rate.value == pytest.approx(1 / 3)


def test_cut_off_episodes() -> None:
    """An episode cut off from outside is neither "never answered" nor silently "no answer"."""
    found = audited([episode("UUUUUU", censored=True), episode("UUUUUU.", "q2")])
    assert found.unanswered.value == 0
    assert found.unanswered.n == 1
    row = found.after(5)
    assert row is not None
    assert (row.at_risk, row.answered) == (2, 1)
    assert "1 cut off" in row.estimate.note


def test_budget_that_is_not_recorded_is_assumed_aloud() -> None:
    """Without recorded budgets 8 is assumed; a longer episode brings a note with the option."""
    done = audit(tally_of([episode("U" * 20)]), replicates=10)
    assert done.budget == 8
    assert any("--budget 20" in note for note in done.notes)
    assert audit(tally_of([episode("UUU", budget=12)]), replicates=10).budget == 12


def test_pooled_models_are_named() -> None:
    """Two models in one input bring a note that names the option to tell them apart."""
    done = audited([episode("U.", model="a"), episode("U.", "q2", model="b")])
    assert any("2 models are pooled; --where model=a" in note for note in done.notes)


def test_simulated_episodes_are_labelled() -> None:
    """Simulated agents are counted and named as such."""
    done = audited([episode("U.", model="simulated:x"), episode("U.", "q2")])
    assert done.mixture.simulated == 1
    assert any("simulated" in note for note in done.notes)


def test_intervals_have_the_level_asked_for() -> None:
    """A true contrast of 0 lies inside its 90 % interval about as often as it says."""
    # Episodes are drawn with equal hazards in both groups, so that the true contrast is 0.
    rng = np.random.default_rng(5)
    covered = 0
    for _ in range(60):
        rows = []
        for i in range(60):
            start = "UU" if rng.random() < 0.6 else "UH"
            rows.append(episode(start + ("U." if rng.random() < 0.3 else "UU"), f"q{i // 2}"))
        found = contrast(tally_of(rows).sample(8), level=0.9, replicates=300, seed=2).estimate
        covered += found.low <= 0 <= found.high
    assert 46 <= covered <= 60  # binomial(60, .9): 54 expected, 3.4 s.e. down to 46
