"""From outcomes to estimates: means, pairs, notes, and what stays undefined."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from haltwise.replay.outcome import Outcomes
from haltwise.replay.summary import FEW, summarise

NAN = math.nan


def outcomes(success: list[float], steps: list[float] | None = None) -> Outcomes:
    """Return outcomes with these successes, none of them stopped by the policy."""
    n = len(success)
    right, made = np.array(success), np.array(steps or [1.0] * n)
    return Outcomes(
        success=right,
        steps=made,
        votes=np.full(n, NAN),
        utility=right - 0.1 * made,
        miss=np.where(np.isnan(right), NAN, 0.0),
        regret=np.where(np.isnan(right), NAN, 0.0),
        stops=0,
        unknown_stops=0,
        unknown_ends=int(np.isnan(right).sum()),
        options=n,
        known_options=n,
    )


def test_means_and_paired_differences_by_hand() -> None:
    """a - b on the same loops: (1 - 0 + 1 - 1 + 0 - 0 + 1 - 0) / 4 = .5; utility - .1 x steps."""
    a, b = outcomes([1, 1, 0, 1], [2, 2, 2, 2]), outcomes([0, 1, 0, 0])
    found = summarise("search", ["a", "b"], [a, b], np.arange(4), price=0.1)
    assert [policy.success.value for policy in found.policies] == [0.75, 0.25]
    assert [policy.steps.value for policy in found.policies] == [2, 1]
    pair = found.comparisons[0]
    assert (pair.a, pair.b, pair.difference.value) == ("a", "b", 0.5)
    assert pair.utility.value == pytest.approx(0.4)


def test_pairs_are_those_loops_that_both_know() -> None:
    """Unknown on either side: the loop leaves the comparison, and the note counts it."""
    a, b = outcomes([1, NAN, 0, 1]), outcomes([0, 0, NAN, 1])
    found = summarise("search", ["a", "b"], [a, b], np.arange(4), price=0.1)
    difference = found.comparisons[0].difference
    assert difference.value == 0.5
    assert "on the 2 of 4 loops where both are known" in difference.note
    assert "1 of 4 loops are not graded" in found.policies[0].success.note


def test_a_policy_of_whose_stops_nothing_is_known_is_undefined() -> None:
    """The loops that it left alone are no sample: value and p stay undefined, other pairs do not
    pay for it in Holm's correction.
    """
    blind = replace(outcomes([NAN, NAN, 1, 1]), stops=2, unknown_stops=2, unknown_ends=0)
    known = [outcomes([1, 1, 1, 0]), outcomes([0, 0, 1, 0])]
    found = summarise("search", ["x", "a", "b"], [blind, *known], np.arange(4), price=0)
    assert not found.policies[0].success.defined
    assert "give --answer-now" in found.policies[0].success.note
    by_pair = {(c.a, c.b): c for c in found.comparisons}
    assert math.isnan(by_pair["x", "a"].p) and not by_pair["x", "a"].difference.defined
    assert by_pair["a", "b"].p_holm == by_pair["a", "b"].p


def test_holm_is_taken_over_all_pairs() -> None:
    """Oracle: statsmodels multipletests(method="holm") on the p-values of the run."""
    rng = np.random.default_rng(0)
    policies = [
        outcomes((rng.random(60) < rate).astype(float).tolist()) for rate in (0.3, 0.6, 0.7)
    ]
    found = summarise("search", ["a", "b", "c"], policies, np.arange(60), price=0)
    p = [pair.p for pair in found.comparisons]
    assert [pair.p_holm for pair in found.comparisons] == pytest.approx(
        multipletests(p, method="holm")[1].tolist()
    )


def test_clusters_not_loops_are_resampled() -> None:
    """Ten copies of each loop in one cluster tell no more than one: the interval stays as wide."""
    rng = np.random.default_rng(1)
    once = (rng.random(80) < 0.5).astype(float)
    alone = summarise("search", ["a"], [outcomes(once.tolist())], np.arange(80), price=0)
    copied = outcomes(np.repeat(once, 10).tolist())
    clustered = summarise("search", ["a"], [copied], np.repeat(np.arange(80), 10), price=0)
    wide, same = alone.policies[0].success, clustered.policies[0].success
    assert clustered.clusters == 80 and clustered.loops == 800
    assert (same.value, same.low, same.high) == (wide.value, wide.low, wide.high)


def test_many_clusters_by_poisson_weights_agree_with_the_normal_interval() -> None:
    """Above `FEW` clusters: half-width of the share of n = 4,000 within 10 % of 1.96 sqrt(pq/n)."""
    right = np.random.default_rng(2).random(4000) < 0.3
    assert len(right) > FEW
    found = summarise(
        "search", ["a"], [outcomes(right.astype(float).tolist())], np.arange(4000), price=0
    )
    success = found.policies[0].success
    expected = 1.96 * math.sqrt(success.value * (1 - success.value) / 4000)
    assert (success.high - success.low) / 2 == pytest.approx(expected, rel=0.1)
    assert "Poisson" in success.method


def test_hindsight_without_any_known_alternative_is_undefined() -> None:
    """Miss and regret of 0 would claim that nothing better was there."""
    lonely = replace(outcomes([1, 0]), options=5, known_options=0)
    found = summarise("search", ["a"], [lonely], np.arange(2), price=0)
    assert not found.policies[0].miss.defined and not found.policies[0].regret.defined
    partly = replace(outcomes([1, 0]), options=5, known_options=2)
    found = summarise("search", ["a"], [partly], np.arange(2), price=0)
    assert "2 of 5 other ways to end are known" in found.policies[0].regret.note
