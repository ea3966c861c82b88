"""The test kit that extensions are checked with; nothing else here imports it.

`check_policy`, `check_combination` and `check_monotone` hold a stopping rule against the laws
that every rule keeps; `stop_step` tells where a rule stops.
"""

from .policy import check_combination, check_monotone, check_policy, stop_step

__all__ = ["check_combination", "check_monotone", "check_policy", "stop_step"]
