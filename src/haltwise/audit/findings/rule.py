"""What a finding is: a rule that looks at a finished audit and says what it saw, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..result import Audit


@dataclass(frozen=True)
class Rule:
    """One kind of finding. Its module's docstring is its documentation."""

    id: str
    """Name for ``--fail-on`` and JSON."""
    title: str
    """The finding as a headline."""
    look: Callable[[Audit], str | None]
    """Returns the evidence in one or two sentences, None where the finding does not hold."""


@dataclass(frozen=True)
class Finding:
    """A finding that holds."""

    id: str
    """The rule's id."""
    title: str
    """The rule's headline."""
    evidence: str
    """The numbers behind it, in words."""

    def to_json(self) -> dict[str, str]:
        """Return the finding as a JSON object."""
        return {"id": self.id, "title": self.title, "evidence": self.evidence}
