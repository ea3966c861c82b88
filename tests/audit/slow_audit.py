"""The audit once more, one episode and one step at a time: the oracle of the fast one.

Written from METHODS section 1, without numpy, outlines or clusters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from haltwise.core.belief import run_length
from haltwise.core.events import Verdict
from haltwise.record import SearchEpisode


class Decision:
    """A decision point of an episode."""

    def __init__(self, t: int, verdict: Verdict, run: int, answers: bool) -> None:
        self.t, self.verdict, self.run, self.answers = t, verdict, run, answers


def decisions(episode: SearchEpisode) -> list[Decision]:
    """Return the decision points: after every observation but one that ends the episode."""
    found, run = [], 0
    for t, step in enumerate(episode.steps, start=1):
        if step.action == "answer":
            continue
        verdict = step.verdicts.get("recorded", Verdict.UNJUDGED)
        run = run_length(run, verdict)
        if t < len(episode.steps):
            found.append(Decision(t, verdict, run, episode.steps[t].action == "answer"))
    return found


def limit(episode: SearchEpisode, budget: int) -> int:
    """Return the last decision point that is looked at."""
    return (budget if episode.budget is None else min(budget, episode.budget)) - 2


def strata(episodes: Iterable[SearchEpisode], budget: int) -> list[tuple[int, int, int, int, int]]:
    """Return (t, n1, x1, n0, x0) for t from 3 to budget - 2."""
    cells: Counter[tuple[int, str]] = Counter()
    for episode in episodes:
        for d in decisions(episode):
            if d.verdict is not Verdict.USELESS or not 3 <= d.t <= limit(episode, budget):
                continue
            group = "1" if d.run == d.t else "0" if 1 <= d.run <= d.t - 2 else ""
            if group:
                cells[d.t, "n" + group] += 1
                cells[d.t, "x" + group] += d.answers
    return [
        (t, *(cells[t, name] for name in ("n1", "x1", "n0", "x0"))) for t in range(3, budget - 1)
    ]


def hazard_cells(
    episodes: Iterable[SearchEpisode], budget: int
) -> dict[tuple[int, int], list[int]]:
    """Return {(t, r): [decisions, answers]} after useless results, for t from 3 to budget - 2."""
    cells: dict[tuple[int, int], list[int]] = {}
    for episode in episodes:
        for d in decisions(episode):
            if d.verdict is Verdict.USELESS and 3 <= d.t <= limit(episode, budget):
                cell = cells.setdefault((d.t, d.run), [0, 0])
                cell[0] += 1
                cell[1] += d.answers
    return cells


def after_run(episodes: Iterable[SearchEpisode], k: int) -> tuple[int, int]:
    """Return episodes whose run reaches k at a decision point, and how many answer later."""
    at_risk = answered = 0
    for episode in episodes:
        reached = next((d.t for d in decisions(episode) if d.run >= k), None)
        if reached is not None:
            at_risk += 1
            answered += any(step.action == "answer" for step in episode.steps[reached:])
    return at_risk, answered


def wasted(episodes: Iterable[SearchEpisode], k: int) -> tuple[int, int]:
    """Return the tool calls made after the k-th useless result in a row, and all tool calls."""
    after = total = 0
    for episode in episodes:
        run, reached = 0, False
        for step in episode.steps:
            if step.action == "answer":
                continue
            total += 1
            after += reached
            run = run_length(run, step.verdicts.get("recorded", Verdict.UNJUDGED))
            reached = reached or run >= k
    return after, total


def judged(episodes: Iterable[SearchEpisode]) -> bool:
    """Return whether any result was judged at all."""
    silent = (None, Verdict.UNJUDGED, Verdict.SOURCE_ERROR)
    return any(step.verdicts.get("recorded") not in silent for e in episodes for step in e.steps)
