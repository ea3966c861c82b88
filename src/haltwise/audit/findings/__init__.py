"""Findings: what an audit's numbers mean, in words. One rule per file, with its documentation.

Every rule's module docstring answers the same four questions: what it means, why it matters, an
example, what to do.
"""

from __future__ import annotations

from ..result import Audit
from . import (
    error_texts,
    ignores_own_verdicts,
    late_useful_results,
    mechanical_contrast,
    never_answers,
    undefined_contrast,
)
from .rule import Finding, Rule

RULES: tuple[Rule, ...] = (
    error_texts.RULE,
    mechanical_contrast.RULE,
    ignores_own_verdicts.RULE,
    never_answers.RULE,
    late_useful_results.RULE,
    undefined_contrast.RULE,
)
"""Every rule; reports show findings in this order, so what undermines the rest comes first."""

__all__ = ["RULES", "Finding", "Rule", "findings"]


def findings(audit: Audit) -> list[Finding]:
    """Return the findings that hold."""
    return [
        Finding(rule.id, rule.title, evidence)
        for rule in RULES
        if (evidence := rule.look(audit)) is not None
    ]
