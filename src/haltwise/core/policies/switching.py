"""The shape of the rules that choose another rule once, from calibration evidence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..decision import Decision, Scalar
from ..policy import State
from .repair import RepairPolicy


class SwitchingPolicy(RepairPolicy):
    """Decides once, from calibration evidence, which other rule to follow, and follows it."""

    rule: RepairPolicy
    """The rule that was chosen."""
    why: str
    """Why it was chosen, in one clause."""

    def initial(self) -> State:
        """Return the initial state of the chosen rule."""
        return self.rule.initial()

    def advance(self, state: State, observation: Any) -> tuple[State, Decision | None]:
        """Advance the chosen rule."""
        state, decision = self.rule.advance(state, observation)
        if decision is None:
            return state, None
        reason = f"{decision.reason}; {self.why}"
        evidence = {**decision.evidence, "rule": self.rule.name}
        return state, replace(decision, reason=reason, evidence=evidence, policy=self.expression)

    def choice(self, state: State) -> int:
        """Return what the chosen rule would deliver."""
        return self.rule.choice(state)

    def evidence(self, state: State, observation: Any) -> dict[str, Scalar]:
        """Return the evidence of the chosen rule, and its name."""
        return {**self.rule.evidence(state, observation), "rule": self.rule.name}

    def settled(self, state: State) -> State:
        """Return what the chosen rule holds settled."""
        return self.rule.settled(state)
