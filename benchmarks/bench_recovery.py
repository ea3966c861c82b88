"""Sources that recover slowly: what each search rule loses, and what calibration must have seen.

Simulated agents (known answers, known faults) search until a result is judged useful. The recovery
table is fitted on the six regimes of the published design alone, and on these with four slow ones
added; every rule is then run on other questions, slow regimes included. Printed: success against
the unaided agent, in points; regret in utility to the best stop in hindsight; and for trust = .5
the largest cost of any loop over hindsight against its bound 1 + 1/trust + 2c/G.

Run: ``python benchmarks/bench_recovery.py``. Exits with 1 when a loop exceeds the bound.
"""

from __future__ import annotations

import numpy as np

from haltwise.calibrate.recovery import recovery_model
from haltwise.calibrate.recovery_counts import recovery_counts
from haltwise.core.expression import parse_policy
from haltwise.core.policies import BreakEven, Deadline, Recovery
from haltwise.core.policy import Policy
from haltwise.core.recovery import RecoveryModel
from haltwise.replay.outcome import search_outcomes
from haltwise.replay.search import SearchTable, search_firing, search_table
from haltwise.simulated import SearchAgent, logit_hazard, simulate_search
from haltwise.simulated.faults import MEAN6

BUDGET = 8
SLOW = ("recover_after_4", "recover_after_5", "geometric(0.3)", "pareto(1.0)")
PATIENT = SearchAgent(
    "patient", logit_hazard([-6.0] * (BUDGET - 1), 0.0, found=0.9), from_memory=0.15, helpful=0.9
)
TRUST = 0.5


def table(regimes: tuple[str, ...], questions: int, seed: int) -> SearchTable:
    """Return simulated loops with an answer-now branch at every step."""
    return search_table(
        list(simulate_search(PATIENT, questions, regimes=regimes, seed=seed).episodes())
    )


def fitted(regimes: tuple[str, ...], price: float) -> RecoveryModel:
    """Return the recovery table of these regimes."""
    loops = table(regimes, 300, seed=1)
    counts = recovery_counts(loops, np.zeros(len(loops), int), budget=BUDGET, price=price)
    return recovery_model(counts, price=price)[0]


def worst_ratio(policy: Recovery, loops: SearchTable) -> float:
    """Return the largest cost of a loop over that of hindsight.

    D = useless results from the start. Searching k calls costs D c if the source recovers first,
    else k c + G; hindsight min(D c, G), and G where no action is left when the source recovers.
    """
    gain, price = policy.recovery.gain, policy.recovery.price
    useless = np.where(loops.inside, loops.runs(), 0) == np.arange(1, loops.runs().shape[1] + 1)
    duration = np.cumprod(useless, axis=1).sum(axis=1)
    stop = np.minimum(search_firing(policy, loops).step + 1, BUDGET - 1)
    gave_up = stop <= duration
    cost = np.where(gave_up, stop * price + gain, duration * price)
    hindsight = np.where(duration >= BUDGET - 1, gain, np.minimum(duration * price, gain))
    late = duration > 0  # a source that works at once costs nothing either way
    return float((cost[late] / hindsight[late]).max())


def main() -> None:
    """Print one table a price."""
    fine = True
    for price in (0.02, 0.05):
        fast, slow = fitted(MEAN6, price), fitted(MEAN6 + SLOW, price)
        policies: dict[str, Policy] = {
            "never": parse_policy("never"),
            "streak(3)": parse_policy("streak(3)"),
            "streak(5)": parse_policy("streak(5)"),
            "streak(5) | deadline(8)": parse_policy("streak(5) | deadline(8)"),
            "deadline(8)": parse_policy("deadline(8)"),
            f"breakeven({slow.gain:.2f}, {price:g}) | deadline(8)": BreakEven(slow.gain, price)
            | Deadline(BUDGET),
            "recovery, fast regimes": Recovery(fast),
            "recovery, fast regimes, trust .5": Recovery(fast, TRUST),
            "recovery, slow ones too": Recovery(slow),
            "recovery, slow ones too, trust .5": Recovery(slow, TRUST),
        }
        groups = {"mean6": MEAN6, **{regime: (regime,) for regime in SLOW}}
        tests = {name: table(regimes, 2000, seed=2) for name, regimes in groups.items()}
        print(f"price {price:g}: success against unaided in points / regret in utility")
        print(f"{'':36}" + "".join(f"{name:>20}" for name in groups) + f"{'cost / bound':>16}")
        for name, policy in policies.items():
            cells, ratio = "", 0.0
            for loops in tests.values():
                found = search_outcomes(loops, search_firing(policy, loops), price)
                points = 100 * (found.success.mean() - loops.success.mean())
                cells += f"{points:+11.1f} / {found.regret.mean():.3f}"
                if isinstance(policy, Recovery):
                    ratio = max(ratio, worst_ratio(policy, loops))
            if isinstance(policy, Recovery):
                bound = 1 + 1 / TRUST + 2 * price / policy.recovery.gain
                cells += f"{ratio:9.2f} / {bound:.2f}"
                fine &= policy.trust is None or ratio <= bound + 1e-9
            print(f"{name:36}{cells}")
        print()
    if not fine:
        raise SystemExit("a loop cost more than its bound")


if __name__ == "__main__":
    main()
