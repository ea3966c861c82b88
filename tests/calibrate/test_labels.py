"""The label budget."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from haltwise.calibrate.labels import within_budget
from haltwise.record.repair_table import UNKNOWN, RepairTable


@given(st.integers(0, 40), st.integers(0, 99))
def test_never_more_than_the_budget(budget: int, seed: int) -> None:
    """At most the budget stays labelled, whole loops at a time; votes are never touched."""
    rng = np.random.default_rng(0)
    table = RepairTable.from_arrays(rng.integers(0, 9, (12, 4)), 8, rng.integers(-1, 2, (12, 4)))
    kept, hidden = within_budget(table, budget, np.random.default_rng(seed))
    assert kept.transitions.sum() <= budget
    assert kept.transitions.sum() + hidden == table.transitions.sum()
    whole = (kept.valid == table.valid).all(axis=1)
    assert (kept.valid[~whole] == UNKNOWN).all()
    np.testing.assert_array_equal(kept.accepts, table.accepts)


def test_enough_budget_changes_nothing() -> None:
    """A budget that covers every label returns the table itself."""
    table = RepairTable.from_arrays([[1, 2], [3, 4]], 8, [[0, 1], [1, 1]])
    assert within_budget(table, 2, np.random.default_rng(0)) == (table, 0)


def test_single_plans_keep_their_labels() -> None:
    """Labels of loops without a transition cost nothing and stay."""
    table = RepairTable.from_arrays([[1], [3]], 8, [[0], [1]])
    assert within_budget(table, 0, np.random.default_rng(0))[0] is table


@pytest.mark.parametrize("gated", [True, False])
def test_hidden_loops_that_end_when_right_keep_their_first_plan_only(gated: bool) -> None:
    """The length of a gated loop tells its truth, so what follows the first plan is hidden too."""
    end = 0 if gated else 1
    valid = np.array([[0, 1, -1], [0, 0, 1], [0, 1, -1 if gated else end]], np.int8)
    length = np.array([2, 3, 2 if gated else 3])
    votes = np.where(np.arange(3) < length[:, None], 8, 0)
    table = RepairTable(votes // 2, votes, valid, length, np.arange(3), np.zeros(3, bool))
    kept, hidden = within_budget(table, 0, np.random.default_rng(0))
    assert hidden == table.transitions.sum() and (kept.valid == UNKNOWN).all()
    assert kept.length.tolist() == ([1, 1, 1] if gated else [2, 3, 3])
    assert (kept.votes[:, 1:].sum() == 0) is np.bool_(gated)
