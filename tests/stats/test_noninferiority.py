"""Non-inferiority."""

from __future__ import annotations

import math

import pytest

from haltwise.stats.estimate import Estimate, undefined
from haltwise.stats.noninferiority import noninferiority
from haltwise.stats.paired import PairedTable, tango


def test_bound_above_the_margin() -> None:
    """The lower end of the two-sided 95 % interval is the one-sided 97.5 % bound."""
    result = noninferiority(Estimate(-0.01, -0.03, 0.02, 0.95, 300), 0.05)
    assert result.noninferior is True
    assert (result.bound, result.level, result.margin) == (-0.03, 0.975, 0.05)
    assert noninferiority(Estimate(-0.01, -0.06, 0.02), 0.05).noninferior is False


def test_a_bound_on_the_margin_does_not_suffice() -> None:
    """Equality is not shown to be above."""
    assert noninferiority(Estimate(0.0, -0.05, 0.05), 0.05).noninferior is False


def test_published_table() -> None:
    """Of Cavo's 161 pairs (Tango: from -.1240) a loss of .13 is excluded, one of .12 not."""
    difference = tango(PairedTable(59, 6, 16, 80))
    assert noninferiority(difference, 0.13).noninferior is True
    assert noninferiority(difference, 0.12).noninferior is False


def test_without_a_bound_there_is_no_verdict() -> None:
    """An undefined difference gives None and keeps its reason."""
    result = noninferiority(undefined("no pairs"), 0.05)
    assert result.noninferior is None
    assert math.isnan(result.bound)
    assert result.note == "no pairs"


def test_wrong_input_is_refused() -> None:
    """A margin of 0 or below is an error."""
    with pytest.raises(ValueError, match="positive"):
        noninferiority(Estimate(0.0, -0.1, 0.1), 0)
