"""Does replay tell the truth? Replayed outcomes beside those of runs that were really stopped.

A rule is replayed on the unaided episodes, which have an answer-now branch at every decision point,
and compared with the episodes of the arm that enforces it, question by question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.policy import Policy
from ...record.episode import SearchEpisode
from ...replay.outcome import search_outcomes
from ...replay.search import search_firing, search_table
from ...stats.estimate import Estimate
from ...stats.proportions import clustered_proportion


@dataclass(frozen=True)
class ReplayCheck:
    """One rule, replayed and enforced."""

    arm: str
    """The arm that enforces it."""
    policy: str
    replayed: Estimate
    """Success of the rule by replay."""
    enforced: Estimate
    """Success of the arm on the same questions, regimes and seeds."""
    agree: Estimate
    """Share of episodes whose replayed outcome is the enforced one."""

    def to_json(self) -> dict[str, Any]:
        """Return the check as a JSON object."""
        return {
            "arm": self.arm,
            "policy": self.policy,
            "replayed": self.replayed.to_json(),
            "enforced": self.enforced.to_json(),
            "agree": self.agree.to_json(),
        }


def replay_check(
    unaided: Sequence[SearchEpisode], enforced: Sequence[SearchEpisode], policy: Policy
) -> ReplayCheck | None:
    """Compare; None where no pair of episodes has a known replayed outcome."""
    by_key = {(e.question_id, e.regime, e.seed): e for e in enforced}
    pairs = [
        (episode, by_key[episode.question_id, episode.regime, episode.seed])
        for episode in unaided
        if (episode.question_id, episode.regime, episode.seed) in by_key
    ]
    if not pairs:
        return None
    table = search_table([episode for episode, _ in pairs], fingerprints=True)
    outcome = search_outcomes(table, search_firing(policy, table), 0.0).success
    known = ~np.isnan(outcome)
    if not known.any():
        return None
    clusters: dict[str, list[tuple[bool, bool]]] = {}
    for (episode, stopped), replayed, use in zip(pairs, outcome, known, strict=True):
        if use:
            really = bool(stopped.outcome.success)
            clusters.setdefault(episode.cluster_id, []).append((bool(replayed), really))
    sizes = [len(found) for found in clusters.values()]
    by_replay, by_run, agree = (
        clustered_proportion([sum(map(count, found)) for found in clusters.values()], sizes)
        for count in (_replayed, _really, _agree)
    )
    return ReplayCheck(enforced[0].arm or "", str(policy), by_replay, by_run, agree)


def _replayed(pair: tuple[bool, bool]) -> bool:
    return pair[0]


def _really(pair: tuple[bool, bool]) -> bool:
    return pair[1]


def _agree(pair: tuple[bool, bool]) -> bool:
    return pair[0] is pair[1]
