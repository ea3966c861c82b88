"""Several tests at once. Knows p-values only; which tests form a family is the caller's affair."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's (1979) adjusted p-values of one family, in the order given.

    An undefined test (NaN) stays undefined and does not count as a member of the family.

    Raises:
        ValueError: a p-value is outside 0..1.
    """
    given = np.asarray(p_values, dtype=np.float64)
    tested = ~np.isnan(given)
    if not ((given[tested] >= 0) & (given[tested] <= 1)).all():
        raise ValueError(f"p-values lie between 0 and 1; got {list(p_values)!r}")
    # Equal to statsmodels' multipletests(method="holm"), without the second its import takes.
    order = np.argsort(given)[: tested.sum()]  # NaN sorts last
    steps = given[order] * np.arange(len(order), 0, -1)
    adjusted = given.copy()
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return [float(p) for p in adjusted]
