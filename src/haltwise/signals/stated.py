"""The stated signal: what the agent itself says of its results, read by fixed patterns.

Looks at the first two sentences that the agent wrote after it saw the results. No explicit
judgement is `Verdict.UNJUDGED`. Costs nothing, but the judgement arrives in the turn that already
proposes the next call: where a rule fires on it, that proposal is discarded (METHODS section 1).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..core.events import Verdict
from .protocol import SignalStep

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_LABEL = re.compile(r"^\s*(?:<think>\s*)?(?:thought|reasoning|analysis)?\s*\d*\s*[:.]?\s*", re.I)
_RESULT = (
    r"(?:this|that|it|they|these|those|(?:(?:the|my|our|both|all)\s+)?(?:\w+\s+){0,2}?"
    r"(?:results?|observations?|pages?|passages?|articles?|searche?s?|documents?|sources?|texts?"
    r"|paragraphs?|outputs?|quer(?:y|ies)|snippets?|tools?|responses?|information|evidence))"
)
_DEGREE = r"(?:(?:very|quite|really|directly|particularly|at\s+all|entirely|completely)\s+)?"
_GOOD = r"(?:useful|helpful|relevant|informative|related|what\s+(?:i|we)\s+(?:need|want)(?:ed)?)"
_NEGATION = r"(?:not|n[o']t|never|hardly|barely|no\s+longer)"
_FIND = (
    r"(?:find|found|contain|mention|provide|give|include|help|answer|show|return|have|address|say"
    r"|cover|discuss|state|yield|tell|match|specify|turn\s+up|bring|list|reveal|produce|offer)"
)
_USELESS = re.compile(
    "|".join(
        (
            rf"(?:is|was|are|were|seems?|looks?|be|being)\s*(?:{_NEGATION})\s+{_DEGREE}{_GOOD}",
            rf"(?:does|did|do|could|can|was|were|has|have|had)\s*(?:{_NEGATION}|n't)\s+(?:\w+\s+)?"
            rf"(?:able\s+to\s+)?(?:\w+\s+)?{_FIND}\w*",
            r"\bcannot\s+find\b|\b(?:fails?|failed)\s+to\s+\w+|\bunable\s+to\s+find\b",
            r"\b(?:irrelevant|unrelated|unhelpful|useless|uninformative|off[- ]topic)\b",
            r"\bno\s+(?:\w+\s+){0,2}(?:results?|information|mention|matche?s?|luck|evidence|help"
            r"|details?|reference|use|data|hits?|answer)\b",
            r"\bnothing\s+(?:\w+\s+){0,2}(?:useful|helpful|relevant|new|here|about|on|found)\b",
            r"\bfound\s+nothing\b|\bno\s+such\b|\bdead\s+end\b",
            r"\b(?:wrong|different|another)\s+(?:person|page|article|topic|subject|entity|film)\b",
        )
    ),
    re.IGNORECASE,
)
_USEFUL = re.compile(
    "|".join(
        (
            rf"\b{_RESULT}\s+(?:is|was|are|were|seems?|looks?)\s+{_DEGREE}{_GOOD}",
            rf"\b{_RESULT}\s+(?:clearly\s+|also\s+|now\s+|directly\s+)?(?:tells?|shows?|confirms?"
            r"|states?|stated|indicates?|says?|said|reveals?|provides?|gives?|mentions?|contains?"
            r"|answers?|helps?|identif(?:y|ies)|lists?|explains?|suggests?)\b",
            r"\b(?:i|we)(?:\s+have|'ve)?\s+(?:now\s+)?(?:found|learned|identified|confirmed)\b",
            r"\b(?:i|we)\s+now\s+(?:know|have)\b|\bnow\s+(?:i|we)\s+(?:know|have)\b",
            r"\baccording\s+to\s+(?:this|the)\b|\b(?:useful|helpful)\s+(?:result|information)\b",
            r"^\W*(?:great|perfect|excellent|good)\b",
        )
    ),
    re.IGNORECASE,
)
_PLANNED = re.compile(
    r"\b(?:need|try|trying|want|going|let\s+(?:me|us)|let's|i'll|i\s+will|should|hope|could|might"
    r"|would|must|have)\s+(?:to\s+)?(?:\w+\s+){0,4}$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Stated:
    """Judges by the agent's own words."""

    name = "stated"

    def judge(self, step: SignalStep) -> Verdict:
        """Return the judgement in the step's thought; unjudged where there is none yet."""
        return verdict_in(step.thought or "")


def verdict_in(thought: str) -> Verdict:
    """Return the judgement that the first two sentences of ``thought`` state, or unjudged.

    The earliest judgement wins. A good word inside a denial ("not helpful") belongs to the
    denial; questions and plans ("I need to find relevant pages") judge nothing.
    """
    sentences = [part for part in _SENTENCE_END.split(_LABEL.sub("", thought, count=1)) if part]
    for sentence in sentences[:2]:
        if sentence.rstrip().endswith("?"):
            continue
        bad = _first(_USELESS, sentence)
        good = _first(_USEFUL, sentence)
        if bad is None and good is None:
            continue
        if good is None or (bad is not None and bad.start() <= good.end()):
            return Verdict.USELESS
        return Verdict.USEFUL
    return Verdict.UNJUDGED


def _first(pattern: re.Pattern[str], sentence: str) -> re.Match[str] | None:
    for match in pattern.finditer(sentence):
        if not _PLANNED.search(sentence[: match.start()]):
            return match
    return None
