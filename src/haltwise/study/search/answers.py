"""Answers that repeat the form instead of filling it: cleaned, and graded once more.

A sensitivity analysis, not a grader: it shows how much of a model's failure is form. Pure text.
"""

from __future__ import annotations

import re

_FORM = re.compile(
    r"^\s*(?:action\s*:\s*)?finish\s*\[|^\s*(?:the\s+)?(?:final\s+)?answer\s*(?:is)?\s*[:\[]\s*"
    r"|^\s*</?answer>|</answer>\s*$|\]\s*$",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"^\W*(?:your\s+|the\s+|my\s+)?(?:final\s+)?(?:answer|title|text|words)(?:\s+here)?\W*$", re.I
)
_QUOTES = "\"'`“”‘’ \t\n"


def repaired(answer: str) -> str:
    """Return ``answer`` without echoed action syntax, quotes and placeholders.

    A bare placeholder ("answer", "<your answer>") is no answer at all: the empty text.
    """
    text = answer.strip(_QUOTES)
    while (cleaned := _FORM.sub("", text).strip(_QUOTES)) != text:
        text = cleaned
    return "" if _PLACEHOLDER.match(text) else text
