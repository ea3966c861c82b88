"""The agent calls results useless and searches on: its verdicts do not reach its decisions.

What it means:
    Agents that had nothing but useless results are no more likely to answer next than agents that
    had seen something else by the same step, or hardly any of them answers after k useless results
    in a row. The judgement is there, and nothing follows from it.

Why it matters:
    On a dead source such an agent spends its whole budget and ends without an answer, although it
    has said at every step that the search brings nothing. Prompts that tell it to stop change this
    little; taking the tools away does.

Example:
    In the published runs of Qwen3-8B on a dead source, 292 episodes saw five useless results in a
    row with actions left. One of them ever answered.

What to do:
    Enforce a rule outside the model, such as ``streak(5) | deadline(8)``. Look at the table of
    rules for the k that saves most at the fewest answers put at risk.
"""

from __future__ import annotations

from ..after_run import ALL, AfterRun
from ..result import Audit
from .rule import Rule
from .words import interval, points

MARGIN = 0.05
"""A contrast whose interval stays below this is no reaction worth the name."""
MOST = 0.5
"""Fewer than this share answering after k useless results in a row counts as ignoring them."""
FEWEST = 20
"""Clusters, or episodes at risk, below which nothing is said."""


def look(audit: Audit) -> str | None:
    """Return the evidence of the answered-after-a-run row, the contrast, or both."""
    row = audit.after(audit.k, "persistent") or audit.after(audit.k)
    contrast = audit.contrast.estimate
    silent = row is not None and row.at_risk >= FEWEST and row.estimate.high < MOST
    flat = contrast.n >= FEWEST and contrast.high < MARGIN
    if not silent and not flat:
        return None
    sentences = []
    if row is not None and row.at_risk:
        sentences.append(_row(row))
    if contrast.defined:
        less = contrast.value < 0
        sentences.append(
            "At the same step, agents with nothing but useless results are "
            f"{abs(100 * contrast.value):.1f} points {'less likely' if less else 'likelier'} to "
            f"answer than others ({points(contrast)})."
        )
    return " ".join(sentences)


def _row(row: AfterRun) -> str:
    where = "" if row.regime == ALL else f" ({row.regime} regime)"
    return (
        f"After {row.k} useless results in a row{where}, {row.answered:,} of {row.at_risk:,} "
        f"episodes ever answer{interval(row.estimate)}."
    )


RULE = Rule("ignores-own-verdicts", "The agents ignore their own verdicts", look)
