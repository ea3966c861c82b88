"""The rules, one per file, and the words under which expressions find them.

A new rule is one file here, one line in `RULES`, and one under ``TYPE_CHECKING``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..lazy import LazyClasses

if TYPE_CHECKING:
    from .auto import Auto as Auto
    from .best_of_votes import BestOfVotes as BestOfVotes
    from .breakeven import BreakEven as BreakEven
    from .calls import CallBudget as CallBudget
    from .confidence import Confidence as Confidence
    from .deadline import Deadline as Deadline
    from .fixed import FixedRepairs as FixedRepairs
    from .lookahead import Lookahead as Lookahead
    from .majority import Majority as Majority
    from .never import Never as Never
    from .oracle import Oracle as Oracle
    from .patience import Patience as Patience
    from .random import RandomStop as RandomStop
    from .recovery import Recovery as Recovery
    from .repeat import Repetition as Repetition
    from .streak import UselessStreak as UselessStreak
    from .true_myopic import TrueMyopic as TrueMyopic
    from .vrr import Vrr as Vrr
    from .vrr_guard import VrrGuard as VrrGuard
    from .vrr_stop import VrrStop as VrrStop

RULES = LazyClasses(
    __name__,
    {
        "auto": ".auto:Auto",
        "best_of_votes": ".best_of_votes:BestOfVotes",
        "breakeven": ".breakeven:BreakEven",
        "calls": ".calls:CallBudget",
        "confidence": ".confidence:Confidence",
        "deadline": ".deadline:Deadline",
        "fixed": ".fixed:FixedRepairs",
        "lookahead": ".lookahead:Lookahead",
        "majority": ".majority:Majority",
        "never": ".never:Never",
        "oracle": ".oracle:Oracle",
        "patience": ".patience:Patience",
        "random": ".random:RandomStop",
        "recovery": ".recovery:Recovery",
        "repeat": ".repeat:Repetition",
        "streak": ".streak:UselessStreak",
        "true_myopic": ".true_myopic:TrueMyopic",
        "vrr": ".vrr:Vrr",
        "vrr_guard": ".vrr_guard:VrrGuard",
        "vrr_stop": ".vrr_stop:VrrStop",
    },
)
"""Every rule by its word in expressions."""

VALUES = LazyClasses(
    __name__, {"noise": "..noise:NoiseModel", "recovery": "..recovery:RecoveryModel"}
)
"""Fitted parameters that can be written out inside an expression, by their word."""


def __getattr__(name: str) -> Any:
    return RULES.by_class_name(name)
