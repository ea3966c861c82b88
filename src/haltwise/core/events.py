"""What happened in a loop: raw facts, before any rule has looked at them.

Knows nothing of policies, messages or files.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """A judgement of one search result, whoever gave it.

    The five words are also accepted as plain strings wherever a verdict is asked for.
    """

    USELESS = "useless"
    """The result does not help with the question: the run grows by one."""
    USEFUL = "useful"
    """The result helps: the run falls to zero."""
    UNKNOWN = "unknown"
    """A judge was asked and said neither: the run falls to zero."""
    UNJUDGED = "unjudged"
    """Nobody judged (no statement, judge not asked or failed): the run stays."""
    SOURCE_ERROR = "source_error"
    """The tool itself failed: the run stays, unless a policy was told to count errors."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a step or an episode cost. ``None`` means "not recorded", never "nothing"."""

    calls: int | None = None
    """Calls to the model, at least 0."""
    input_tokens: int | None = None
    """Tokens read by the model, at least 0."""
    output_tokens: int | None = None
    """Tokens written by the model, at least 0."""
