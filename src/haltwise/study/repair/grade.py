"""What a grader says of one plan: valid or not, and why."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Grade:
    """The truth about one plan, as far as the task's own test can tell it."""

    valid: bool
    """Whether the plan solves the problem."""
    why: str
    """One line for people: what was found and what was expected."""
