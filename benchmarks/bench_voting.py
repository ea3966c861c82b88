"""Adaptive voting: how many votes it saves, and what that does to the delivered plans.

The same simulated loops and the same ballots for every way of buying votes: all 8 at once; one lot
after the other until no completion can change the decision (curtailment); until the belief has
left a zone of indifference of 3 or 2 in log odds around the threshold (SPRT).
Run: ``python benchmarks/bench_voting.py``.
"""

from __future__ import annotations

import numpy as np

from haltwise import NoiseModel, Policy, RepairObservation, parse_policy
from haltwise.core.voting import votes_needed

NOISE = NoiseModel(0.3, 0.2, 0.25, 0.1, 0.6)
LOOPS, VOTES, ROUNDS = 3000, 8, 5
POLICIES = ("vrr_stop", "lookahead(recall=false)", "lookahead", "majority", "vrr_guard")
WAYS: dict[str, float | None] = {"curtailment": None, "zone 3": 3.0, "zone 2": 2.0}


def ballots(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the truth of each plan, (loops, rounds + 1), and each vote, (..., VOTES)."""
    valid = np.empty((LOOPS, ROUNDS + 1), dtype=bool)
    valid[:, 0] = rng.random(LOOPS) < NOISE.valid
    for k in range(1, ROUNDS + 1):
        chance = np.where(valid[:, k - 1], 1 - NOISE.beta, NOISE.alpha)
        valid[:, k] = rng.random(LOOPS) < chance
    accept = np.where(valid, 1 - NOISE.rho1, NOISE.rho0)
    return valid, rng.random((*valid.shape, VOTES)) < accept[..., None]


def run(
    policy: Policy, valid: np.ndarray, votes: np.ndarray, zone: float | None, adaptive: bool
) -> tuple[np.ndarray, int, int]:
    """Return which loops delivered a valid plan, votes bought and rounds run."""
    right, bought, rounds = np.zeros(LOOPS, dtype=bool), 0, 0
    asked: dict[tuple[object, int, int], int] = {}  # the same question comes up again and again
    for i in range(LOOPS):
        state = policy.initial()
        for k in range(ROUNDS + 1):
            accepts = count = 0
            more = VOTES
            while more:
                if adaptive:
                    key = (state, accepts, count)
                    if key not in asked:
                        asked[key] = votes_needed(policy, state, accepts, count, VOTES, zone=zone)
                    more = asked[key]
                accepts += int(votes[i, k, count : count + more].sum())
                count += more
                more = more if adaptive else 0
            bought, rounds = bought + count, rounds + 1
            state, decision = policy.step(state, RepairObservation(accepts, count))
            if decision.stops:
                assert decision.candidate is not None
                right[i] = valid[i, decision.candidate]
                break
    return right, bought, rounds


def main() -> None:
    """Print validity, the paired difference with its standard error, and votes a round."""
    valid, votes = ballots(np.random.default_rng(7))
    print(f"{LOOPS} loops, at most {VOTES} votes a plan, {ROUNDS} repairs")
    for text in POLICIES:
        policy = parse_policy(text, defaults={"noise": NOISE, "tau": 0.01})
        whole, bought, rounds = run(policy, valid, votes, None, adaptive=False)
        print(f"{text}: valid {whole.mean():.4f}, {bought / rounds:.2f} votes a round")
        for way, zone in WAYS.items():
            right, less, made = run(policy, valid, votes, zone, adaptive=True)
            difference = right.astype(float) - whole
            error = difference.std() / LOOPS**0.5
            print(
                f"  {way:12} valid {right.mean():.4f} ({difference.mean():+.4f} +- {error:.4f}), "
                f"{less / made:.2f} votes a round, {1 - less / bought:.0%} of all votes saved"
            )


if __name__ == "__main__":
    main()
