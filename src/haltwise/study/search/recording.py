"""The recording that comes with haltwise: a real small model, recorded to full length.

``make recording`` makes it. One gzipped file: a header line (model, hash of its weights, date,
command, plan, judge check), then one episode a line. Reading it asks no model.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from ...calibrate.recovery import estimate_recovery
from ...core.errors import InputError
from ...core.expression import parse_policy
from ...core.policies import Recovery
from ...core.policy import Policy
from ...record.episode import SearchEpisode
from ...record.jsonl import decoder
from ...replay.outcome import search_outcomes
from ...replay.search import search_firing, search_table

FILE = "data/recording.jsonl.gz"
RULES = ("never", "streak(3)", "streak(5)", "deadline(8)", "streak(5) | deadline(8)")
"""Rules that are replayed on it, beside the fitted recovery rule."""


@dataclass(frozen=True)
class Recording:
    """Recorded episodes and where they come from."""

    header: dict[str, Any]
    episodes: list[SearchEpisode]


@dataclass(frozen=True, slots=True)
class Replayed:
    """One rule on the recording."""

    policy: str
    success: float
    """Share of right answers, in [0, 1]; NaN where the recording does not tell."""
    calls: float
    """Tool calls an episode."""


def bundled_recording() -> Path | None:
    """Return the recording of this installation, or None where there is none."""
    path = Path(str(resources.files(__package__).joinpath(FILE)))
    return path if path.is_file() else None


def read_recording(path: Path) -> Recording:
    """Read a recording.

    Raises:
        InputError: the file is none.
    """
    try:
        first, *rest = gzip.decompress(path.read_bytes()).splitlines()
        header = json.loads(first)
        episodes = [decoder.decode(line) for line in rest]
    except (OSError, ValueError, EOFError) as error:
        raise InputError(f"{path}: not a recording ({error}); type: make recording") from error
    return Recording(header, [e for e in episodes if isinstance(e, SearchEpisode)])


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
