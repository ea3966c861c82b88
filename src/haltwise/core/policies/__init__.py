"""The rules, one per file, and the words under which expressions find them."""

from __future__ import annotations

from ..noise import NoiseModel
from ..policy import Policy
from ..recovery import RecoveryModel
from .breakeven import BreakEven
from .calls import CallBudget
from .deadline import Deadline
from .never import Never
from .random import RandomStop
from .recovery import Recovery
from .repeat import Repetition
from .streak import UselessStreak

RULES: dict[str, type[Policy]] = {
    rule.name: rule
    for rule in (
        BreakEven,
        CallBudget,
        Deadline,
        Never,
        RandomStop,
        Recovery,
        Repetition,
        UselessStreak,
    )
}
"""Every rule by its word in expressions."""

VALUES: dict[str, type] = {"noise": NoiseModel, "recovery": RecoveryModel}
"""Fitted parameters that can be written out inside an expression, by their word."""

__all__ = [
    "RULES",
    "VALUES",
    "BreakEven",
    "CallBudget",
    "Deadline",
    "Never",
    "RandomStop",
    "Recovery",
    "Repetition",
    "UselessStreak",
]
