"""How a verdict on a search result is obtained. A signal judges; it decides nothing."""

from __future__ import annotations

from .asked import Asked
from .lexical import Lexical
from .protocol import Signal, SignalStep, combined
from .random import RateMatched
from .recorded import Recorded
from .semantic import Semantic
from .side_channel import SideChannel
from .stated import Stated

__all__ = [
    "Asked",
    "Lexical",
    "RateMatched",
    "Recorded",
    "Semantic",
    "SideChannel",
    "Signal",
    "SignalStep",
    "Stated",
    "combined",
]
