"""Recorded search loops as arrays, and where each rule fires on them.

Knows verdicts, decision points and answer-now branches; ignorant of statistics and files. The rules
are those that run online (`haltwise.core.policies`): known families are worked out over whole
arrays, any other policy is stepped over the loops.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.events import Verdict
from ..core.observation import SearchObservation, fingerprint
from ..core.policies import (
    BreakEven,
    CallBudget,
    Deadline,
    Never,
    RandomStop,
    Recovery,
    UselessStreak,
)
from ..core.policies.random import uniform
from ..core.policy import AllOf, AnyOf, Policy
from ..record.episode import SearchEpisode, SearchStep
from ..record.outline import CODES, SOURCES, VERDICTS, choose_source
from .answer_now import AnswerNowTable
from .firing import Booleans, Firing, Integers, at_first, combine, never, step_through

Floats = NDArray[np.float64]
Mark = str | None

_CODE = {verdict: CODES[verdict or Verdict.UNJUDGED] for verdict in (None, *Verdict)}

USELESS, UNJUDGED, ERROR = (
    CODES[verdict] for verdict in (Verdict.USELESS, Verdict.UNJUDGED, Verdict.SOURCE_ERROR)
)


NO_VERDICTS = (
    "no result was judged, so the record does not tell where a rule on verdicts stops; judge the "
    "results with --signal lexical or --signal stated"
)
"""Why nothing is known of such a rule on such loops."""


@dataclass(frozen=True, eq=False)
class SearchTable:
    """n search loops of at most w tool steps, padded on the right."""

    verdicts: NDArray[np.int8]
    """(n, w): code of each tool step's verdict; anything beyond the end."""
    taken: Integers
    """(n,): tool steps recorded."""
    free: Booleans
    """(n, w): whether a next action is recorded and is not the answer. Only there does a stop
    change anything: at the last observation there is nothing to decide, and an agent that answers
    of its own accord is left alone."""
    calls: Integers
    """(n, w): tool calls made up to and with each step, side-by-side ones counted one by one."""
    answer_now: Floats
    """(n, w): 1 or 0, whether an answer forced after each step was right; NaN where not known."""
    success: Floats
    """(n,): 1 or 0, the recorded outcome; NaN where not graded."""
    total_calls: Integers
    """(n,): tool calls of the whole loop."""
    renewed: Booleans
    """(n, w): whether the user spoke again before the step: there every rule begins anew."""
    marks: list[tuple[Mark, ...]] | None = None
    """Fingerprint of each tool step by loop; None when no rule needs them."""

    def __len__(self) -> int:
        return len(self.verdicts)

    def rows(self, which: NDArray[np.generic]) -> SearchTable:
        """Return the loops that an index or a truth array ``which`` picks, in that order."""
        marks = None
        if self.marks is not None:
            marks = [self.marks[i] for i in np.arange(len(self))[which]]
        return SearchTable(
            self.verdicts[which],
            self.taken[which],
            self.free[which],
            self.calls[which],
            self.answer_now[which],
            self.success[which],
            self.total_calls[which],
            self.renewed[which],
            marks,
        )

    def judged(self, *, count_errors: bool = False) -> Booleans:
        """Return whether any tool result of each loop was judged, (n,).

        Args:
            count_errors: whether a failed source counts as a judgement.
        """
        silent = self.verdicts == UNJUDGED
        if not count_errors:
            silent |= self.verdicts == ERROR
        found: Booleans = (~silent & self.inside).any(axis=1)
        return found

    @property
    def inside(self) -> Booleans:
        """(n, w): whether the loop has a tool step there."""
        return np.arange(self.verdicts.shape[1]) < self.taken[:, None]

    @property
    def positions(self) -> Integers:
        """(n, w): position of each step since the user last spoke, from 1."""
        place = np.arange(self.renewed.shape[1])
        begun = np.maximum.accumulate(np.where(self.renewed, place, 0), axis=1)
        found: Integers = place + 1 - begun
        return found

    def runs(self, *, count_errors: bool = False) -> Integers:
        """Return the run of useless verdicts after each step, (n, w); see `run_length`."""
        useless = self.verdicts == USELESS
        stays = self.verdicts == UNJUDGED
        errors = self.verdicts == ERROR
        if count_errors:
            useless |= errors
        else:
            stays |= errors
        runs = np.zeros(self.verdicts.shape, np.int64)
        run = np.zeros(len(self), np.int64)
        for step in range(self.verdicts.shape[1]):
            run = np.where(self.renewed[:, step], 0, run)
            run = np.where(useless[:, step], run + 1, np.where(stays[:, step], run, 0))
            runs[:, step] = run
        return runs


def search_table(
    episodes: Sequence[SearchEpisode],
    answer_now: AnswerNowTable | None = None,
    *,
    fingerprints: bool = False,
) -> SearchTable:
    """Lay search episodes out as arrays.

    Verdicts are those of the first source in order of preference (`choose_source`). A branch that
    the episode records wins over the table.

    Args:
        episodes: the loops.
        answer_now: grades of forced answers for steps whose branch is not recorded.
        fingerprints: whether to keep each step's fingerprint; see `needs_fingerprints`.
    """
    lengths: list[int] = []
    codes: list[int] = []
    counts: list[int] = []
    goes_on: list[bool] = []
    again: list[bool] = []
    grades: list[float] = []
    marks: list[tuple[Mark, ...]] | None = [] if fingerprints else None
    for episode in episodes:
        steps = episode.steps
        tools = [step for step in steps if step.action != "answer"]
        source = _source(steps)
        lengths.append(len(tools))
        codes += [_CODE[step.verdicts.get(source)] for step in tools]
        counts += [len(step.parallel) or 1 for step in tools]
        again += [bool(step.asked) for step in tools]
        goes_on += [b.action != "answer" for a, b in pairwise(steps) if a.action != "answer"]
        if steps and steps[-1].action != "answer":
            goes_on.append(False)
        grades += [_grade(step, episode.question_id, answer_now) for step in tools]
        if marks is not None:
            marks.append(tuple([_mark(step) for step in tools]))
    # One assignment for all loops: filling row by row takes twice as long as all the rest.
    taken = np.array(lengths, np.int64)
    inside = np.arange(max(lengths, default=0)) < taken[:, None]
    verdicts = np.zeros(inside.shape, np.int8)
    free = np.zeros(inside.shape, bool)
    calls = np.zeros(inside.shape, np.int64)
    branch = np.full(inside.shape, math.nan)
    verdicts[inside], free[inside], branch[inside] = codes, goes_on, grades
    calls[inside] = counts
    renewed = np.zeros(inside.shape, bool)
    renewed[inside] = again
    calls = calls.cumsum(axis=1)
    outcomes = [episode.outcome.success for episode in episodes]
    success = np.array([math.nan if o is None else o for o in outcomes], float)
    total = calls.max(axis=1, initial=0)
    return SearchTable(verdicts, taken, free, calls, branch, success, total, renewed, marks)


def _source(steps: Sequence[SearchStep]) -> str:
    if steps and SOURCES[0] in steps[0].verdicts:
        return SOURCES[0]  # the first choice: no need to look further
    return choose_source(steps) or ""


def _grade(step: SearchStep, question: str, table: AnswerNowTable | None) -> float:
    if step.answer_now is not None and step.answer_now.success is not None:
        return float(step.answer_now.success)
    return math.nan if table is None else table.get(question, step.t)


def _mark(step: SearchStep) -> Mark:
    if step.parallel:
        calls: list[Any] = [[call.action, call.arguments] for call in step.parallel]
        results = [call.result for call in step.parallel]
        known = all(result is not None for result in results)
        return fingerprint(calls, results) if known else None
    if step.arguments is None or step.result is None:
        return None
    return fingerprint([step.action, step.arguments], step.result)


def search_firing(policy: Policy, table: SearchTable) -> Firing:
    """Return where ``policy`` fires on each loop, exactly as `SearchLoop` would step by step."""
    # A part that fired in an earlier turn of the user's is forgotten: `&` is then stepped.
    if isinstance(policy, AnyOf) or (isinstance(policy, AllOf) and not table.renewed.any()):
        return combine(policy, [search_firing(part, table) for part in policy.parts])
    condition = _CONDITIONS.get(type(policy))
    if condition is not None:
        return at_first(condition(policy, table) & table.inside)
    return _stepped(policy, table)


def needs_fingerprints(policies: Iterable[Policy]) -> bool:
    """Tell whether any of ``policies`` may look at more than the verdicts."""
    return any(
        needs_fingerprints(policy.parts)
        if isinstance(policy, (AnyOf, AllOf))
        else type(policy) not in _CONDITIONS
        for policy in policies
    )


def verdict_parts(policy: Policy) -> list[Policy]:
    """Return the parts of ``policy`` that stop by verdicts and by nothing else."""
    if isinstance(policy, (AnyOf, AllOf)):
        return [rule for part in policy.parts for rule in verdict_parts(part)]
    return [policy] if isinstance(policy, (BreakEven, Recovery, UselessStreak)) else []


def judged_loops(policy: Policy, table: SearchTable) -> tuple[int, int]:
    """Return how many loops have a verdict that ``policy`` waits for, and how many have none.

    Loops without a tool result are neither; a policy that does not look at verdicts has (0, 0).
    """
    parts = verdict_parts(policy)
    if not parts:
        return 0, 0
    errors = all(isinstance(rule, UselessStreak) and rule.count_errors for rule in parts)
    judged = int(table.judged(count_errors=errors).sum())
    return judged, int((table.taken > 0).sum()) - judged


def _streak(policy: UselessStreak, table: SearchTable) -> Booleans:
    return table.runs(count_errors=policy.count_errors) >= policy.k


def _breakeven(policy: BreakEven, table: SearchTable) -> Booleans:
    return table.runs() >= policy.threshold


def _deadline(policy: Deadline, table: SearchTable) -> Booleans:
    return _from_step(policy.budget - 1, table)


def _calls(policy: CallBudget, table: SearchTable) -> Booleans:
    return _from_step(policy.n, table)


def _from_step(step: int, table: SearchTable) -> Booleans:
    late: Booleans = table.positions >= step
    return late


def _never(policy: Never, table: SearchTable) -> Booleans:
    return np.zeros(table.verdicts.shape, bool)


def _random(policy: RandomStop, table: SearchTable) -> Booleans:
    draws = [uniform(policy.seed, t) for t in range(1, table.verdicts.shape[1] + 1)]
    fires: Booleans = (np.array(draws) < policy.rate)[table.positions - 1]
    return fires


def _recovery(policy: Recovery, table: SearchTable) -> Booleans:
    width = table.verdicts.shape[1]
    fires = np.ones((width, width + 1), bool)  # by steps taken before this one, and run
    for step in range(width):
        left = policy.recovery.budget - step - 1
        if left > 1:
            fires[step] = np.isin(np.arange(width + 1), list(policy.table[left - 1]))
    chosen: Booleans = fires[table.positions - 1, table.runs()]
    return chosen


_CONDITIONS: dict[type[Policy], Callable[[Any, SearchTable], Booleans]] = {
    BreakEven: _breakeven,
    CallBudget: _calls,
    Deadline: _deadline,
    Never: _never,
    RandomStop: _random,
    Recovery: _recovery,
    UselessStreak: _streak,
}
"""Rules whose condition over all loops and steps is one array expression."""


def _stepped(policy: Policy, table: SearchTable) -> Firing:
    if len(table) == 0:
        return never(0)
    rows = [
        (row[:n].tobytes(), again[:n].tobytes())
        for row, again, n in zip(table.verdicts, table.renewed, table.taken, strict=True)
    ]
    marks: Sequence[tuple[Mark, ...] | None] = table.marks or [None] * len(rows)
    return step_through(policy, zip(rows, marks, strict=True), _observations)


def _observations(
    pattern: tuple[tuple[bytes, bytes], tuple[Mark, ...] | None],
) -> list[SearchObservation | None]:
    """Return the observations of a loop, None where the user spoke again."""
    (codes, again), marks = pattern
    seen: list[SearchObservation | None] = []
    for place, code in enumerate(codes):
        if again[place]:
            seen.append(None)
        seen.append(
            _SEEN[code] if marks is None else SearchObservation(VERDICTS[code], marks[place])
        )
    return seen


_SEEN = [SearchObservation(verdict) for verdict in VERDICTS]
