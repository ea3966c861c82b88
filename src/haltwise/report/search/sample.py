"""A few episodes worth a look, a bounded number of each kind and regime, the first ones that come.

Knows why an episode is of interest; ignorant of rules and of markup.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from ...core.events import Verdict
from ...record.episode import SearchEpisode
from ...record.outline import CODES
from ...replay.search import SearchTable

EACH = 2
"""Episodes kept of each kind and regime."""
MOST = 36
"""Episodes kept in all."""


class Kind(StrEnum):
    """Why an episode is worth a look."""

    SPENT = "many useless results, searched on, not right"
    LATE = "many useless results, searched on, right: a rule puts this answer at risk"
    WRONG = "a useful result, and still a wrong answer"
    RIGHT = "a right answer without a long run"
    SILENT = "no long run, and no answer"
    UNGRADED = "not graded"


@dataclass(frozen=True)
class Story:
    """An episode, and why it is shown."""

    kind: Kind
    episode: SearchEpisode


class Sampler:
    """Keeps episodes of every kind."""

    def __init__(self, k: int) -> None:
        """Take the run length that counts as many useless results."""
        self._k = k
        self._kept: dict[tuple[Kind, str | None], list[SearchEpisode]] = {}

    def add(self, episodes: Sequence[SearchEpisode], table: SearchTable) -> None:
        """Look at a batch laid out as ``table``."""
        long = ((table.runs() >= self._k) & table.inside & table.free).any(axis=1)
        right, wrong = table.success == 1, table.success == 0
        useful = (table.inside & (table.verdicts == CODES[Verdict.USEFUL])).any(axis=1)
        silent = np.array([not e.steps or e.steps[-1].action != "answer" for e in episodes], bool)
        for kind, found in (
            (Kind.SPENT, long & wrong),
            (Kind.LATE, long & right),
            (Kind.SILENT, ~long & silent & wrong),
            (Kind.WRONG, ~long & useful & ~silent & wrong),
            (Kind.RIGHT, ~long & right),
            (Kind.UNGRADED, ~right & ~wrong),
        ):
            for place in np.flatnonzero(found).tolist():
                episode = episodes[place]
                if not episode.steps:
                    continue
                kept = self._kept.setdefault((kind, episode.regime), [])
                if len(kept) < EACH:
                    kept.append(episode)

    def stories(self) -> tuple[Story, ...]:
        """Return the episodes, kind by kind, at most `MOST` in all and as many of each kind."""
        by_kind = {kind: [] for kind in Kind}  # type: dict[Kind, list[Story]]
        for (kind, _), episodes in self._kept.items():
            by_kind[kind] += [Story(kind, episode) for episode in episodes]
        share = MOST // len(Kind)
        return tuple(story for found in by_kind.values() for story in found[: max(share, 1)])
