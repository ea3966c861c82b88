"""The distinct outlines of a run of episodes as columns: verdicts, run lengths, decision points.

Every statistic of the audit is a few numpy expressions over these columns, evaluated once for each
distinct outline and never for an episode. Ignorant of how often an outline occurs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..core.events import Verdict
from ..record.outline import ANSWER, CALL, CODES, RENEWED, Outline

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Counts = NDArray[np.unsignedinteger[Any]]
"""Whole numbers in as few bytes as they need: a million outlines have many steps."""
Kind = TypeVar("Kind", bound=np.generic)

_PADDING = 255
_RESETS = (CODES[Verdict.USEFUL], CODES[Verdict.UNKNOWN])


@dataclass(frozen=True)
class Trajectories:
    """m outlines in columns. Column t - 1 of an (m, width) array belongs to step t."""

    length: Ints
    """T, the number of steps; shape (m,)."""
    call: Bools
    """Whether the step is a tool call, shape (m, width)."""
    answer: Bools
    """Whether the step is an answer, shape (m, width)."""
    verdict: NDArray[np.uint8]
    """Code of the verdict on the step's result (`haltwise.record.outline.CODES`), (m, width)."""
    run: Counts
    """r_t, useless verdicts in a row up to and including step t, shape (m, width).

    It begins anew where the user spoke again, as the loop does that a rule stops.
    """
    renewed: Bools
    """Whether the user spoke again before the step, shape (m, width)."""
    success: NDArray[np.int8]
    """1 right, 0 wrong, -1 not graded; shape (m,)."""
    censored: Bools
    """Whether the loop was cut off from outside, shape (m,)."""
    calls: Ints
    """Tool calls made, side-by-side ones counted one by one; shape (m,)."""
    limit: Ints
    """The budget that holds for the outline: its own, at most the audit's; shape (m,)."""

    @classmethod
    def of(cls, outlines: Sequence[Outline], budget: int) -> Trajectories:
        """Return the columns of ``outlines``, at least ``budget`` of them wide."""
        length = np.array([len(outline.actions) for outline in outlines], dtype=np.int64)
        width = max(budget, int(length.max(initial=0)))
        action = _columns([outline.actions for outline in outlines], width)
        verdict = _columns([outline.verdicts for outline in outlines], width)
        renewed = action == RENEWED
        call = (action == CALL) | renewed
        success = [-1 if o.success is None else int(o.success) for o in outlines]
        limit = [budget if o.budget is None else min(o.budget, budget) for o in outlines]
        return cls(
            length,
            call,
            action == ANSWER,
            verdict,
            _runs(call, verdict, renewed),
            renewed,
            np.array(success, dtype=np.int8),
            np.array([outline.censored for outline in outlines], dtype=bool),
            np.array([outline.calls for outline in outlines], dtype=np.int64),
            np.array(limit, dtype=np.int64),
        )

    def __len__(self) -> int:
        return len(self.length)

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self.call.shape[1])

    @property
    def decision(self) -> Bools:
        """Whether a decision follows the step: it is a tool call and not the last step."""
        return np.asarray(self.call & (np.arange(1, self.width + 1) < self.length[:, None]))

    @property
    def useless(self) -> Bools:
        """Whether the step's result was called useless."""
        return np.asarray(self.call & (self.verdict == CODES[Verdict.USELESS]))

    @property
    def answers_next(self) -> Bools:
        """Whether the next step is an answer."""
        following = np.zeros_like(self.answer)
        following[:, :-1] = self.answer[:, 1:]
        return following

    @property
    def calls_in_turn(self) -> Ints:
        """Number of tool calls since the user last spoke, the step's own included, (m, width)."""
        so_far = np.cumsum(self.call, axis=1)
        before = np.where(self.renewed, so_far - 1, 0)
        return np.asarray(so_far - np.maximum.accumulate(before, axis=1))

    @property
    def calls_after(self) -> Ints:
        """Number of tool calls that come after the step, shape (m, width)."""
        so_far = np.cumsum(self.call, axis=1)
        return np.asarray(so_far[:, -1:] - so_far)


def first(condition: Bools) -> tuple[Bools, Ints]:
    """Return for each row whether the condition ever holds, and the column where it first does.

    The column is 0 where it never holds.
    """
    return np.asarray(condition.any(axis=1)), np.asarray(condition.argmax(axis=1))


def at(values: NDArray[Kind], column: Ints) -> NDArray[Kind]:
    """Return each row's value in its own column."""
    return values[np.arange(len(values)), column]


def _columns(rows: Sequence[bytes], width: int) -> NDArray[np.uint8]:
    padded = b"".join(row.ljust(width, bytes([_PADDING])) for row in rows)
    return np.frombuffer(padded, dtype=np.uint8).reshape(len(rows), width)


def _runs(call: Bools, verdict: NDArray[np.uint8], renewed: Bools) -> Counts:
    """Return the run after each step: `haltwise.core.belief.run_length`, a column at a time."""
    useless = call & (verdict == CODES[Verdict.USELESS])
    resets = call & np.isin(verdict, _RESETS)
    run = np.zeros(call.shape, dtype=np.min_scalar_type(call.shape[1]))
    current = np.zeros(len(call), dtype=run.dtype)
    for t in range(call.shape[1]):
        current = (current * ~renewed[:, t] + useless[:, t]) * ~resets[:, t]
        run[:, t] = current
    return run
