"""Answers that are mathematics: equal as expressions, by math-verify (extra ``study``)."""

from __future__ import annotations

import logging
import threading
from typing import Any

from ....core.errors import HaltwiseError
from ..grade import Grade

SECONDS = 5
"""Time for reading and for comparing one answer; on the main thread only, where alarms work."""


def grade_mathematics(plan: str, reference: str) -> Grade:
    """Say whether the final expression of ``plan`` equals the LaTeX expression ``reference``.

    Args:
        plan: the answer as the model wrote it; a ``\\boxed{}`` expression is preferred.
        reference: the right answer as LaTeX without dollar signs, or plain text ("Evelyn").

    Raises:
        HaltwiseError: math-verify is not installed.
    """
    parse, verify = _library()
    seconds = SECONDS if threading.current_thread() is threading.main_thread() else None
    gold = parse(f"${reference}$", parsing_timeout=seconds)
    found = parse(plan, parsing_timeout=seconds)
    if not found:
        return Grade(False, f"no expression in the answer, expected {reference}")
    valid = bool(verify(gold, found, timeout_seconds=seconds))
    return Grade(valid, f"the answer is {found[-1]}" + ("" if valid else f", expected {reference}"))


def _library() -> Any:
    try:
        from math_verify import parse, verify
    except ImportError as error:
        raise HaltwiseError(
            "grading mathematics needs math-verify; type: pip install 'haltwise[study]'"
        ) from error
    # It warns at every call that alarms are off, which is how it runs on threads.
    for name in ("math_verify.parser", "math_verify.grader"):
        logging.getLogger(name).setLevel(logging.ERROR)
    return parse, verify
