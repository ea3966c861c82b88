"""Findings on recorded runs: what the agents do with their own verdicts, and what it costs.

`gather` reads paths into a tally, `audit` computes every number from it, `findings` says what the
numbers mean, `document` makes JSON of it all.
"""

from __future__ import annotations

from .document import document
from .findings import Finding, findings
from .gather import Gathered, gather
from .result import Audit, audit
from .tally import Tally

__all__ = ["Audit", "Finding", "Gathered", "Tally", "audit", "document", "findings", "gather"]
