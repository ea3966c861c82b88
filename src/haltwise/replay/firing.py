"""Where a policy fires on each of many loops, and how two such answers combine.

Knows steps and candidates as arrays, and how to step any policy over loops one by one, remembering
loops that look alike; ignorant of what the loops are about.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.policy import AllOf, AnyOf, Policy

Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

NEVER = np.int64(2**31)
"""Stands for the step of a rule that does not fire; beyond every recorded step."""


@dataclass(frozen=True, slots=True, eq=False)
class Firing:
    """The first stop of one policy on each of n loops."""

    step: Integers
    """(n,): position of the observation at which it fires, from 0; `NEVER` where it does not."""
    candidate: Integers
    """(n,): the candidate it delivers, or would deliver if the loop ended with its record; -1 where
    it names none."""
    strength: Integers
    """(n,): rank of its action, see `Action.strength`; 0 where it does not fire."""

    def __len__(self) -> int:
        return len(self.step)


def at_first(
    fires: Booleans, candidates: Integers | None = None, at_end: Integers | None = None
) -> Firing:
    """Return the firing at the first true column of ``fires``, shape (n, width).

    Args:
        fires: whether the rule's condition holds after each observation; false beyond the end.
        candidates: (n, width), the candidate delivered at each observation; none for search.
        at_end: (n,), the candidate delivered if the loop ended with its record.
    """
    if fires.shape[1] == 0:
        return never(len(fires))
    first = np.argmax(fires, axis=1)
    rows = np.arange(len(fires))
    fired = fires[rows, first]
    candidate = np.full(len(fires), -1)
    if candidates is not None and at_end is not None:
        candidate = np.where(fired, candidates[rows, first], at_end)
    return Firing(np.where(fired, first, NEVER), candidate, fired.astype(np.int64))


def never(loops: int) -> Firing:
    """Return the firing of a rule that does not fire on any of ``loops`` loops."""
    return Firing(np.full(loops, NEVER), np.full(loops, -1, np.int64), np.zeros(loops, np.int64))


def combine(policy: AnyOf | AllOf, parts: Sequence[Firing]) -> Firing:
    """Return the firing of a combination from those of its parts.

    ``|`` fires at the earliest part, ``&`` at the latest. Of the parts that have fired by then
    (for ``|`` at that very step) the strongest action wins, the first part among equals, and its
    candidate is delivered. Where the combination has not fired, the first part with a candidate
    names it.
    """
    steps = np.stack([part.step for part in parts])
    strengths = np.stack([part.strength for part in parts])
    if isinstance(policy, AnyOf):
        step = steps.min(axis=0)
        strengths = np.where(steps == step, strengths, -1)
    else:
        step = steps.max(axis=0)
    winner = strengths.argmax(axis=0)
    rows = np.arange(len(step))
    fired = step < NEVER
    candidates = np.stack([part.candidate for part in parts])
    opinion = (candidates >= 0).argmax(axis=0)
    return Firing(
        step,
        candidates[np.where(fired, winner, opinion), rows],
        np.where(fired, strengths[winner, rows], 0),
    )


def step_through(
    policy: Policy, patterns: Iterable[Hashable], observe: Callable[[Any], Sequence[Any]]
) -> Firing:
    """Step a policy over loops one by one: what any policy can do, known to this package or not.

    Args:
        policy: the rule.
        patterns: one hashable value for each loop; loops of equal pattern are stepped once.
        observe: the observations of a pattern; None among them begins the policy anew.
    """
    known: dict[Hashable, tuple[int, int, int]] = {}
    rows = []
    for pattern in patterns:
        found = known.get(pattern)
        if found is None:
            found = known[pattern] = _first_stop(policy, observe(pattern))
        rows.append(found)
    columns = np.array(rows, np.int64).reshape(-1, 3).T
    return Firing(columns[0], columns[1], columns[2])


def _first_stop(policy: Policy, observations: Sequence[Any]) -> tuple[int, int, int]:
    state = policy.initial()
    position = 0
    for observation in observations:
        if observation is None:
            state = policy.initial()
            continue
        state, decision = policy.step(state, observation)
        if decision.stops:
            return position, _index(decision.candidate), decision.action.strength
        position += 1
    return int(NEVER), _index(policy.choice(state)) if observations else -1, 0


def _index(candidate: int | None) -> int:
    return -1 if candidate is None else candidate
