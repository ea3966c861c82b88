"""Which episodes the contrast and the hazard slope look at (METHODS section 1, "Fault regimes").

Both leave the clean regime out, and the regimes that stand outside the published design. Episodes
without a regime, which is every episode outside experiments, are all used.
"""

from __future__ import annotations

from ..record.episode import MEAN6
from .tally import Sample
from .trajectories import Bools

DELTA = MEAN6[1:]
"""The regimes of the published contrast: those of mean6 but clean."""


def scope(sample: Sample) -> tuple[Bools, str]:
    """Return which outlines count, and a note that names what was used and left out.

    Where no episode has a regime of the design and none is without one, all but clean count.
    """
    keep = sample.where(lambda outline: outline.regime is None or outline.regime in DELTA)
    if not keep.any():
        keep = sample.where(lambda outline: outline.regime != "clean")
    used = _names(sample, keep)
    left_out = [name for name in _names(sample, ~keep) if name not in used]
    if used == [NONE] and not left_out:
        return keep, ""
    note = f"regimes used: {', '.join(used) or 'none'}"
    return keep, note + (f"; left out: {', '.join(left_out)}" if left_out else "")


NONE = "none"
"""How reports name episodes without a regime."""


def regime_name(regime: str | None) -> str:
    """Return how reports name a regime."""
    return NONE if regime is None else regime


def regimes(sample: Sample) -> list[str | None]:
    """Return the regimes that occur, those of the design first and in its order."""
    found = {outline.regime for outline in sample.table}
    known = [name for name in MEAN6 if name in found]
    return [*known, *sorted(found - set(known), key=lambda name: (name is None, name or ""))]


def _names(sample: Sample, keep: Bools) -> list[str]:
    found = {o.regime for o, kept in zip(sample.table, keep.tolist(), strict=True) if kept}
    return [regime_name(regime) for regime in regimes(sample) if regime in found]
