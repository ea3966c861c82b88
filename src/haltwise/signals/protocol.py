"""What a signal is: something that judges one step of a search loop.

A signal sees a `SignalStep` and returns a `Verdict`; it is pure, so that the same history gives
the same verdicts on every machine. The one signal that asks a model (`SideChannel`) does so in a
method of its own and answers from what it was told. Knows nothing of policies, requests or files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol, runtime_checkable

from ..core.events import Verdict


class SignalStep(NamedTuple):
    """One tool step as a signal sees it; parallel calls of one turn are a single step."""

    question: str
    """What the agent is to find out: the text of the user turn that opened the loop."""
    results: tuple[str, ...]
    """What the tools returned, one text per call."""
    calls: tuple[str, ...] = ()
    """The calls as text, in the order of the results; empty where they are not known."""
    thought: str | None = None
    """What the agent wrote right after it saw the results; None while it has not written yet."""
    t: int = 1
    """Position of the step in its loop, from 1."""
    recorded: Mapping[str, Verdict] = {}
    """Verdicts that were noted when the step was recorded, by source."""


@runtime_checkable
class Signal(Protocol):
    """Anything with a name and a pure function from a step to a verdict."""

    @property
    def name(self) -> str:
        """The word under which verdicts of this signal are stored, such as "lexical"."""
        ...

    def judge(self, step: SignalStep) -> Verdict:
        """Return the verdict on the step; `Verdict.UNJUDGED` where the signal has none."""
        ...


_PRECEDENCE = (
    Verdict.USEFUL,
    Verdict.UNKNOWN,
    Verdict.UNJUDGED,
    Verdict.USELESS,
    Verdict.SOURCE_ERROR,
)


def combined(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict on a step whose parallel calls were judged one by one.

    One useful result makes the step useful. A step is useless only when no part of it is open:
    an unjudged part might have helped. A failed call beside a useless one leaves it useless.
    Without any verdict the step is unjudged.
    """
    present = set(verdicts)
    return next((verdict for verdict in _PRECEDENCE if verdict in present), Verdict.UNJUDGED)
