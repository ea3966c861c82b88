"""Rules replayed on recorded search episodes. Asks no model and reads no file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...calibrate.recovery import estimate_recovery
from ...core.errors import InputError
from ...core.expression import parse_policy
from ...core.policies import Recovery
from ...core.policy import Policy
from ...record.episode import SearchEpisode
from ...replay.outcome import search_outcomes
from ...replay.search import search_firing, search_table

RULES = ("never", "streak(3)", "streak(5)", "deadline(8)", "streak(5) | deadline(8)")
"""Rules that are replayed on it, beside the fitted recovery rule."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """One rule on the recording."""

    policy: str
    success: float
    """Share of right answers, in [0, 1]; NaN where the recording does not tell."""
    calls: float
    """Tool calls an episode."""


def replay_rules(
    episodes: Sequence[SearchEpisode], *, budget: int = 8, price: float = 0.05
) -> tuple[list[Replayed], str]:
    """Return every rule on the episodes, and why there is no recovery rule ("" where there is)."""
    policies: list[tuple[str, Policy]] = [(rule, parse_policy(rule)) for rule in RULES]
    missing = ""
    try:
        fit = estimate_recovery(episodes, budget=budget, price=price, replicates=1)
        policies.append((f"recovery, fitted at price {price:g}", Recovery(fit.model)))
    except InputError as error:
        missing = str(error)
    table = search_table(episodes)
    found = []
    for name, policy in policies:
        outcomes = search_outcomes(table, search_firing(policy, table), price)
        known = ~np.isnan(outcomes.success)
        share = float(outcomes.success[known].mean()) if known.any() else float("nan")
        found.append(Replayed(name, share, float(outcomes.steps.mean())))
    return found, missing
