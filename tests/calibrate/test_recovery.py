"""The recovery fit: counts and values by hand, gaps, and what the rule is worth out of sample."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import isotonic_regression

from haltwise.calibrate.recovery import estimate_recovery, recovery_model
from haltwise.calibrate.recovery_counts import RecoveryCounts, isotonic, recovery_counts
from haltwise.core.errors import InputError
from haltwise.core.events import Verdict
from haltwise.core.policies import Recovery, UselessStreak
from haltwise.core.policy import Policy
from haltwise.record.episode import AnswerNow, Outcome, SearchEpisode, SearchStep
from haltwise.replay.outcome import search_outcomes
from haltwise.replay.search import SearchTable, search_firing, search_table

WORDS = {
    "x": Verdict.USELESS,
    "o": Verdict.USEFUL,
    "?": Verdict.UNKNOWN,
    "-": Verdict.UNJUDGED,
    "!": Verdict.SOURCE_ERROR,
}


def loop(
    verdicts: str, *, now: bool | None = False, success: bool | None = True, cluster: str = "q"
) -> SearchEpisode:
    """Return a loop from one letter a verdict; a trailing "a" is its answer."""
    tools = verdicts.removesuffix("a")
    steps = [
        SearchStep(
            t=t, action="s", verdicts={"recorded": WORDS[v]}, answer_now=AnswerNow(success=now)
        )
        for t, v in enumerate(tools, start=1)
    ]
    if tools != verdicts:
        steps.append(SearchStep(t=len(steps) + 1, action="answer"))
    return SearchEpisode(
        episode_id=verdicts,
        cluster_id=cluster,
        question_id=cluster,
        steps=steps,
        outcome=Outcome(success=success),
    )


def counted(*loops: SearchEpisode, budget: int = 5, price: float = 0.1) -> RecoveryCounts:
    """Return the counts of loops, one cluster."""
    table = search_table(loops)
    return recovery_counts(table, np.zeros(len(loops), int), budget=budget, price=price)


def test_counts_by_hand() -> None:
    """B = 5, c = .1. Loop 1: useless, useless, useful, useless, answer. Loop 2: useless, answer.

    Searched on at a run: loop 1 at t = 1 (r = 1, fresh), t = 2 (r = 2, fresh); after t = 3 there is
    no run; after t = 4 it answers, as loop 2 does after t = 1: censored. One recovery, at r = 2,
    with m = 5 - 3 = 2 left and one later call: 1 - .1.
    """
    found = counted(loop("xxoxa"), loop("xa"))
    assert found.tried.tolist() == [[[1, 1, 0], [0, 0, 0]]]
    assert found.recovered.tolist() == [[[0, 1, 0], [0, 0, 0]]]
    assert found.asked.tolist() == [[2, 0]]
    assert found.useful.tolist() == [[0, 1, 0]]
    assert found.value.tolist() == [[0, pytest.approx(0.9), 0]]


def test_fresh_is_a_run_from_the_first_step() -> None:
    """After a useful result the run is counted in the second row; only one recovery a loop."""
    found = counted(loop("oxoxo", now=True), budget=7, price=0)
    assert found.tried[0, 1].tolist() == [2, 0, 0, 0, 0]
    assert found.recovered[0, 1].tolist() == [2, 0, 0, 0, 0]
    assert found.right.tolist() == [[0, 2]]
    assert found.useful.tolist() == [[0, 0, 0, 1, 0]]


def test_verdicts_that_leave_the_run_say_nothing_of_recovery() -> None:
    """Unjudged results and failed sources censor; "unknown" resets the run, so it is an event."""
    assert counted(loop("x-x"), loop("x!x")).tried.sum() == 2  # the steps after - and !
    assert counted(loop("x?")).recovered.tolist() == [[[1, 0, 0], [0, 0, 0]]]


def test_a_recovery_at_the_last_action_has_no_value() -> None:
    """m = 0: no action is left to use it, and the table has no such row."""
    assert counted(loop("xxxxo")).useful.sum() == 0
    assert counted(loop("xxxxo")).tried.sum() == 3  # runs of 1 .. B - 2


def test_shrinkage_by_hand() -> None:
    """h = (x + 5 h_r) / (n + 5): fresh 0 of 1, others 1 of 3, pooled 1/4."""
    counts = RecoveryCounts(
        tried=np.array([[[1.0], [3.0]]]),
        recovered=np.array([[[0.0], [1.0]]]),
        asked=np.array([[1.0, 1.0]]),
        right=np.array([[0.0, 1.0]]),
        useful=np.array([[1.0]]),
        value=np.array([[0.5]]),
    )
    assert counts.hazard().tolist() == [[[1.25 / 6], [2.25 / 8]]]
    assert RecoveryCounts.of(counts.matrix()).hazard().tolist() == counts.hazard().tolist()


@given(
    hnp.arrays(float, 6, elements=st.floats(-1, 1)),
    hnp.arrays(float, 6, elements=st.sampled_from([0.0, 1.0, 2.0, 7.0])),
)
def test_isotonic_regression_is_that_of_scipy(means: np.ndarray, weights: np.ndarray) -> None:
    """Oracle: scipy.optimize.isotonic_regression on the entries of positive weight."""
    known = weights > 0
    found = isotonic(means * weights, weights)
    assert np.isnan(found[~known]).all()
    if known.any():
        expected = isotonic_regression(means[known], weights=weights[known]).x
        np.testing.assert_allclose(found[known], expected, atol=1e-12)


def test_gaps_are_filled_and_named() -> None:
    """An unseen run takes the shorter one's hazard, unseen m the smaller one's value."""
    model, notes = recovery_model(counted(loop("xo"), loop("xxoa", success=False)), price=0.1)
    assert model.hazard[0] == pytest.approx((0.5, 1, 1))
    assert model.useful_value == pytest.approx((0, 0, 1))  # m = 2: -> 0; m = 3: 1; m = 1 takes 0
    assert model.answer_now == (0, 0)
    assert [note.split(":")[0] for note in notes] == [
        "no loop searched on at run 3",
        "no answer-now branch of loops with an earlier useful result is known",
        "no recovery came with 1 actions left",
    ]


def test_a_source_that_never_recovered() -> None:
    """Nothing recovered: the fit stands, says so, and gives up at any price."""
    model, notes = recovery_model(counted(loop("xxxx")), price=0.1)
    assert model.stop == ((0, 1, 2, 3, 4), (1, 2, 3), (1, 2), (1,))
    assert any("no source recovered" in note for note in notes)
    assert any("the table gives up there" in note for note in notes)


@pytest.mark.parametrize(
    ("episode", "message"),
    [
        (loop("oooa"), "no loop searched on after a useless result"),
        (loop("xxo", now=None), "give a table of forced answers with --answer-now"),
    ],
)
def test_nothing_to_fit_is_an_error(episode: SearchEpisode, message: str) -> None:
    """Records without runs, or without any forced answer, are refused with the remedy."""
    with pytest.raises(InputError, match=message):
        recovery_model(counted(episode), price=0)


def test_document_carries_estimates() -> None:
    """haltwise.recovery/1: every sampled quantity with interval, n and method; gaps are null."""
    episodes = [loop("xxoxa", cluster=f"q{i}", now=i % 2 == 0) for i in range(8)]
    episodes += [loop("xxxxx", cluster=f"q{i}") for i in range(8)]
    fit = estimate_recovery(episodes, budget=5, price=0.1, replicates=200)
    document = json.loads(json.dumps(fit.to_json(), allow_nan=False))
    assert document["schema"] == "haltwise.recovery/1"
    assert (document["n"], document["clusters"], document["price"]) == (16, 8, 0.1)
    second = document["hazard"][1]
    assert (second["r"], second["fresh"], second["n"], second["value"]) == (2, True, 16, 0.5)
    assert second["low"] <= 0.5 <= second["high"]
    first = document["hazard"][0]
    assert (first["value"], first["low"]) == (0, 0) and 0 < first["high"] < 0.3  # Wilson
    assert [row["n"] for row in document["useful_value"]] == [0, 8, 0]
    assert document["useful_value"][0]["value"] is None and document["useful_value"][0]["note"]
    assert document["stop"][0] == {"m": 1, "r": [0, 1, 2, 3, 4]}


def utility(policy: Policy, table: SearchTable, price: float) -> float:
    """Return the mean utility of a policy."""
    return float(search_outcomes(table, search_firing(policy, table), price).utility.mean())


@pytest.mark.parametrize("price", [0, 0.02, 0.05])
def test_recovery_beats_the_best_fixed_streak_on_published_episodes(
    price: float, published: tuple[SearchTable, np.ndarray]
) -> None:
    """20 half-splits by question: at least the utility of the streak(k) best on the same half."""
    table, questions = published
    gains = []
    for seed in range(20):
        chosen = np.random.default_rng(seed).permutation(300)[:150]
        half = np.isin(questions, chosen)
        fit_on, test_on = table.rows(half), table.rows(~half)
        counts = recovery_counts(fit_on, np.zeros(len(fit_on), int), budget=8, price=price)
        model, _ = recovery_model(counts, price=price)
        fixed = max(
            (UselessStreak(k) for k in range(1, 9)), key=lambda p: utility(p, fit_on, price)
        )
        gains.append(utility(Recovery(model), test_on, price) - utility(fixed, test_on, price))
    assert np.mean(gains) >= 0


def test_no_value_is_nan(published: tuple[SearchTable, np.ndarray]) -> None:
    """On the published episodes all quantities of METHODS are there, and u grows with m."""
    table, questions = published
    counts = recovery_counts(table, questions, budget=8, price=0.05)
    model, notes = recovery_model(counts, price=0.05)
    assert not math.isnan(sum(model.useful_value) + sum(model.hazard[0]) + model.gain)
    assert 0.3 < model.gain < 0.4  # METHODS: "G of about .35"
    assert len(notes) == 1 and "no fresh loop recovered at run 6" in notes[0]
