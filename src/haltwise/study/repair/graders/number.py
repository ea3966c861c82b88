"""Answers that are a number: the last number of the text, compared exactly (GSM8K's own rule)."""

from __future__ import annotations

import re
from decimal import Decimal

from ..grade import Grade

_NUMBER = re.compile(r"[-−]?\$?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|[-−]?\$?\.\d+")
_BOXED = re.compile(r"\\boxed\{([^{}]*)\}")
_CALCULATION = re.compile(r"<<[^<>]*>>")


def last_number(text: str) -> Decimal | None:
    """Return the last number in ``text``, or None if it holds none.

    Thousands commas and a dollar sign are read over; GSM8K's ``<<48/2=24>>`` annotations are
    left out; a sign directly before the number belongs to it, unless it follows another number or
    a letter (``10-4`` ends in 4).
    """
    plain = _CALCULATION.sub("", text)
    found = None
    for match in _NUMBER.finditer(plain):
        word = match[0]
        before = plain[match.start() - 1 : match.start()]
        if word[0] in "-−" and (before.isalnum() or before == ")"):
            word = word[1:]
        found = Decimal(word.replace(",", "").replace("$", "").replace("−", "-"))
    return found


def answered_number(plan: str) -> Decimal | None:
    """Return the number that a plan answers, or None if it holds none.

    The answer is the last number inside the last ``\\boxed{}``, where there is one, since models
    trained on mathematics write their answers so and go on ("7 50-cent coins"); else the last
    number of the text.
    """
    boxed = _BOXED.findall(plan)
    return last_number(boxed[-1] if boxed else plan)


def grade_number(plan: str, reference: str) -> Grade:
    """Say whether the answer in ``plan`` equals the last number of ``reference``."""
    expected, found = last_number(reference), answered_number(plan)
    if found is None:
        return Grade(False, f"no number in the answer, expected {expected}")
    if found == expected:
        return Grade(True, f"the answer is {found}")
    return Grade(False, f"the answer is {found}, expected {expected}")
