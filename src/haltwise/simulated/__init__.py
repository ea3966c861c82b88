"""Simulated agents and repair loops with known parameters, always labelled as simulated."""

from __future__ import annotations

from .label import is_simulated
from .repair import RepairRuns, simulate_repair
from .search import (
    ENFORCED,
    HEEDS,
    IGNORES,
    SearchAgent,
    SearchRuns,
    logit_hazard,
    simulate_search,
    threshold_hazard,
)

__all__ = [
    "ENFORCED",
    "HEEDS",
    "IGNORES",
    "RepairRuns",
    "SearchAgent",
    "SearchRuns",
    "is_simulated",
    "logit_hazard",
    "simulate_repair",
    "simulate_search",
    "threshold_hazard",
]
