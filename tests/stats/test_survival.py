"""Discrete Kaplan-Meier."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from haltwise.stats.survival import kaplan_meier

units = st.lists(st.tuples(st.integers(1, 8), st.booleans()), min_size=1, max_size=60)


@given(units)
@settings(max_examples=40)
def test_equals_statsmodels(data: list[tuple[int, bool]]) -> None:
    """Shares, Greenwood errors and numbers at risk are those of statsmodels' SurvfuncRight."""
    from statsmodels.duration.survfunc import SurvfuncRight

    times, observed = np.array([t for t, _ in data]), np.array([e for _, e in data], dtype=int)
    curve = kaplan_meier(times, observed, level=0.9)
    if not observed.any():
        assert all(estimate.value == 1 for estimate in curve.survival)
        return
    with np.errstate(all="ignore"):
        theirs = SurvfuncRight(times, observed)
        errors = theirs.surv_prob_se
    for time, share, error, risk in zip(
        theirs.surv_times, theirs.surv_prob, errors, theirs.n_risk, strict=True
    ):
        ours = curve.at(time)
        assert ours.value == pytest.approx(share, abs=1e-12)
        assert ours.n == risk
        if 0 < share < 1:
            # The interval is share^exp(-+ z se / (share |log share|)): read the error back off it.
            half = math.log(math.log(ours.low) / math.log(ours.high)) / 2
            se = half * share * abs(math.log(share)) / 1.6448536269514722
            assert se == pytest.approx(error, rel=1e-9)
            assert 0 < ours.low < share < ours.high < 1


def test_by_hand() -> None:
    """Six units, two censored, worked out by hand."""
    # t: 1 event; 2 event, censored; 3 censored; 4 two events.
    # at risk 6, 5, 3, 2; S = 5/6, 5/6 * 4/5 = 2/3, 2/3, 0.
    curve = kaplan_meier([1, 2, 2, 3, 4, 4], [1, 1, 0, 0, 1, 1])
    assert curve.times == (1, 2, 3, 4)
    assert curve.at_risk == (6, 5, 3, 2)
    assert curve.events == (1, 1, 0, 2)
    assert [e.value for e in curve.survival] == pytest.approx([5 / 6, 2 / 3, 2 / 3, 0])
    # Greenwood at 2: (2/3)^2 (1/(6*5) + 1/(5*4)) = .4444 * .08333 -> se .19245
    se, share = 0.19245008972987526, 2 / 3
    reach = 1.959963984540054 * se / (share * -math.log(share))
    assert curve.at(2).low == pytest.approx(share ** math.exp(reach))
    assert curve.at(2.9) == curve.at(2)


def test_coverage() -> None:
    """Over 400 samples with censoring the 90 % interval covers the true survival."""
    rng = np.random.default_rng(1)
    covered = []
    for _ in range(400):
        event = rng.geometric(0.25, 60)
        leave = rng.integers(1, 9, 60)
        curve = kaplan_meier(np.minimum(event, leave), event <= leave, level=0.9)
        estimate = curve.at(3)
        covered.append(estimate.low <= 0.75**3 <= estimate.high)
    assert 0.86 <= np.mean(covered) <= 0.94  # s.e. .015


def test_counts_stand_for_units() -> None:
    """Counted entries give the curve of the entries written out, up to ten million of each."""
    counted = kaplan_meier([2, 1, 3], [1, 0, 1], counts=[2, 1, 3])
    written = kaplan_meier([2, 2, 1, 3, 3, 3], [1, 1, 0, 1, 1, 1])
    assert repr(counted) == repr(written)  # an undefined limit is NaN, which equals nothing
    many = kaplan_meier([1, 2], [1, 0], counts=[10**7, 10**7])
    assert many.at(1).value == 0.5
    assert 0 < many.at(1).high - many.at(1).low < 1e-3


def test_edges() -> None:
    """No units, before the first event, past the last observation: each says what it is."""
    assert kaplan_meier([], []).at(1).note == "no units"
    censored = kaplan_meier([2, 3], [1, 0])
    assert censored.at(1).value == 1
    assert censored.at(1).note == "before any event"
    assert censored.at(4).note == "no unit was observed that long"
    done = kaplan_meier([2, 3], [1, 1])
    assert done.at(9).value == 0
    assert done.at(9).note == "no interval: none left"
    assert kaplan_meier([2], [0]).at(2).note == "no interval: no event yet"


def test_wrong_input_is_refused() -> None:
    """Other shapes, endless times and odd flags are errors."""
    with pytest.raises(ValueError, match="a unit"):
        kaplan_meier([1, 2], [1])
    with pytest.raises(ValueError, match="finite"):
        kaplan_meier([math.inf], [1])
    with pytest.raises(ValueError, match="0 or 1"):
        kaplan_meier([1], [2])
