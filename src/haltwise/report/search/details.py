"""One pass over whole episodes, for what an outline does not hold.

What rules would have done, how sources recover, and a few episodes to look at. Batches come and go:
what stays is sums and a bounded sample. Knows nothing of pages.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ...calibrate.recovery import recovery_model
from ...calibrate.recovery_counts import RecoveryCounts, recovery_counts
from ...core.errors import InputError
from ...core.recovery import RecoveryModel
from ...record.episode import SearchEpisode
from ...replay.answer_now import AnswerNowTable
from ...replay.run import batches
from ...replay.search import search_table
from .sample import Sampler, Story
from .whatif import WhatIf

LARGEST = 20
"""Largest budget for which the recovery table is worked out: it grows with its square."""


@dataclass(frozen=True)
class Details:
    """What the pass found."""

    what_if: WhatIf
    """Counts of every rule."""
    recovery: RecoveryModel | None
    """How sources recover; None where the record does not tell."""
    recovery_notes: tuple[str, ...]
    """What to know of it, or why there is none."""
    counts: RecoveryCounts | None
    """What it was fitted to, summed over all episodes; None where nothing was counted."""
    stories: tuple[Story, ...]
    """Episodes to look at."""


def details(
    episodes: Iterable[SearchEpisode],
    *,
    k: int,
    budget: int,
    price: float,
    answer_now: AnswerNowTable | None = None,
) -> Details:
    """Go through ``episodes`` once.

    Args:
        episodes: the loops.
        k: useless results in a row that make an episode worth a look.
        budget: actions allowed, the answer included.
        price: of a call, for the recovery table.
        answer_now: grades of forced answers for steps whose branch is not in the record.
    """
    what_if, sampler = WhatIf(budget), Sampler(k)
    summed: RecoveryCounts | None = None
    for batch in batches(episodes):  # in the order of replay, so that resamples agree
        table = search_table(batch, answer_now)
        what_if.add(table, [episode.cluster_id for episode in batch])
        sampler.add(batch, table)
        if budget <= LARGEST:
            together = np.zeros(len(batch), np.int64)
            counts = recovery_counts(table, together, budget=budget, price=price)
            summed = counts if summed is None else _added(summed, counts)
    model, notes = _fitted(summed, budget, price)
    return Details(what_if, model, tuple(notes), summed, sampler.stories())


def _fitted(
    counts: RecoveryCounts | None, budget: int, price: float
) -> tuple[RecoveryModel | None, list[str]]:
    if counts is None:
        why = f"the budget of {budget} is above {LARGEST}" if budget > LARGEST else "no episodes"
        return None, [f"no recovery table: {why}"]
    if not counts.tried.sum():
        return None, ["no episode searched on after a useless result and was judged again"]
    try:
        return recovery_model(counts, price=price)
    except InputError as error:
        return None, [str(error)]


def _added(left: RecoveryCounts, right: RecoveryCounts) -> RecoveryCounts:
    return RecoveryCounts.of(left.matrix() + right.matrix())
