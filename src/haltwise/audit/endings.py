"""How episodes end: without any answer, and how many of their texts are error texts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..stats.estimate import Estimate
from ..stats.proportions import clustered_proportion
from .tally import Sample
from .trajectories import Bools, Trajectories


@dataclass(frozen=True)
class ErrorTexts:
    """Texts of results and answers that look like errors of a tool or an API."""

    texts: int
    """Results and answers whose text was kept."""
    errors: int
    """How many of them look like an error text."""
    commonest: str
    """The text that most errors share, cut and with digits masked; empty without errors."""


def unanswered(sample: Sample, *, level: float) -> Estimate:
    """Return the share of episodes that hold no answer at all; n = episodes.

    Episodes that were cut off from outside do not count.
    """
    uncut = sample.where(lambda outline: not outline.censored)
    rows, counts = sample.pooled(sample.values(cells), uncut)
    estimate = clustered_proportion(rows[:, 0], rows[:, 1], counts=counts, level=level)
    cut = sample.episodes - estimate.n
    return estimate.noted(f"{cut} episodes cut off from outside left out") if cut else estimate


def error_texts(sample: Sample) -> ErrorTexts:
    """Count error texts over all episodes."""
    by_text: dict[str, int] = {}
    texts = errors = 0
    for outline, weight in zip(sample.table, sample.weights.tolist(), strict=True):
        texts += weight * outline.results
        errors += weight * outline.error_results
        if outline.error_text is not None:
            count = by_text.get(outline.error_text, 0)
            by_text[outline.error_text] = count + weight * outline.error_results
    commonest = min(by_text, key=lambda text: (-by_text[text], text), default="")
    return ErrorTexts(texts, errors, commonest)


def cells(trajectories: Trajectories) -> Bools:
    """Return holding no answer and 1, shape (m, 2)."""
    missing = ~trajectories.answer.any(axis=1)
    return np.stack([missing, np.ones_like(missing)], axis=1)
