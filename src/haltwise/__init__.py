"""haltwise: know when an LLM agent loop should stop, and make it stop.

Importing this package loads the pure core and nothing heavy.
"""

from __future__ import annotations

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
from .core.loop import SearchLoop
from .core.observation import SearchObservation
from .core.policies import (
    CallBudget,
    Deadline,
    Never,
    RandomStop,
    Repetition,
    UselessStreak,
)
from .core.policy import AllOf, AnyOf, Policy, fold, state_from_json, state_to_json

__version__ = "0.1.0"

__all__ = [
    "Action",
    "AllOf",
    "AnyOf",
    "CallBudget",
    "Deadline",
    "Decision",
    "ExpressionError",
    "HaltwiseError",
    "InputError",
    "Never",
    "ObservationError",
    "ParameterError",
    "Policy",
    "RandomStop",
    "Repetition",
    "SearchLoop",
    "SearchObservation",
    "StoppedError",
    "Usage",
    "UselessStreak",
    "Verdict",
    "fold",
    "parse_policy",
    "state_from_json",
    "state_to_json",
]
