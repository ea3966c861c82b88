"""Times as trace formats write them, as seconds. Reads no clock."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Any


def seconds(value: Any) -> float | None:
    """Return a time in seconds since 1970: ISO 8601 text, or a number of s, ms, us or ns.

    None for what is no time.
    """
    if isinstance(value, str):
        try:
            if value.isdecimal() and len(value) < 25:
                return seconds(int(value))
            return datetime.fromisoformat(value).timestamp()
        except (ValueError, OverflowError, OSError):
            return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    for scale in (1e9, 1e6, 1e3):
        if value > 1e8 * scale:
            return value / scale
    return float(value)
