"""Recorded loops taken apart into single plans, for the methods that do not look at the chain."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..record.repair_table import UNKNOWN, RepairTable
from .emission import Floats
from .votes import VoteCounts


def tally(table: RepairTable, *, labels: bool) -> VoteCounts:
    """Count plans by votes: initial ones without a label, and labelled ones of any round.

    Args:
        table: the loops.
        labels: whether labels may be seen; without, every voted initial plan is unknown.
    """
    truth = table.valid if labels else np.full_like(table.valid, UNKNOWN)
    pairs = np.stack([table.accepts, table.votes], axis=-1).reshape(-1, 2)
    cells, cell = np.unique(pairs, axis=0, return_inverse=True)
    cell = cell.reshape(truth.shape)
    first = np.zeros(truth.shape, dtype=bool)
    first[:, 0] = True

    def count(which: npt.NDArray[np.bool_]) -> Floats:
        return np.bincount(cell[which], minlength=len(cells)).astype(np.float64)[None]

    return VoteCounts(
        cells[:, 0],
        cells[:, 1],
        count(first & (truth == UNKNOWN) & (table.votes > 0)),
        count(truth == 0),
        count(truth == 1),
        np.array([float((truth[:, 0] == 0).sum())]),
        np.array([float((truth[:, 0] == 1).sum())]),
    )


def plan_rows(
    table: RepairTable, *, labels: bool, unlabelled: bool
) -> tuple[RepairTable, npt.NDArray[np.bool_]]:
    """Return the same plans as `tally`, one a row, and whether each is an initial plan.

    Args:
        table: the loops.
        labels: whether labels may be seen.
        unlabelled: whether initial plans without a label enter.
    """
    truth = table.valid if labels else np.full_like(table.valid, UNKNOWN)
    enters = truth != UNKNOWN
    if unlabelled:
        enters[:, 0] |= table.votes[:, 0] > 0
    loop, column = np.nonzero(enters)
    rows = RepairTable(
        table.accepts[loop, column][:, None],
        table.votes[loop, column][:, None],
        truth[loop, column][:, None],
        np.ones(len(loop), dtype=np.int64),
        table.cluster[loop],
        table.gated[loop],
    )
    return rows, column == 0
