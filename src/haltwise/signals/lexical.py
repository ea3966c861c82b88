"""The lexical signal: a result that shares hardly any word with the question is useless.

Costs nothing and asks nobody. Knows words only: a result that helps in other words is judged
useless, which is why its threshold is tuned on labelled steps (METHODS section 1).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache

from ..core.errors import ParameterError
from ..core.events import Verdict
from .protocol import SignalStep, combined

READ = 400
"""Characters of a result that are looked at, from its beginning."""
_OPENING = 120
_WORD = re.compile(r"[^\W_]+")
_NOTHING = re.compile(
    r"\b(?:no|zero|0)\s+(?:\w+\s+){0,2}(?:results?|match(?:es)?|hits?|documents?|entries|records?)\b"
    r"|\bnothing\s+(?:was\s+|could\s+be\s+)?found\b|^\W*could\s+not\s+find\b",
    re.IGNORECASE,
)
_STOP = """
    about above after again against all also among and any are around because been before being
    below between both but can cannot could did does doing down during each else ever every few
    for from further get give had has have having her here hers herself him himself his how
    into its itself just know less let like made make many may me might mine more most much must
    myself name near neither never nor not now off often once one only onto other our ours out
    over own per please rather same shall she should since some such tell than that the their
    theirs them themselves then there these they this those though through thus too toward under
    until upon use used using very was way were what whatever when whenever where whether which
    while who whom whose why will with within without would yes yet you your yours yourself
"""
_STOP_WORDS = frozenset(_STOP.split())


@dataclass(frozen=True)
class Lexical:
    """Judges by word overlap: useless iff it is below the threshold."""

    threshold: float = 0.25
    """Share of the question's content words that a result must have, in [0, 1]."""

    name = "lexical"

    def __post_init__(self) -> None:
        value = self.threshold
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
            raise ParameterError(f"lexical: threshold is a share from 0 to 1; got {value!r}")

    def judge(self, step: SignalStep) -> Verdict:
        """Judge every result of the step; unjudged where the question has no content word."""
        return combined([self.judge_text(step.question, result) for result in step.results])

    def judge_text(self, question: str, result: str) -> Verdict:
        """Judge one result."""
        if says_nothing_found(result):
            return Verdict.USELESS
        share = overlap(question, result)
        if math.isnan(share):
            return Verdict.UNJUDGED
        return Verdict.USELESS if share < self.threshold else Verdict.USEFUL


def overlap(question: str, result: str) -> float:
    """Return |Q and O| / |Q|, in [0, 1]; NaN where the question has no content word.

    Q are the content words of the question (more than 2 characters, no stop words), O the words
    in the first 400 characters of the result. METHODS section 1, "Verdict sources".
    """
    wanted = content_words(question)
    if not wanted:
        return math.nan
    return len(wanted & words(result[:READ])) / len(wanted)


def says_nothing_found(result: str) -> bool:
    """Return whether the result is empty, or opens by saying that there are no results."""
    return not result.strip() or _NOTHING.search(result[:_OPENING]) is not None


@lru_cache(maxsize=256)
def content_words(text: str) -> frozenset[str]:
    """Return the words of ``text`` with more than 2 characters that are not stop words."""
    return frozenset(word for word in words(text) if len(word) > 2 and word not in _STOP_WORDS)


def words(text: str) -> set[str]:
    """Return the words of ``text``, case folded."""
    return set(_WORD.findall(text.casefold()))
