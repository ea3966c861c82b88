"""Fault durations that calibration never saw: what the bare table loses, and what trust saves."""

from __future__ import annotations

import numpy as np
import pytest

from haltwise.calibrate.recovery import recovery_model
from haltwise.calibrate.recovery_counts import recovery_counts
from haltwise.core.policies import Recovery
from haltwise.core.recovery import RecoveryModel
from haltwise.replay.outcome import search_outcomes
from haltwise.replay.search import SearchTable, search_firing, search_table
from haltwise.simulated import SearchAgent, logit_hazard, simulate_search
from haltwise.simulated.faults import MEAN6

BUDGET, TRUST = 8, 0.5
SLOW = ("recover_after_4", "recover_after_5", "pareto(1.0)")
PATIENT = SearchAgent(
    "patient", logit_hazard([-6.0] * (BUDGET - 1), 0.0, found=0.9), from_memory=0.15, helpful=0.9
)


def table(regimes: tuple[str, ...], questions: int, seed: int) -> SearchTable:
    """Return simulated loops with answer-now branches."""
    runs = simulate_search(PATIENT, questions, regimes=regimes, seed=seed)
    return search_table(list(runs.episodes()))


def fitted(regimes: tuple[str, ...], price: float) -> RecoveryModel:
    """Return the table fitted on these regimes."""
    loops = table(regimes, 200, seed=1)
    counts = recovery_counts(loops, np.zeros(len(loops), int), budget=BUDGET, price=price)
    return recovery_model(counts, price=price)[0]


@pytest.mark.parametrize("price", [0.01, 0.02, 0.05, 0.1])
@pytest.mark.parametrize("seen", [MEAN6, MEAN6 + SLOW])
def test_no_loop_costs_more_than_the_bound(price: float, seen: tuple[str, ...]) -> None:
    """With trust .5, calls and lost gain <= (1 + 1/.5 + 2c/G) x hindsight on every slow loop.

    D = useless results from the start; searching k calls costs D c if the source recovers first,
    else k c + G; hindsight min(D c, G), and G where no action is left at recovery (METHODS
    section 1, "Robust stopping"; the deadline caps k and D alike).
    """
    policy = Recovery(fitted(seen, price), TRUST)
    gain = policy.recovery.gain
    loops = table(SLOW, 200, seed=2)
    useless = loops.inside & (loops.runs() == np.arange(1, loops.runs().shape[1] + 1))
    duration = np.cumprod(useless, axis=1).sum(axis=1)
    stop = np.minimum(search_firing(policy, loops).step + 1, BUDGET - 1)
    cost = np.where(stop <= duration, stop * price + gain, duration * price)
    hindsight = np.where(duration >= BUDGET - 1, gain, np.minimum(duration * price, gain))
    assert (cost <= (1 + 1 / TRUST + 2 * price / gain) * hindsight + 1e-9).all()


def test_slow_regimes_in_the_calibration_save_slow_loops() -> None:
    """recover_after_5 at price .05: fitted without slow regimes the table gives up and loses over
    30 points against the unaided agent; fitted with them it loses nothing.
    """
    assert lost(Recovery(fitted(MEAN6, 0.05)), 0.05) > 0.3
    assert lost(Recovery(fitted(MEAN6 + SLOW, 0.05)), 0.05) <= 0


def test_trust_saves_slow_loops_where_calls_are_cheap() -> None:
    """At price .02 the table must not be heard before ceil(.5 G / c) = 12 results: nothing lost."""
    assert lost(Recovery(fitted(MEAN6, 0.02), TRUST), 0.02) <= 0


def lost(policy: Recovery, price: float) -> float:
    """Return the success that a policy loses on slow loops, against the unaided agent."""
    loops = table(("recover_after_5",), 400, seed=3)
    found = search_outcomes(loops, search_firing(policy, loops), price)
    return float(loops.success.mean() - found.success.mean())
