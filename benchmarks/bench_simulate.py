"""Exact evaluation: how long it takes, and how a simulation of equal accuracy compares.

M = 8, K = 5 with 8 rules (the document of ``haltwise simulate`` without the interpreter's start),
M = 16, K = 20 with its error bound, and the loops that a Monte Carlo run would need for a standard
error as small as the bound. Run: ``python benchmarks/bench_simulate.py``.
"""

from __future__ import annotations

import time

from haltwise import NoiseModel, parse_policy
from haltwise.replay.exact import evaluate, evaluate_all
from haltwise.replay.exact_optimum import optimum, optimum_recall

NOISES = {
    "J = .50": NoiseModel(0.3, 0.2, 0.25, 0.1, 0.6),
    "J = .15": NoiseModel(0.45, 0.4, 0.25, 0.05, 0.6),
}
EIGHT = (
    "fixed",
    "majority",
    "patience(2)",
    "best_of_votes",
    "vrr_guard",
    "vrr_stop",
    "lookahead(recall=false)",
    "lookahead",
)
LARGE = ("vrr_stop", "lookahead(recall=false)", "lookahead", "vrr_guard")


def main() -> None:
    """Print times of wall clock and processor, and bounds."""
    for name, noise in NOISES.items():
        defaults = {"noise": noise, "rounds": 5, "tau": 0.01, "n": 5}
        rules = [parse_policy(text, defaults=defaults) for text in EIGHT]
        wall, cpu = time.perf_counter(), time.process_time()
        evaluate_all(rules, noise, votes=8, rounds=5, tau=0.01)
        optimum(noise, votes=8, rounds=5, tau=0.01)
        optimum_recall(noise, votes=8, rounds=5, tau=0.01)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        print(f"M = 8, K = 5, {name}, 8 rules and both optima: {wall:.2f} s, CPU {cpu:.2f} s")
    for name, noise in NOISES.items():
        for text in LARGE:
            rule = parse_policy(text, defaults={"noise": noise, "rounds": 20, "tau": 0.01})
            wall, cpu = time.perf_counter(), time.process_time()
            found = evaluate(rule, noise, votes=16, rounds=20, tau=0.01)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            spread = found.validity * (1 - found.validity)
            loops = f"{spread / found.error**2:.0e}" if found.error > 0 else "any number of"
            print(
                f"M = 16, K = 20, {name}, {text}: validity {found.validity:.5f}, "
                f"error <= {found.error:.0e}, {wall:.1f} s, CPU {cpu:.1f} s "
                f"(a simulation: {loops} loops)"
            )


if __name__ == "__main__":
    main()
