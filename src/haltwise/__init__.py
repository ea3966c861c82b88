"""haltwise: know when an LLM agent loop should stop, and make it stop.

Importing this package loads the pure core and nothing heavy; a rule is loaded when it is named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .core.decision import Action, Decision
from .core.errors import (
    ExpressionError,
    HaltwiseError,
    InputError,
    ObservationError,
    ParameterError,
    StoppedError,
)
from .core.events import Usage, Verdict
from .core.expression import parse_policy
from .core.loop import RepairLoop, SearchLoop
from .core.observation import RepairObservation, SearchObservation
from .core.policy import AllOf, AnyOf, Policy, fold, state_from_json, state_to_json

if TYPE_CHECKING:
    from .core.noise import NoiseModel
    from .core.policies import (
        Auto,
        BestOfVotes,
        BreakEven,
        CallBudget,
        Confidence,
        Deadline,
        FixedRepairs,
        Lookahead,
        Majority,
        Never,
        Oracle,
        Patience,
        RandomStop,
        Recovery,
        Repetition,
        TrueMyopic,
        UselessStreak,
        Vrr,
        VrrGuard,
        VrrStop,
    )
    from .core.recovery import RecoveryModel
    from .record.policy_file import load_policy

__version__ = "0.1.0"

__all__ = [
    "Action",
    "AllOf",
    "AnyOf",
    "Auto",
    "BestOfVotes",
    "BreakEven",
    "CallBudget",
    "Confidence",
    "Deadline",
    "Decision",
    "ExpressionError",
    "FixedRepairs",
    "HaltwiseError",
    "InputError",
    "Lookahead",
    "Majority",
    "Never",
    "NoiseModel",
    "ObservationError",
    "Oracle",
    "ParameterError",
    "Patience",
    "Policy",
    "RandomStop",
    "Recovery",
    "RecoveryModel",
    "RepairLoop",
    "RepairObservation",
    "Repetition",
    "SearchLoop",
    "SearchObservation",
    "StoppedError",
    "TrueMyopic",
    "Usage",
    "UselessStreak",
    "Verdict",
    "Vrr",
    "VrrGuard",
    "VrrStop",
    "fold",
    "load_policy",
    "parse_policy",
    "state_from_json",
    "state_to_json",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'haltwise' has no attribute {name!r}")
    if name == "load_policy":
        from .record.policy_file import load_policy

        return load_policy
    if name.endswith("Model"):
        from .core.policies import VALUES

        return VALUES.by_class_name(name)
    from .core.policies import RULES

    return RULES.by_class_name(name)


def __dir__() -> list[str]:
    return __all__
