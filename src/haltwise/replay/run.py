"""Replay policies over recorded loops of either kind, in batches.

Knows episodes and policies; ignorant of files and statistics.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..core.errors import InputError
from ..core.policy import Policy
from ..record.episode import RepairEpisode, SearchEpisode
from ..record.repair_table import RepairTable
from .answer_now import AnswerNowTable
from .outcome import Outcomes, joined, repair_outcomes, search_outcomes
from .repair import repair_firing
from .search import SearchTable, judged_loops, needs_fingerprints, search_firing, search_table

BATCH = 10_000
"""Loops laid out as arrays at a time: bounds the memory, and costs nothing in speed."""

Loop = TypeVar("Loop", SearchEpisode, RepairEpisode)


@dataclass(frozen=True, eq=False)
class Replayed:
    """What several policies would have done on the same n loops."""

    kind: str
    """"search" or "repair"."""
    outcomes: tuple[Outcomes, ...]
    """One a policy, in the order given; loops in one order for all."""
    clusters: NDArray[np.int64]
    """(n,), the cluster of each loop: an index from 0."""


def replay_search(
    episodes: Iterable[SearchEpisode],
    policies: Sequence[Policy],
    *,
    answer_now: AnswerNowTable | None = None,
    price: float = 0.0,
) -> Replayed:
    """Replay search policies.

    Args:
        episodes: the loops.
        policies: rules for search loops.
        answer_now: grades of forced answers for steps whose branch is not in the record.
        price: cost of one tool call, in right answers.

    Raises:
        InputError: a policy is for repair loops.
    """
    _check_kind("search", policies)
    fingerprints = needs_fingerprints(policies)

    def evaluate(batch: Sequence[SearchEpisode]) -> list[Outcomes]:
        table = search_table(batch, answer_now, fingerprints=fingerprints)
        return [_searched(p, table, price) for p in policies]

    return _batched("search", episodes, evaluate, policies)


def _searched(policy: Policy, table: SearchTable, price: float) -> Outcomes:
    judged, unjudged = judged_loops(policy, table)
    outcomes = search_outcomes(table, search_firing(policy, table), price)
    return replace(outcomes, judged=judged, unjudged=unjudged)


def replay_repair(
    episodes: Iterable[RepairEpisode], policies: Sequence[Policy], *, price: float = 0.0
) -> Replayed:
    """Replay policies for verify-repair loops.

    Args:
        episodes: the loops, never stopped early if their record is to tell everything.
        policies: rules for repair loops.
        price: cost of one repair, in valid plans.

    Raises:
        InputError: a policy is for search loops, or an episode makes no sense.
    """
    _check_kind("repair", policies)

    def evaluate(batch: Sequence[RepairEpisode]) -> list[Outcomes]:
        table = RepairTable.from_episodes(batch)
        recorded = np.array(
            [math.nan if e.outcome.success is None else e.outcome.success for e in batch], float
        )
        return [repair_outcomes(table, repair_firing(p, table), price, recorded) for p in policies]

    return _batched("repair", episodes, evaluate, policies)


def _check_kind(kind: str, policies: Sequence[Policy]) -> None:
    for policy in policies:
        if policy.kind not in (kind, "any"):
            raise InputError(
                f"{policy} is for {policy.kind} loops; the loops here are {kind} loops"
            )


def _batched(
    kind: str,
    episodes: Iterable[Loop],
    evaluate: Callable[[Sequence[Loop]], list[Outcomes]],
    policies: Sequence[Policy],
) -> Replayed:
    numbers: dict[str, int] = {}
    clusters: list[int] = []
    parts: list[list[Outcomes]] = []
    for batch in batches(episodes):
        clusters.extend([numbers.setdefault(e.cluster_id, len(numbers)) for e in batch])
        parts.append(evaluate(batch))
    if not parts:
        parts.append(evaluate([]))
    by_policy = tuple(joined([part[i] for part in parts]) for i in range(len(policies)))
    return Replayed(kind, by_policy, np.array(clusters, np.int64))


def batches(episodes: Iterable[Loop]) -> Iterator[list[Loop]]:
    """Cut into batches of loops of similar length, so that one long loop does not pad all."""
    stream = iter(episodes)
    while batch := list(islice(stream, BATCH)):
        by_length: dict[int, list[Loop]] = {}
        for episode in batch:
            by_length.setdefault(len(episode.steps).bit_length(), []).append(episode)
        yield from by_length.values()
