"""Simulated agents and repair loops with known parameters, always labelled as simulated."""

from __future__ import annotations

from .label import is_simulated
from .repair import RepairRuns, simulate_repair

__all__ = ["RepairRuns", "is_simulated", "simulate_repair"]
