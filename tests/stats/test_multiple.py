"""Holm's adjustment."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from haltwise.stats.multiple import holm


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
@settings(max_examples=40)
def test_equals_statsmodels(p_values: list[float]) -> None:
    """Adjusted values are those of statsmodels' multipletests."""
    from statsmodels.stats.multitest import multipletests

    assert holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1].tolist())


def test_by_hand() -> None:
    """R's p.adjust(c(.01, .04, .03, .005), "holm") is .03, .06, .06, .02."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_undefined_tests_are_no_members() -> None:
    """NaN stays NaN and does not make the others stricter."""
    adjusted = holm([0.01, math.nan, 0.02])
    assert adjusted[0] == pytest.approx(0.02)
    assert math.isnan(adjusted[1])
    assert adjusted[2] == pytest.approx(0.02)
    assert holm([]) == []
    assert math.isnan(holm([math.nan])[0])


def test_wrong_input_is_refused() -> None:
    """A p-value above 1 is an error."""
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([0.1, 1.2])
