"""Parameter checks that the policies share; each raises one clear sentence."""

from __future__ import annotations

import math
from typing import Any

from ..errors import ParameterError


def whole(rule: str, name: str, value: object, least: int) -> None:
    """Require an integer of at least ``least``."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ParameterError(f"{rule}: {name} is a whole number of at least {least}; got {value!r}")


def between(rule: str, name: str, value: Any, low: float, high: float) -> None:
    """Require a finite number in [low, high]; ``high`` may be infinite, the value may not."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or not low <= value <= high:
        upper = "" if math.isinf(high) else f" and at most {high:g}"
        raise ParameterError(f"{rule}: {name} is at least {low:g}{upper}; got {value!r}")
