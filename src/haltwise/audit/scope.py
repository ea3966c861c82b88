"""Which episodes the contrast and the hazard slope look at (METHODS section 1, "Fault regimes").

Both leave the clean regime out, and the regimes that stand outside the published design. Episodes
without a regime, which is every episode outside experiments, are all used.
"""

from __future__ import annotations

import numpy as np

from ..record.episode import MEAN6
from .tally import Sample
from .trajectories import Bools

DELTA = MEAN6[1:]
"""The regimes of the published contrast: those of mean6 but clean."""


def scope(sample: Sample) -> tuple[Bools, str]:
    """Return which outlines count, and a note that names what was used and left out.

    Where no episode has a regime of the design and none is without one, all but clean count.
    """
    found = regimes(sample)
    chosen = [regime for regime in found if regime is None or regime in DELTA]
    chosen = chosen or [regime for regime in found if regime != "clean"]
    keep = np.zeros(len(sample.table), dtype=bool)
    for regime in chosen:
        keep |= sample.of_regime(regime)
    if chosen == found == [None]:
        return keep, ""
    left_out = [regime_name(regime) for regime in found if regime not in chosen]
    note = f"regimes used: {', '.join(map(regime_name, chosen)) or 'none at all'}"
    return keep, note + (f"; left out: {', '.join(left_out)}" if left_out else "")


NONE = "none"
"""How reports name episodes without a regime."""


def regime_name(regime: str | None) -> str:
    """Return how reports name a regime."""
    return NONE if regime is None else regime


def regimes(sample: Sample) -> list[str | None]:
    """Return the regimes that occur, those of the design first and in its order."""
    found = sample.regimes
    known = [name for name in MEAN6 if name in found]
    return [*known, *sorted(found - set(known), key=lambda name: (name is None, name or ""))]
