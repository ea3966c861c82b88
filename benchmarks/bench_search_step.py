"""One step of a search policy against one step of loopgain, in one run.

Both follow 20 steps. Ours is `SearchLoop.observe`; theirs is ``observe`` plus ``should_continue``.
The loop is made anew for each series, and making it is timed too. Three scenarios: the rule fires
at step 5 with its full evidence and stays stopped; it never fires; both of its parts fire at step
20. Run: ``python benchmarks/bench_search_step.py``.
"""

from __future__ import annotations

from collections.abc import Callable

from against_loopgain import print_against_loopgain
from loopgain import LoopGain

from haltwise import Policy, SearchLoop, parse_policy

STEPS = 20
ERRORS = [10.0 * 0.93**i for i in range(STEPS)]


def ours(policy: Policy, words: list[str]) -> Callable[[], None]:
    """Return a function that runs ``policy`` over the verdicts."""

    def series() -> None:
        loop = SearchLoop(policy)
        for word in words:
            loop.observe(word)

    return series


def theirs() -> None:
    """Run loopgain over twenty falling errors."""
    loop = LoopGain(target_error=0.001, max_iterations=100)
    for error in ERRORS:
        loop.observe(error)
        loop.should_continue()


SERIES = {
    "fires at step 5": ours(parse_policy("streak(5) | deadline(8)"), ["useless"] * STEPS),
    "never fires": ours(
        parse_policy("streak(5) | deadline(30)"),
        ["useful" if i % 3 == 0 else "useless" for i in range(STEPS)],
    ),
    "fires at step 20": ours(parse_policy("streak(20) | deadline(21)"), ["useless"] * STEPS),
    "loopgain": theirs,
}


if __name__ == "__main__":
    print_against_loopgain(SERIES, STEPS)
