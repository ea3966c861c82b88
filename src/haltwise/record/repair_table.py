"""Recorded verify-repair loops as arrays: one row a loop, one column a round.

What calibration and replay compute on. Loops of different lengths are padded; a round whose
verifier failed, or that was never reached, has 0 votes. Knows nothing of noise or of policies.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..core.errors import InputError
from .episode import RepairEpisode, RepairStep
from .jsonl import LAST_ROUND

UNKNOWN = -1
"""In `RepairTable.valid`: the truth of this round is not known, or there was no such round."""


@dataclass(frozen=True)
class RepairTable:
    """``n`` loops of at most ``columns`` rounds; column k belongs to the plan after k repairs."""

    accepts: npt.NDArray[np.int64]
    """Accepting votes, shape (n, columns); 0 where there were no votes."""
    votes: npt.NDArray[np.int64]
    """Votes given, shape (n, columns); 0 where the verifier failed or the round was not reached."""
    valid: npt.NDArray[np.int8]
    """The truth, shape (n, columns): 1 valid, 0 invalid, `UNKNOWN`."""
    length: npt.NDArray[np.int64]
    """Rounds of each loop, the initial plan included, shape (n,); at least 1."""
    cluster: npt.NDArray[np.int64]
    """What is resampled as one: an index from 0 for each loop, shape (n,)."""
    gated: npt.NDArray[np.bool_]
    """Whether the record says that the truth ended the loop, shape (n,)."""

    def __len__(self) -> int:
        return len(self.accepts)

    @property
    def columns(self) -> int:
        """Rounds of the longest loop, the initial plan included."""
        return int(self.accepts.shape[1])

    @cached_property
    def transitions(self) -> npt.NDArray[np.bool_]:
        """Whether round k and round k + 1 are both labelled, shape (n, columns - 1)."""
        known: npt.NDArray[np.bool_] = self.valid != UNKNOWN
        both: npt.NDArray[np.bool_] = known[:, :-1] & known[:, 1:]
        return both

    def rows(self, which: npt.NDArray[np.generic]) -> RepairTable:
        """Return the loops that an index or a truth array ``which`` picks, in that order."""
        return RepairTable(
            self.accepts[which],
            self.votes[which],
            self.valid[which],
            self.length[which],
            self.cluster[which],
            self.gated[which],
        )

    def relabelled(self, valid: npt.NDArray[np.int8]) -> RepairTable:
        """Return the same loops with other truths."""
        return RepairTable(self.accepts, self.votes, valid, self.length, self.cluster, self.gated)

    @classmethod
    def from_arrays(
        cls,
        accepts: npt.ArrayLike,
        votes: npt.ArrayLike,
        valid: npt.ArrayLike | None = None,
    ) -> RepairTable:
        """Build a table of ungated loops of one length, each a cluster of its own.

        Args:
            accepts: shape (n, rounds).
            votes: shape (n, rounds), or one number for all.
            valid: truths, shape (n, rounds); truth values or 1, 0, `UNKNOWN`. None: none is known.

        Raises:
            InputError: the shapes do not agree, or an entry lies outside 0 <= accepts <= votes.
        """
        counts = np.asarray(accepts, dtype=np.int64)
        if counts.ndim != 2:
            raise InputError(f"accepts has shape (loops, rounds); got shape {counts.shape}")
        given = np.broadcast_to(np.asarray(votes, dtype=np.int64), counts.shape)
        truth = np.full(counts.shape, UNKNOWN, dtype=np.int8)
        if valid is not None:
            truth[...] = np.asarray(valid, dtype=np.int8)
        if ((counts < 0) | (counts > given)).any():
            raise InputError("accepts lies between 0 and votes in every round")
        n, columns = counts.shape
        return cls(
            counts,
            given,
            truth,
            np.full(n, columns, dtype=np.int64),
            np.arange(n, dtype=np.int64),
            np.zeros(n, dtype=bool),
        )

    @classmethod
    def from_episodes(cls, episodes: Iterable[RepairEpisode]) -> RepairTable:
        """Build a table from recorded loops; clusters are numbered as they come.

        Raises:
            InputError: a loop has no rounds, a round twice, or votes that make no sense; the
                message names the episode.
        """
        cells: list[tuple[int, int, int]] = []
        lengths: list[int] = []
        clusters: dict[str, int] = {}
        cluster: list[int] = []
        gated: list[bool] = []
        for episode in episodes:
            rounds = _rounds(episode.episode_id, episode.steps)
            cells += rounds
            lengths.append(len(rounds))
            cluster.append(clusters.setdefault(episode.cluster_id, len(clusters)))
            gated.append(bool(episode.gated))
        length = np.array(lengths, dtype=np.int64)
        inside = np.arange(max(lengths, default=1)) < length[:, None]
        table = np.zeros((*inside.shape, 3), dtype=np.int64)
        table[:, :, 2] = UNKNOWN
        table[inside] = np.array(cells, dtype=np.int64).reshape(-1, 3)  # once, not loop by loop
        return cls(
            table[:, :, 0].copy(),
            table[:, :, 1].copy(),
            table[:, :, 2].astype(np.int8),
            length,
            np.array(cluster, dtype=np.int64),
            np.array(gated, dtype=bool),
        )


def _rounds(name: str, steps: Sequence[RepairStep]) -> list[tuple[int, int, int]]:
    if not steps:
        raise InputError(f"loop {name}: it has no rounds")
    last = max(step.round for step in steps)
    if last > LAST_ROUND:
        raise InputError(f"loop {name}: round {last}; rounds up to {LAST_ROUND} are understood")
    rounds: list[tuple[int, int, int] | None] = [None] * (last + 1)
    for step in steps:
        if step.round < 0 or rounds[step.round] is not None:
            raise InputError(f"loop {name}: round {step.round} comes twice or is negative")
        accepts, votes = step.accepts, step.votes
        if accepts is None or votes is None:
            accepts = votes = 0
        if not 0 <= accepts <= votes:
            raise InputError(f"loop {name}, round {step.round}: {accepts} accepts of {votes} votes")
        rounds[step.round] = (accepts, votes, UNKNOWN if step.valid is None else int(step.valid))
    return [(0, 0, UNKNOWN) if found is None else found for found in rounds]
