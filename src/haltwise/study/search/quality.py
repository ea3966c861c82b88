"""How good are the verdicts? Against what the results really were, and how often there are any.

Knows recorded episodes with the source "truth" beside the verdicts; asks no model. METHODS section
1, "Verdict sources"; the gates are those of issue 3: a judge that fails them has its verdict
figures withheld, as [JU] did for Search-R1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ...core.events import Verdict
from ...record.episode import SearchEpisode, SearchStep
from ...stats.estimate import Estimate, none_if_nan
from ...stats.proportions import clustered_mean, clustered_proportion
from .agent import TRUTH

USEFUL_NEEDED = 0.5
"""Share of first supporting pages that a valid judge calls useful, at least."""
USELESS_NEEDED = 0.9
"""Share of failed observations that a valid judge calls useless, at least."""
EXPLICIT_NEEDED = 0.8
"""Share of turns with an explicit judgement at which the stated signal is applicable."""


@dataclass(frozen=True)
class Quality:
    """One verdict source against the truth."""

    source: str
    useful_on_supporting: Estimate
    """Share of first supporting pages that were called useful; n = episodes that saw one."""
    useless_on_failed: Estimate
    """Share of failed observations that were called useless; n = such observations judged."""

    @property
    def withheld(self) -> str:
        """Why the source's verdict figures are withheld; empty where the judge is valid."""
        reasons = []
        for estimate, needed, what in (
            (self.useful_on_supporting, USEFUL_NEEDED, "first supporting pages useful"),
            (self.useless_on_failed, USELESS_NEEDED, "failed results useless"),
        ):
            if not estimate.defined:
                reasons.append(f"no verdict on {what.rsplit(' ', 1)[0]}")
            elif estimate.value < needed:
                reasons.append(f"it called {estimate.value:.0%} of {what}, {needed:.0%} are needed")
        return f"verdicts of {self.source} are withheld: {'; '.join(reasons)}" if reasons else ""

    def to_json(self) -> dict[str, Any]:
        """Return the source's quality as a JSON object."""
        return {
            "useful_on_supporting": self.useful_on_supporting.to_json(),
            "useless_on_failed": self.useless_on_failed.to_json(),
            "valid": not self.withheld,
            "note": self.withheld,
        }


def quality(episodes: Iterable[SearchEpisode], source: str, *, level: float = 0.95) -> Quality:
    """Compare the verdicts of a source with the truth; steps without a verdict do not count."""
    supporting: dict[str, list[bool]] = defaultdict(list)
    failed: dict[str, list[bool]] = defaultdict(list)
    for episode in episodes:
        first = True
        for step in episode.steps:
            verdict, truth = step.verdicts.get(source), step.verdicts.get(TRUTH)
            if verdict is None or verdict is Verdict.UNJUDGED:
                continue
            if truth is Verdict.USELESS:
                failed[episode.cluster_id].append(verdict is Verdict.USELESS)
            elif truth is Verdict.USEFUL and first:
                first = False
                supporting[episode.cluster_id].append(verdict is Verdict.USEFUL)
    return Quality(source, _share(supporting, level), _share(failed, level))


def explicit(episodes: Iterable[SearchEpisode], *, level: float = 0.95) -> Estimate:
    """Return the share of turns after a result in which the agent states a judgement."""
    turns: dict[str, list[bool]] = defaultdict(list)
    for episode in episodes:
        for step, following in zip(episode.steps, episode.steps[1:], strict=False):
            if "stated" in step.verdicts and following.thought is not None:
                said = step.verdicts["stated"] is not Verdict.UNJUDGED
                turns[episode.cluster_id].append(said)
    return _share(turns, level)


@dataclass(frozen=True)
class Calibration:
    """What the agents said of their chances, against what came of it."""

    said: Estimate
    """Mean probability of a right answer that the agents gave; n = probes."""
    right: Estimate
    """Share of forced answers at the same points that were right."""
    brier: float
    """Mean squared difference, in [0, 1]; NaN where there is none."""
    bins: tuple[tuple[float, float, int], ...]
    """(mean said, share right, n) in fifths of the scale that have probes."""

    def to_json(self) -> dict[str, Any]:
        """Return the calibration as a JSON object."""
        return {
            "said": self.said.to_json(),
            "right": self.right.to_json(),
            "brier": none_if_nan(self.brier),
            "bins": [{"said": a, "right": b, "n": n} for a, b, n in self.bins],
        }


def calibration(episodes: Iterable[SearchEpisode], *, level: float = 0.95) -> Calibration | None:
    """Compare answer-now beliefs with answer-now branches; None where both were not recorded."""
    pairs: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    for episode in episodes:
        for step in episode.steps:
            pair = _pair(step)
            if pair is not None:
                pairs[episode.cluster_id].append(pair)
    every = [pair for found in pairs.values() for pair in found]
    if not every:
        return None
    sums = [sum(said for said, _ in found) for found in pairs.values()]
    bins = []
    for fifth in range(5):
        inside = [pair for pair in every if min(int(pair[0] * 5), 4) == fifth]
        if inside:
            n = len(inside)
            bins.append((sum(p for p, _ in inside) / n, sum(r for _, r in inside) / n, n))
    return Calibration(
        said=clustered_mean(sums, [len(found) for found in pairs.values()], level=level),
        right=_share({k: [right for _, right in found] for k, found in pairs.items()}, level),
        brier=sum((said - right) ** 2 for said, right in every) / len(every),
        bins=tuple(bins),
    )


def _pair(step: SearchStep) -> tuple[float, bool] | None:
    beliefs, branch = step.beliefs, step.answer_now
    if beliefs is None or beliefs.answer_now is None or branch is None or branch.success is None:
        return None
    return beliefs.answer_now, branch.success


def _share(by_cluster: dict[str, list[bool]], level: float) -> Estimate:
    events = [sum(found) for found in by_cluster.values()]
    return clustered_proportion(events, [len(found) for found in by_cluster.values()], level=level)


@dataclass(frozen=True, slots=True)
class Labelled:
    """A thought with the judgement that a person read in it."""

    thought: str
    label: Verdict


def agreement(
    labelled: Sequence[Labelled], read: Callable[[str], Verdict]
) -> tuple[int, int, list[Labelled]]:
    """Return (agreeing, all, those that disagree) of patterns with hand-made labels."""
    wrong = [item for item in labelled if read(item.thought) is not item.label]
    return len(labelled) - len(wrong), len(labelled), wrong
