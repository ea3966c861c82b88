"""A verify-repair loop of your own: the plan to deliver is often an earlier one.

The task is to write 2017 as a sum of two squares. The verifiers are sloppy, and repair breaks what
was right far more often than it mends what was wrong; how often, `haltwise calibrate repair` would
fit from records. The loop that delivers the first plan that most verifiers accept is beside it.

    python examples/repair_loop.py
"""

from __future__ import annotations

import random

from haltwise import RepairLoop, parse_policy

NOISE = "noise(rho0=.4, rho1=.3, alpha=.1, beta=.8, valid=.7)"
"""Votes wrong on 40 % of the bad plans and 30 % of the good ones, and so on."""
VOTES = 5
Plan = tuple[int, int]


def is_valid(plan: Plan) -> bool:
    """Return the truth, which the loop does not see."""
    return plan[0] ** 2 + plan[1] ** 2 == 2017


def propose(rng: random.Random) -> Plan:
    """Return a first plan; your model goes here."""
    return (9, 44) if rng.random() < 0.7 else (11, 43)


def repair(plan: Plan, rng: random.Random) -> Plan:
    """Return another plan; your model goes here."""
    if is_valid(plan):
        return (10, 44) if rng.random() < 0.8 else plan
    return (9, 44) if rng.random() < 0.1 else (12, 43)


def accepts(plan: Plan, rng: random.Random) -> int:
    """Return how many verifiers accept; your verifier goes here."""
    rate = 0.7 if is_valid(plan) else 0.4
    return sum(rng.random() < rate for _ in range(VOTES))


def deliver(rule: str, rng: random.Random) -> Plan:
    """Run the loop under a rule and return the plan that it delivers."""
    loop: RepairLoop[Plan] = RepairLoop(parse_policy(rule))
    plan = propose(rng)
    while not loop.observe(plan, accepts(plan, rng), votes=VOTES).stops:
        plan = repair(plan, rng)
    return loop.best


if __name__ == "__main__":
    for rule in ("majority", "fixed(0)", f"auto({NOISE})"):
        rng = random.Random(1)
        valid = sum(is_valid(deliver(rule, rng)) for _ in range(2000))
        print(f"{valid / 2000:.3f} of the delivered plans are valid under {rule}")
