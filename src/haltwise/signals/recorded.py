"""The recorded signal: a verdict that somebody noted when the step was recorded."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.events import Verdict
from .protocol import SignalStep


@dataclass(frozen=True)
class Recorded:
    """Repeats the verdict of one source of a recording."""

    source: str = "recorded"
    """Name of the source in `haltwise.record.SearchStep.verdicts`."""

    @property
    def name(self) -> str:
        """The source's own name: what is stored is its verdict."""
        return self.source

    def judge(self, step: SignalStep) -> Verdict:
        """Return the recorded verdict; unjudged where the source has none for this step."""
        return step.recorded.get(self.source, Verdict.UNJUDGED)
