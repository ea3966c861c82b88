"""One step of a repair policy against one step of loopgain, in one run.

Both follow 20 steps to the end. Ours is `RepairLoop.observe` with the votes of each plan; theirs is
``observe`` plus ``should_continue`` with a falling error. The loop is made anew for each series,
and making it is timed too; the policy is made once. No rule stops before the last step.
Run: ``python benchmarks/bench_repair_step.py``.
"""

from __future__ import annotations

from collections.abc import Callable

from against_loopgain import print_against_loopgain
from loopgain import LoopGain

from haltwise import NoiseModel, Policy, RepairLoop, parse_policy

STEPS = 20
ERRORS = [10.0 * 0.93**i for i in range(STEPS)]
NOISE = NoiseModel(0.3, 0.2, 0.25, 0.1, 0.6)
DEFAULTS = {"noise": NOISE, "rounds": STEPS - 1, "tau": 0}


def ours(policy: Policy) -> Callable[[], None]:
    """Return a function that runs ``policy`` over plans that few votes accept."""
    votes = [(2, 8) if i % 3 else (3, 8) for i in range(STEPS)]

    def series() -> None:
        loop: RepairLoop[str] = RepairLoop(policy)
        for accepts, asked in votes:
            decision = loop.observe("plan", accepts, asked)
        assert decision.stops and decision.evidence["round"] == STEPS - 1

    return series


def theirs() -> None:
    """Run loopgain over twenty falling errors."""
    loop = LoopGain(target_error=0.001, max_iterations=100)
    for error in ERRORS:
        loop.observe(error)
        loop.should_continue()


SERIES = {
    text: ours(parse_policy(text, defaults=DEFAULTS))
    for text in ("vrr_stop", "lookahead(recall=false)", "auto", "vrr_guard", "majority")
} | {"loopgain": theirs}


if __name__ == "__main__":
    print_against_loopgain(SERIES, STEPS)
