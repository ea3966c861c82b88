"""A record that was read and cannot be used, by name: nothing is dropped in silence.

Ignorant of readers; every one of them yields these beside its episodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Skip:
    """One record, or one whole file, that gave no episode."""

    path: str
    """The file as it was named."""
    line: int | None
    """Line in the file, from 1; None where the whole file is meant."""
    reason: str
    """What came and what was expected, in one sentence."""

    def to_json(self) -> dict[str, Any]:
        """Return the skip as it stands in every command's ``skipped`` list."""
        return {"path": self.path, "line": self.line, "reason": self.reason}

    def __str__(self) -> str:
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{place}: {self.reason}"
