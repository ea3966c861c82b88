"""The label budget: which truths calibration may look at.

Knows nothing of estimation. Labels beyond the budget are hidden, not used: this is what a
calibration would have seen that could afford so many labels and no more.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..record.repair_table import UNKNOWN, RepairTable
from .dynamics import is_gated

LABELLED_MAX = 300
"""Labelled transitions that the published calibration may use."""


def within_budget(
    table: RepairTable, labelled_max: int, rng: np.random.Generator
) -> tuple[RepairTable, int]:
    """Hide the labels of whole loops, drawn at random, until at most ``labelled_max`` transitions
    are labelled; return the table and the number of labelled transitions that were hidden.

    Loops without a labelled transition keep their labels: they cost no transition. Where loops end
    when right, the length of a loop gives its truth away: of a loop whose labels are hidden only
    the initial plan is kept.
    """
    transitions = table.transitions.sum(axis=1)
    order = rng.permutation(len(table))
    beyond = np.zeros(len(table), dtype=bool)
    beyond[order] = (transitions[order].cumsum() > labelled_max) & (transitions[order] > 0)
    hidden = int(transitions[beyond].sum())
    if not hidden:
        return table, 0
    seen = table.relabelled(np.where(beyond[:, None], np.int8(UNKNOWN), table.valid))
    return (first_plans_only(seen, beyond) if is_gated(table) else seen), hidden


def first_plans_only(table: RepairTable, loops: npt.NDArray[np.bool_]) -> RepairTable:
    """Return the table with nothing but the initial plan left of the picked ``loops``."""
    later = loops[:, None] & (np.arange(table.columns) > 0)
    return RepairTable(
        np.where(later, 0, table.accepts),
        np.where(later, 0, table.votes),
        np.where(later, np.int8(UNKNOWN), table.valid),
        np.where(loops, 1, table.length),
        table.cluster,
        table.gated,
    )
