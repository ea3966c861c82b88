"""The rules, one per file, and the words under which expressions find them.

A new rule is one file here, one line in `RULES`, and one under ``TYPE_CHECKING``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..lazy import LazyClasses

if TYPE_CHECKING:
    from .breakeven import BreakEven as BreakEven
    from .calls import CallBudget as CallBudget
    from .deadline import Deadline as Deadline
    from .never import Never as Never
    from .random import RandomStop as RandomStop
    from .recovery import Recovery as Recovery
    from .repeat import Repetition as Repetition
    from .streak import UselessStreak as UselessStreak

RULES = LazyClasses(
    __name__,
    {
        "breakeven": ".breakeven:BreakEven",
        "calls": ".calls:CallBudget",
        "deadline": ".deadline:Deadline",
        "never": ".never:Never",
        "random": ".random:RandomStop",
        "recovery": ".recovery:Recovery",
        "repeat": ".repeat:Repetition",
        "streak": ".streak:UselessStreak",
    },
)
"""Every rule by its word in expressions."""

VALUES = LazyClasses(
    __name__, {"noise": "..noise:NoiseModel", "recovery": "..recovery:RecoveryModel"}
)
"""Fitted parameters that can be written out inside an expression, by their word."""


def __getattr__(name: str) -> Any:
    return RULES.by_class_name(name)
