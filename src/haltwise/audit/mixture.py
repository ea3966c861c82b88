"""What was pooled: regimes, models, arms, verdict sources, and whether any of it is simulated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from ..record.episode import REGIMES
from ..record.outline import Outline
from ..simulated.label import is_simulated
from .scope import NONE, regime_name, regimes
from .tally import Sample

FOREIGN = ("lexical", "semantic", "random")
"""Verdict sources in which the agent had no part."""


@dataclass(frozen=True)
class Mixture:
    """Episodes by name of regime, model, arm and verdict source; "none" where there is no name."""

    regimes: dict[str, int]
    """Those of the published design first, in its order."""
    models: dict[str, int]
    arms: dict[str, int]
    sources: dict[str, int]
    """Verdict sources; "none" counts episodes without any verdict."""
    simulated: int
    """Episodes of simulated agents."""

    def notes(self) -> list[str]:
        """Return what a reader must know of the mixture, in sentences."""
        notes = []
        episodes = sum(self.models.values())
        if self.simulated:
            share = "all" if self.simulated == episodes else f"{self.simulated:,}"
            notes.append(f"{share} episodes are of simulated agents: no model acted")
        for option, pooled in (("model", self.models), ("arm", self.arms)):
            if len(pooled) > 1:
                one = next(name for name in pooled if name != NONE)
                notes.append(
                    f"{len(pooled)} {option}s are pooled; --where {option}={one} takes one"
                )
        foreign = [name for name in self.sources if name in FOREIGN]
        if foreign:
            notes.append(f"verdicts are those of the {foreign[0]} signal, not the agents' own")
        if len(self.sources) > 1:
            names = ", ".join(f"{name} ({count:,})" for name, count in self.sources.items())
            notes.append(f"verdicts come from several sources: {names}; --verdict takes one")
        unknown = [name for name in self.regimes if name not in (*REGIMES, NONE)]
        if unknown:
            notes.append(f"regimes outside the published design: {', '.join(unknown)}")
        return notes


def mixture(sample: Sample) -> Mixture:
    """Count the episodes of ``sample`` by name."""
    weights = sample.weights.tolist()

    def by(name: Callable[[Outline], str | None]) -> dict[str, int]:
        counts: Counter[str] = Counter()
        for outline, weight in zip(sample.table, weights, strict=True):
            counts[regime_name(name(outline))] += weight
        return dict(sorted(counts.items()))

    by_regime = by(lambda outline: outline.regime)
    return Mixture(
        regimes={n: by_regime[n] for n in map(regime_name, regimes(sample))},
        models=by(lambda outline: outline.model),
        arms=by(lambda outline: outline.arm),
        sources=by(lambda outline: outline.source),
        simulated=sample.count(lambda outline: is_simulated(outline.model)),
    )
