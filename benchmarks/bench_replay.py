"""Replay of 100,000 loops x 6 rounds x 10 policies, against stepping the online rules.

Both decide the same loops with the same policies; the stops must agree. Stepping is timed on a
share of the loops and scaled up. The whole command's work (lay out the episodes, replay, bootstrap,
compare all pairs) is timed too. Run: ``python benchmarks/bench_replay.py``.
"""

from __future__ import annotations

import time

import numpy as np

from haltwise.core.expression import parse_policy
from haltwise.core.loop import RepairLoop, SearchLoop
from haltwise.core.policy import Policy
from haltwise.record.episode import RepairEpisode, SearchEpisode
from haltwise.record.repair_table import RepairTable
from haltwise.replay.firing import NEVER
from haltwise.replay.outcome import repair_outcomes
from haltwise.replay.repair import repair_firing
from haltwise.replay.run import replay_repair, replay_search
from haltwise.replay.search import search_firing, search_table
from haltwise.replay.summary import summarise
from haltwise.simulated import IGNORES, simulate_search
from haltwise.simulated.repair import simulate_repair

LOOPS = 100_000
STEPPED = 2_000
NOISE = "noise(rho0=.3, rho1=.2, alpha=.25, beta=.1, valid=.6)"
REPAIR = (
    "fixed(0)",
    "fixed(5)",
    "majority",
    "confidence(.85)",
    "patience(2)",
    "best_of_votes",
    "vrr_guard",
    f"vrr_stop({NOISE})",
    f"lookahead({NOISE})",
    f"auto({NOISE}) | fixed(3)",
)
RECOVERY = (
    "recovery(recovery(budget=8, hazard=[[.2, .3, .4, .1, .02, 0], [.2, .1, .1, 0, 0, 0]], "
    "answer_now=[.14, .1], useful_value=[0, .2, .3, .5, .5, .5], price=.05)"
)
SEARCH = (
    "never",
    "streak(3)",
    "streak(5)",
    "streak(5) | deadline(8)",
    "deadline(8)",
    "calls(4)",
    "breakeven(.35, .05)",
    f"{RECOVERY})",
    f"{RECOVERY}, trust=.5)",
    "streak(2) & random(.5, 1)",
)


def stepped_repair(policy: Policy, table: RepairTable, loops: int) -> list[int]:
    """Return the round at which the online loop stops, loop by loop."""
    found = []
    accepts, votes = table.accepts[:loops].tolist(), table.votes[:loops].tolist()
    for counts, given in zip(accepts, votes, strict=True):
        loop: RepairLoop[int] = RepairLoop(policy)
        for k, (accept, vote) in enumerate(zip(counts, given, strict=True)):
            if loop.observe(k, accept, vote).stops:
                found.append(k)
                break
        else:
            found.append(int(NEVER))
    return found


def stepped_search(policy: Policy, episodes: list[SearchEpisode]) -> list[int]:
    """Return the step at which the online loop stops, loop by loop."""
    found = []
    for episode in episodes:
        loop = SearchLoop(policy)
        for position, step in enumerate(episode.steps):
            if step.action != "answer" and loop.observe(step.verdicts["recorded"]).stops:
                found.append(position)
                break
        else:
            found.append(int(NEVER))
    return found


def main() -> None:
    """Time both and print the ratios."""
    repair = [parse_policy(text) for text in REPAIR]
    runs = simulate_repair(repair[7].noise, LOOPS, rounds=5)  # type: ignore[attr-defined]
    table = RepairTable.from_arrays(runs.accepts, runs.votes, runs.valid)
    start = time.perf_counter()
    firings = [repair_firing(policy, table) for policy in repair]
    for firing in firings:
        repair_outcomes(table, firing, 0.01)
    fast = time.perf_counter() - start
    start = time.perf_counter()
    stepped = [stepped_repair(policy, table, STEPPED) for policy in repair]
    slow = (time.perf_counter() - start) * LOOPS / STEPPED
    same = all(f.step[:STEPPED].tolist() == s for f, s in zip(firings, stepped, strict=True))
    _report("repair", fast, slow, same)
    _whole("repair", list(runs.episodes()), REPAIR, repair)

    search = [parse_policy(text) for text in SEARCH]
    episodes = list(simulate_search(IGNORES, LOOPS // 6 + 1).episodes())[:LOOPS]
    start = time.perf_counter()
    laid_out = search_table(episodes)
    layout = time.perf_counter() - start
    start = time.perf_counter()
    firings = [search_firing(policy, laid_out) for policy in search]
    fast = time.perf_counter() - start
    start = time.perf_counter()
    stepped = [stepped_search(policy, episodes[:STEPPED]) for policy in search]
    slow = (time.perf_counter() - start) * LOOPS / STEPPED
    same = all(f.step[:STEPPED].tolist() == s for f, s in zip(firings, stepped, strict=True))
    _report("search", fast, slow, same)
    print(f"  laying the episodes out as arrays: {layout:.2f} s")
    _whole("search", episodes, SEARCH, search)


def _report(kind: str, fast: float, slow: float, same: bool) -> None:
    print(
        f"{kind}: {LOOPS:,} loops, 10 policies: replay {fast:.2f} s, stepping {slow:.1f} s: "
        f"{slow / fast:.0f}x; same stops: {'yes' if same else 'NO'}"
    )
    if not same:
        raise SystemExit(1)


def _whole(
    kind: str,
    episodes: list[RepairEpisode] | list[SearchEpisode],
    names: tuple[str, ...],
    policies: list[Policy],
) -> None:
    start = time.perf_counter()
    replay = replay_repair if kind == "repair" else replay_search
    replayed = replay(episodes, policies, price=0.01)  # type: ignore[operator]
    middle = time.perf_counter()
    summary = summarise(kind, names, replayed.outcomes, replayed.clusters, price=0.01)
    end = time.perf_counter()
    print(
        f"  from episodes to outcomes {middle - start:.2f} s; 2,000 resamples of "
        f"{summary.clusters:,} clusters, {len(summary.comparisons)} comparisons "
        f"{end - middle:.2f} s; mean {np.mean([p.success.value for p in summary.policies]):.3f}"
    )


if __name__ == "__main__":
    main()
