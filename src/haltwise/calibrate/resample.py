"""Refits on resampled clusters: what label-free votes leave possible.

Without labels the likelihood can be a flat, crooked ridge with several tops, on which a covariance
at one of them says too little. Refitting the mixture is cheap (counts are sufficient, replicates
run side by side), so here the loops are really drawn again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..record.repair_table import RepairTable
from .em import logit
from .emission import Counts, Floats
from .votes import VoteCounts, fit_mixture

_TOLERANCE = 1e-3
"""Of a logit: draws are off by far more than this, and on a ridge it saves most of the steps."""


@dataclass(frozen=True)
class VoteResampling:
    """Votes on initial plans by cluster, without labels; clusters that look alike are pooled."""

    cells: Counts
    """Distinct (accepts, votes), shape (cells, 2)."""
    plans: Floats
    """Initial plans by cell, one row a kind of cluster, shape (kinds, cells)."""
    clusters: Counts
    """Clusters of each kind, shape (kinds,)."""
    icc: float
    """Correlation of two votes on one plan, held fixed."""

    @classmethod
    def of(cls, table: RepairTable, icc: float) -> VoteResampling:
        """Tally the voted initial plans of a table by cluster."""
        voted = table.votes[:, 0] > 0
        pairs = np.stack([table.accepts[voted, 0], table.votes[voted, 0]], axis=1)
        cells, cell = np.unique(pairs, axis=0, return_inverse=True)
        names, cluster = np.unique(table.cluster[voted], return_inverse=True)
        plans = np.zeros((len(names), len(cells)))
        np.add.at(plans, (cluster, cell.reshape(-1)), 1.0)
        kinds, clusters = np.unique(plans, axis=0, return_counts=True)
        return cls(cells, kinds, clusters, icc)

    def draws(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw the clusters again ``n`` times and refit; logits of rho0, 1 - rho1, pi, (n, 3)."""
        total = int(self.clusters.sum())
        unknown = rng.multinomial(total, self.clusters / total, size=n) @ self.plans
        none, nothing = np.zeros_like(unknown), np.zeros(n)
        counts = VoteCounts(
            self.cells[:, 0], self.cells[:, 1], unknown, none, none, nothing, nothing
        )
        fit = fit_mixture(counts, icc=self.icc, prior=0.0, tolerance=_TOLERANCE)
        return np.stack([logit(fit.rho0), logit(1.0 - fit.rho1), logit(fit.valid)], axis=1)
