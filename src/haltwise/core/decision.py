"""What a policy says: an action, and the evidence for it.

Ignorant of how an action is carried out; that is `haltwise.enforce` and the adapters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

Scalar = int | float | str | bool | None


class Action(StrEnum):
    """What the harness is to do next."""

    CONTINUE = "continue"
    """Let the loop go on."""
    ANSWER = "answer"
    """Search loop: take the tools away and demand the final answer."""
    COMMIT = "commit"
    """Repair loop: stop, and deliver the candidate that `Decision.candidate` names."""
    ESCALATE = "escalate"
    """Ask a person."""

    @property
    def strength(self) -> int:
        """Rank among actions: where several rules fire at once, the strongest one wins."""
        return _STRENGTH[self]


_STRENGTH = {Action.CONTINUE: 0, Action.COMMIT: 1, Action.ANSWER: 1, Action.ESCALATE: 2}


@dataclass(frozen=True, slots=True)
class Decision:
    """An action with its evidence. Immutable, and plain data throughout."""

    action: Action
    reason: str
    """One sentence for people, with the observed value and the threshold."""
    evidence: Mapping[str, Scalar] = field(default_factory=dict, hash=False)
    """The numbers behind the decision by name; shown, stored, never changed."""
    policy: str = ""
    """Expression of the rule that decided; empty for a plain `Action.CONTINUE`."""
    because: tuple[Decision, ...] = ()
    """The decisions of the parts that fired, for a combined policy."""
    candidate: int | None = None
    """Repair loops: index (round, from 0) of the candidate to deliver."""

    @property
    def stops(self) -> bool:
        """Whether the loop is over."""
        return self.action is not Action.CONTINUE

    def to_json(self) -> dict[str, Any]:
        """Return the decision as a JSON object; `from_json` is the inverse."""
        document: dict[str, Any] = {
            "action": self.action.value,
            "reason": self.reason,
            "evidence": dict(self.evidence),
            "policy": self.policy,
        }
        if self.because:
            document["because"] = [part.to_json() for part in self.because]
        if self.candidate is not None:
            document["candidate"] = self.candidate
        return document

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Decision:
        """Rebuild a decision from what `to_json` gave."""
        return cls(
            action=Action(document["action"]),
            reason=document["reason"],
            evidence=dict(document["evidence"]),
            policy=document["policy"],
            because=tuple(cls.from_json(part) for part in document.get("because", ())),
            candidate=document.get("candidate"),
        )


CONTINUE = Decision(Action.CONTINUE, "no rule has fired")
"""The decision of every step at which nothing happens; shared, so that none is allocated."""
