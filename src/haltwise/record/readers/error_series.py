"""Reader of LoopGain-style error series: how many checks fail after each iteration of a loop.

A candidate is valid when its errors are at or below ``target_error`` (0 where there is no target).
An iteration that itself failed (named in ``failed_iters``, counted from 1, or written as
1000000.0) is a missing round: no vote and no truth. These loops carry no votes: the checks are the
truth, so ``accepts`` and ``votes`` are None elsewhere.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from ...core.events import Usage
from ..episode import Outcome, RepairEpisode, RepairStep
from ..skip import Skip
from ..source import Source
from .base import Found
from .lines import records
from .sniffing import first_object_keys, is_array

RECORD = "an error series"

FAILED = 1_000_000.0
"""What stands in a series where an iteration failed."""

_SEED = re.compile(r"seed-?(\d{1,9})$")


class _Series(msgspec.Struct):
    errors: list[float | None]
    target_error: float | None = None
    failed_iters: list[int] = []
    prompt_id: Any = None
    trial_id: str | None = None
    cell: str | None = None
    model: str | None = None
    loop_type: str | None = None
    gated: bool | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


_series = msgspec.json.Decoder(_Series)


class ErrorSeries:
    """One loop a line."""

    name = "error-series"
    splits = True

    def sniff(self, head: bytes, path: str) -> float:
        """Sure of an object with errors, and a target or failed iterations beside it."""
        keys = first_object_keys(head)
        if "errors" not in keys or is_array(head):
            return 0.0
        return 0.9 if keys & {"target_error", "failed_iters"} else 0.3

    def read(self, source: Source) -> Iterator[Found | Skip]:
        """Yield every line as an episode or a skip."""
        for item in records(source, _series, RECORD):
            if isinstance(item, Skip):
                yield item
                continue
            line, series = item
            if not series.errors:
                yield source.skip(line, f"is not {RECORD}: errors is empty")
            elif series.prompt_id is None and series.trial_id is None:
                yield source.skip(line, f"is not {RECORD}: neither prompt_id nor trial_id")
            else:
                yield line, _episode(series)


def _episode(series: _Series) -> RepairEpisode:
    target = series.target_error or 0.0
    failed = set(series.failed_iters)
    steps = []
    for k, errors in enumerate(series.errors):
        if errors is None or errors >= FAILED or k + 1 in failed or not math.isfinite(errors):
            steps.append(RepairStep(k, votes=0))
        else:
            steps.append(RepairStep(k, valid=errors <= target, errors=errors))
    prompt = series.prompt_id
    if not isinstance(prompt, str):
        prompt = str(series.trial_id if prompt is None else prompt)
    seed = _SEED.search(series.trial_id or "")
    return RepairEpisode(
        episode_id=series.trial_id or prompt,
        cluster_id=prompt,
        question_id=prompt,
        model=series.model,
        arm=series.cell,
        seed=int(seed.group(1)) if seed else None,
        run=series.trial_id,
        labels={} if series.loop_type is None else {"loop_type": series.loop_type},
        gated=series.gated,
        outcome=Outcome(success=steps[-1].valid),
        usage=None
        if series.input_tokens is None and series.output_tokens is None
        else Usage(None, series.input_tokens, series.output_tokens),
        notes=["no votes were recorded: the checks themselves are the truth"],
        steps=steps,
    )


reader = ErrorSeries()
