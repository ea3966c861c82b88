"""The EM driver: runs many fits side by side and speeds each of them up.

Knows nothing of what is fitted: it is handed a step that returns the next parameters together with
the objective at the present ones. Parameters are logits, so that every jump stays a probability.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .emission import Floats

Step = Callable[[Floats, npt.NDArray[np.int64]], tuple[Floats, Floats]]
"""(parameters (b, p), which fits (b,)) -> (next parameters (b, p), objective at the given (b,))."""

BOUND = 15.0
"""Logits are kept within +-15: 3e-7 from 0 and 1 is as good as there."""


@dataclass(frozen=True)
class Maximum:
    """Where EM ended, for each fit."""

    theta: Floats
    """Parameters, logits, shape (fits, p)."""
    objective: Floats
    """Log likelihood (with the prior, if the step has one), shape (fits,)."""
    converged: npt.NDArray[np.bool_]
    """Whether the last step moved every logit by less than the tolerance, shape (fits,)."""


def maximise(step: Step, start: Floats, *, tolerance: float = 1e-5, steps: int = 1500) -> Maximum:
    """Run EM from every row of ``start`` to its maximum.

    SQUAREM (Varadhan & Roland 2008, scheme S3): two EM steps give a direction and its curvature,
    the jump along it is kept where it does not lower the objective. Near-flat likelihoods (J close
    to 0) need it: plain EM crawls there.

    Args:
        step: one EM step for several fits.
        start: initial logits, shape (fits, p).
        tolerance: largest change of a logit in one EM step at which a fit has converged.
        steps: EM steps allowed per fit.
    """
    theta = start.copy()
    objective = np.full(len(theta), -np.inf)
    converged = np.zeros(len(theta), dtype=bool)
    active = np.arange(len(theta))
    for _ in range(max(1, steps // 3)):
        here = theta[active]
        first, _ = step(here, active)
        second, better = step(first, active)
        objective[active] = better
        change, bend = first - here, second - 2.0 * first + here
        done = np.abs(second - first).max(axis=1) < tolerance
        length = np.sqrt((change**2).sum(axis=1) / np.maximum((bend**2).sum(axis=1), 1e-300))
        length = np.clip(length, 1.0, 1e4)[:, None]
        far = np.clip(here + 2.0 * length * change + length**2 * bend, -BOUND, BOUND)
        landed, there = step(far, active)
        keep = (there >= better) & ~done
        theta[active] = np.where(keep[:, None], landed, second)
        converged[active] = done
        active = active[~done]
        if not len(active):
            break
    if len(active):
        _, objective[active] = step(theta[active], active)
    return Maximum(theta, objective, converged)


def logit(probability: npt.ArrayLike) -> Floats:
    """Return log odds, within +-`BOUND`."""
    p = np.asarray(probability, dtype=np.float64)
    with np.errstate(divide="ignore"):
        return np.asarray(np.clip(np.log(p) - np.log1p(-p), -BOUND, BOUND))
