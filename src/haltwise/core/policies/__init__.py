"""The rules, one per file, and the words under which expressions find them."""

from __future__ import annotations

from ..noise import NoiseModel
from ..policy import Policy
from .calls import CallBudget
from .deadline import Deadline
from .never import Never
from .random import RandomStop
from .repeat import Repetition
from .streak import UselessStreak

RULES: dict[str, type[Policy]] = {
    rule.name: rule for rule in (CallBudget, Deadline, Never, RandomStop, Repetition, UselessStreak)
}
"""Every rule by its word in expressions."""

VALUES: dict[str, type] = {"noise": NoiseModel}
"""Fitted parameters that can be written out inside an expression, by their word."""

__all__ = [
    "RULES",
    "VALUES",
    "CallBudget",
    "Deadline",
    "Never",
    "RandomStop",
    "Repetition",
    "UselessStreak",
]
