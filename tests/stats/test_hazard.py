"""Discrete-time hazard regression from cell counts."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from haltwise.stats.hazard import HazardFit, hazard_slope
from haltwise.stats.pool import pool


def cells_of(t, r, event, cluster):  # type: ignore[no-untyped-def]
    """Return (strata, covariate, trials, events) of row-wise data."""
    pairs, cell = np.unique(np.column_stack([t, r]), axis=0, return_inverse=True)
    names, who = np.unique(cluster, return_inverse=True)
    trials = np.zeros((len(names), len(pairs)))
    np.add.at(trials, (who, cell.ravel()), 1)
    events = np.zeros_like(trials)
    np.add.at(events, (who, cell.ravel()), event)
    return pairs[:, 0], pairs[:, 1], trials, events


def by_statsmodels(t, r, event, cluster):  # type: ignore[no-untyped-def]
    """Fit the same model on rows with statsmodels; return (slope, s.e., dummies)."""
    import statsmodels.api as sm

    strata = np.unique(t)
    design = np.column_stack([*(t == s for s in strata), r]).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = sm.Logit(event, design).fit(
            disp=0, method="newton", maxiter=100, tol=1e-14, cov_type="cluster",
            cov_kwds={"groups": np.unique(cluster, return_inverse=True)[1]},
        )  # fmt: skip
    return fit.params[-1], fit.bse[-1], dict(zip(strata.tolist(), fit.params[:-1], strict=True))


def simulated(seed: int, clusters: int = 80, slope: float = -0.4):  # type: ignore[no-untyped-def]
    """Return row-wise (t, r, event, cluster) with a random effect of the cluster."""
    rng = np.random.default_rng(seed)
    size = rng.integers(1, 12, clusters)
    cluster = np.repeat(np.arange(clusters), size)
    t = rng.integers(3, 7, size.sum())
    r = 1 + rng.integers(0, t)
    eta = -0.5 + 0.2 * (t - 3) + slope * r + rng.normal(0, 0.7, clusters)[cluster]
    return t, r, (rng.random(len(t)) < 1 / (1 + np.exp(-eta))).astype(int), cluster


@pytest.mark.parametrize("seed", range(6))
def test_equals_statsmodels(seed: int) -> None:
    """Slope, clustered error and dummies are those of statsmodels' Logit on rows."""
    data = simulated(seed)
    fit = hazard_slope(*cells_of(*data))
    slope, se, dummies = by_statsmodels(*data)
    assert fit.slope.value == pytest.approx(slope, abs=1e-8)
    assert fit.se == pytest.approx(se, abs=1e-8)
    assert fit.strata == pytest.approx(dummies, abs=1e-7)
    assert fit.slope.high == pytest.approx(slope + 1.959963984540054 * se, abs=1e-7)
    assert (fit.slope.n, fit.events) == (len(data[0]), data[2].sum())
    assert fit.clusters == len(np.unique(data[3]))


def test_published_slope(shared_data: Callable[[str], Path]) -> None:
    """On the published episodes the fit is that of METHODS section 1."""
    t, r, event, cluster = [], [], [], []
    for line in (
        shared_data("judged_useless/qwen3-8b_unaided_test300.jsonl").read_text().splitlines()
    ):
        episode = json.loads(line)
        run = 0
        for at in range(1, len(episode["actions"])):
            run = run + 1 if episode["judgments"][at - 1] == "USELESS" else 0
            if 3 <= at <= 6 and run:
                t.append(at)
                r.append(run)
                event.append(episode["actions"][at] == "finish")
                cluster.append(episode["question_id"])
    fit = hazard_slope(*cells_of(t, r, event, cluster))
    assert (fit.slope.n, fit.events, fit.clusters) == (2561, 46, 295)
    assert fit.slope.value == pytest.approx(-0.7446073, abs=1e-7)
    assert fit.se == pytest.approx(0.1374131, abs=1e-7)
    assert (fit.slope.low, fit.slope.high) == pytest.approx((-1.0139, -0.4753), abs=5e-5)
    expected = {3: -2.54223, 4: -1.59596, 5: -1.41734, 6: -0.90869}
    assert fit.strata == pytest.approx(expected, abs=1e-5)


@given(st.integers(0, 10_000))
@settings(max_examples=25)
def test_pooling_and_order_change_nothing(seed: int) -> None:
    """Clusters with equal counts may be pooled, reordered or left empty."""
    t, r, trials, events = cells_of(*simulated(seed, clusters=40))
    plain = hazard_slope(t, r, trials, events)
    distinct, counts = pool(np.hstack([trials, events]))
    padded = np.vstack([distinct, np.zeros((1, distinct.shape[1]))])
    pooled = hazard_slope(t, r, *np.hsplit(padded, 2), counts=np.append(counts, 3))
    _same(plain, pooled)


def _same(a: HazardFit, b: HazardFit) -> None:
    assert (a.events, a.clusters, a.slope.n, a.slope.note) == (
        b.events,
        b.clusters,
        b.slope.n,
        b.slope.note,
    )
    for left, right in ((a.slope.value, b.slope.value), (a.se, b.se)):
        assert left == pytest.approx(right, rel=1e-9, nan_ok=True)


def test_a_far_covariate_changes_only_the_constants() -> None:
    """Shifting the covariate by a million leaves slope and error as they are."""
    t, r, trials, events = cells_of(*simulated(3))
    near, far = hazard_slope(t, r, trials, events), hazard_slope(t, r + 1e6, trials, events)
    assert far.slope.value == pytest.approx(near.slope.value, rel=1e-9)
    assert far.se == pytest.approx(near.se, rel=1e-6)


def test_stratum_without_events_says_nothing() -> None:
    """A stratum without events is the limit that statsmodels runs towards."""
    t, r, event, cluster = simulated(1, clusters=200)
    event = np.where(t == 5, 0, event)
    fit = hazard_slope(*cells_of(t, r, event, cluster))
    slope, se, _ = by_statsmodels(t, r, event, cluster)
    assert fit.slope.value == pytest.approx(slope, abs=1e-6)
    assert fit.se == pytest.approx(se, rel=1e-6)
    assert fit.strata[5.0] == -np.inf
    assert "say nothing" in fit.slope.note


@pytest.mark.parametrize(
    ("event_at", "reason"),
    [
        ([[0, 0, 0], [0, 0, 0]], "no events"),
        ([[1, 1, 1], [1, 1, 1]], "all events"),
        ([[0, 0, 1], [0, 0, 1]], "separation: in every stratum events happen only at the longest"),
        ([[1, 0, 0], [1, 1, 0]], "separation: in every stratum events happen only at the shortest"),
        ([[0, 0, 0], [1, 1, 1]], "separation: no stratum has both"),
    ],
)
def test_separation_is_undefined_with_its_reason(event_at: list[list[int]], reason: str) -> None:
    """Where no finite slope maximises the likelihood there is none, and the note says why."""
    t, r = np.repeat([3, 4], 3), np.tile([1, 2, 3], 2)
    trials = np.ones((5, 6))
    events = np.tile(np.ravel(event_at), (5, 1))
    fit = hazard_slope(t, r, trials, events)
    assert not fit.slope.defined
    assert np.isnan(fit.se)
    assert fit.slope.note.startswith(reason)
    assert fit.events == events.sum()


def test_nearly_separated_data_still_have_a_slope() -> None:
    """One observation against the order among a million makes the maximum finite again."""
    trials = np.array([[10.0**6, 10.0**6], [1, 1]])
    events = np.array([[0, 10.0**6], [1, 1]])
    fit = hazard_slope([3, 3], [1, 2], trials, events)
    # One stratum, two cells: saturated. Slope = logit(1) - logit(1/(1e6+1)) is infinite here,
    assert not fit.slope.defined
    # and finite as soon as the second cell has one non-event: logit(1e6/(1e6+1)) twice.
    events[1, 1] = 0
    assert hazard_slope([3, 3], [1, 2], trials, events).slope.value == pytest.approx(
        2 * np.log(1e6), rel=1e-9
    )


def test_ten_million_clusters() -> None:
    """Counts multiply the information: slope unchanged, error down by the root of the factor."""
    t, r, trials, events = cells_of(*simulated(2))
    few = hazard_slope(t, r, trials, events)
    many = hazard_slope(t, r, trials, events, counts=np.full(len(trials), 10**7))
    assert many.slope.value == pytest.approx(few.slope.value, rel=1e-9)
    # The finite-sample factor of the small sample goes away.
    size, clusters = few.slope.n, few.clusters
    factor = clusters / (clusters - 1) * (size - 1) / (size - 5)
    assert many.se == pytest.approx(few.se / np.sqrt(factor * 1e7), rel=1e-6)
    assert many.clusters == clusters * 10**7


def test_other_undefined_cases() -> None:
    """No clusters, one run length, one cluster: each named."""
    assert hazard_slope([3], [1], np.zeros((0, 1)), np.zeros((0, 1))).slope.note == (
        "no observations"
    )
    assert hazard_slope([], [], np.zeros((4, 0)), np.zeros((4, 0))).slope.note == "no observations"
    flat = hazard_slope([3, 4], [1, 2], [[4, 4], [4, 4]], [[1, 2], [2, 1]])
    assert flat.slope.note == "the covariate does not vary within a stratum"
    one = hazard_slope([3, 3], [1, 2], [[9, 9]], [[3, 5]])
    assert one.slope.value == pytest.approx(np.log(5 / 4) - np.log(3 / 6))
    assert np.isnan(one.se)
    assert one.slope.note == "no interval: one cluster"


def test_wrong_input_is_refused() -> None:
    """Shapes that do not fit and impossible counts are errors."""
    with pytest.raises(ValueError, match="one value a cell"):
        hazard_slope([3, 3], [1, 2], [[1, 1, 1]], [[1, 1, 1]])
    with pytest.raises(ValueError, match="between 0 and the trials"):
        hazard_slope([3], [1], [[1]], [[2]])
