"""When a simulated source fails: the fault regimes of METHODS section 1, and random durations.

Knows which observations fail; ignorant of agents and verdicts.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from ..core.errors import ParameterError

MEAN6 = (
    "clean",
    "persistent",
    "recover_after_1",
    "recover_after_2",
    "recover_after_3",
    "late_onset_from_3",
)
"""The six regimes of the published design, in the order in which reports show them."""

KNOWN = (
    "clean, persistent, recover_after_K, late_onset_from_K, geometric(P) and pareto(SHAPE), "
    "such as recover_after_3 or geometric(0.3)"
)

_NAMED = re.compile(r"(recover_after|late_onset_from)_([1-9]\d*)")
_RANDOM = re.compile(r"(geometric|pareto)\((\d*\.?\d+)\)")


def failing(regime: str, n: int, results: int, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Return which of the first ``results`` observations fail, shape (n, results).

    ``recover_after_k`` fails the first k, ``late_onset_from_k`` the k-th and later.
    ``geometric(p)`` recovers after each failed observation with probability p, so that at least
    one fails; ``pareto(shape)`` fails the first floor(X) with X Pareto of scale 1, a heavy tail:
    P(more than d fail) = (d + 1)^-shape.

    Raises:
        ParameterError: the regime is not one of these.
    """
    position = np.arange(1, results + 1)
    if regime == "clean":
        return np.zeros((n, results), dtype=bool)
    if regime == "persistent":
        return np.ones((n, results), dtype=bool)
    if named := _NAMED.fullmatch(regime):
        k = int(named[2])
        row = position <= k if named[1] == "recover_after" else position >= k
        return np.broadcast_to(row, (n, results)).copy()
    if drawn := _RANDOM.fullmatch(regime):
        parameter = float(drawn[2])
        duration = _durations(drawn[1], parameter, n, rng)
        return position[None, :] <= duration[:, None]
    raise ParameterError(f"there is no fault regime {regime!r}; known: {KNOWN}")


def _durations(
    law: str, parameter: float, n: int, rng: np.random.Generator
) -> npt.NDArray[np.float64]:
    if law == "geometric":
        if not 0 < parameter <= 1:
            raise ParameterError(f"geometric(P): P is above 0 and at most 1; got {parameter!r}")
        return rng.geometric(parameter, n).astype(np.float64)
    if parameter <= 0:
        raise ParameterError(f"pareto(SHAPE): SHAPE is above 0; got {parameter!r}")
    return np.floor(1.0 + rng.pareto(parameter, n))
