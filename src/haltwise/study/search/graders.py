"""Is the answer right? Three definitions by name. Pure text, no model.

METHODS section 1, "Correct answer" and "FEVER".
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable

Grader = Callable[[str, str], bool]
"""Takes (answer given, right answer); returns whether it counts as right."""

F1_NEEDED = 0.6
"""Token F1 from which an answer counts as right."""
CLAIM_WORDS = ("SUPPORTS", "REFUTES")
"""The two verdicts on a claim."""

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_CLOSED = ("yes", "no", "noanswer")


def normalise(text: str) -> str:
    """Return ``text`` in lower case without punctuation, articles and repeated spaces."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def set_f1(given: str, right: str) -> float:
    """Return F1 over the *sets* of normalised tokens, in [0, 1], as [JU] computes it."""
    a, b = set(normalise(given).split()), set(normalise(right).split())
    return _f1(len(a & b), len(a), len(b))


def multiset_f1(given: str, right: str) -> float:
    """Return F1 over normalised tokens as the official HotpotQA script computes it, in [0, 1].

    Tokens count as often as they occur, and yes, no and noanswer match nothing but themselves.
    """
    first, second = normalise(given), normalise(right)
    if first != second and (first in _CLOSED or second in _CLOSED):
        return 0.0
    a, b = first.split(), second.split()
    return _f1((Counter(a) & Counter(b)).total(), len(a), len(b))


def judged_useless(given: str, right: str) -> bool:
    """Exact match after normalisation, or set F1 of at least 0.6."""
    return normalise(given) == normalise(right) or set_f1(given, right) >= F1_NEEDED


def hotpotqa(given: str, right: str) -> bool:
    """Exact match after normalisation, or the official F1 of at least 0.6."""
    return normalise(given) == normalise(right) or multiset_f1(given, right) >= F1_NEEDED


def fever(given: str, right: str) -> bool:
    """Exactly one of the two verdict words occurs in the answer, and it is the right one."""
    found = [word for word in CLAIM_WORDS if re.search(rf"\b{word}\b", given.upper())]
    return found == [right.upper()]


GRADERS: dict[str, Grader] = {
    "judged-useless": judged_useless,
    "hotpotqa": hotpotqa,
    "fever": fever,
}
"""Every grader by its name."""


def _f1(common: int, a: int, b: int) -> float:
    return 2 * common / (a + b) if common else 0.0
