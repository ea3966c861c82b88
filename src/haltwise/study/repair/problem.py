"""A problem to be solved by a plan, and a task: problems that are graded in one way.

Knows nothing of models, prompts or file formats.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .grade import Grade


@dataclass(frozen=True, slots=True)
class Problem:
    """What the models see of a problem, and what the grader knows besides."""

    problem_id: str
    """Names the problem; unique within a task."""
    text: str
    """The whole statement, as it stands in the prompt."""
    reference: Any = field(repr=False)
    """What the grader compares with: an answer, tests, acceptable calls."""
    hint: str = ""
    """Format of the answer for this problem alone, such as the functions on offer."""
    examples: tuple[tuple[str, str, str], ...] = ()
    """(problem, proposed answer, answer) that proposers and repairers see as earlier turns."""


def _whole(problem: Problem, plan: str) -> str:
    return plan


@dataclass(frozen=True, slots=True)
class Task:
    """Problems of one kind."""

    name: str
    """What records call it, such as "gsm8k"."""
    problems: tuple[Problem, ...]
    """All problems, in the order of their source."""
    answer_form: str
    """How a plan is to be written, as an instruction to the model."""
    grade: Callable[[Problem, str], Grade]
    """Says whether a plan is valid."""
    needs_sandbox: bool = False
    """Whether grading runs model-written code."""
    claim: Callable[[Problem, str], str] = _whole
    """What of a plan a verifier is asked about: all of it, or its answer alone."""
