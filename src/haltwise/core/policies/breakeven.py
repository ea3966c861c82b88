"""Stop searching once the useless calls have cost what a recovery would bring."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from ..belief import run_length
from ..decision import Action, Decision
from ..observation import SearchObservation
from ..policy import Policy, State
from .checks import between


@dataclass(frozen=True)
class BreakEven(Policy):
    """Demand the answer at a run of ceil(gain / price) useless results: the ski-rental rule.

    Needs no records. Whatever the fault's duration, its cost is at most 2 + price / gain times
    that of hindsight (Karlin, Manasse, Rudolph & Sleator 1988; METHODS section 1, "Robust
    stopping"). At price 0 it never fires: give it a deadline.
    """

    gain: float
    """G, what a recovery is worth over answering now, in right answers; at least 0."""
    price: float
    """c, what one tool call costs in the same unit; at least 0."""

    name: ClassVar[str] = "breakeven"
    kind = "search"

    def __post_init__(self) -> None:
        between("breakeven", "gain", self.gain, 0, math.inf)
        between("breakeven", "price", self.price, 0, math.inf)

    @cached_property
    def threshold(self) -> float:
        """k*, the run at which the rule fires, at least 1; infinite at price 0."""
        return runs_worth(self.gain, self.price)

    def initial(self) -> State:
        """Return the run before any result: 0."""
        return 0

    def advance(
        self, state: State, observation: SearchObservation
    ) -> tuple[State, Decision | None]:
        """Lengthen or reset the run; fire when it has cost as much as the gain."""
        run = run_length(state, observation.verdict)
        if run < self.threshold:
            return run, None
        reason = (
            f"{run} useless results in a row have cost what a recovery is worth "
            f"(gain {self.gain:g}, price {self.price:g}, threshold {self.threshold:g})"
        )
        evidence = {
            "run": run,
            "threshold": self.threshold,
            "gain": self.gain,
            "price": self.price,
        }
        return run, Decision(Action.ANSWER, reason, evidence, self.expression)


def runs_worth(gain: float, price: float) -> float:
    """Return ceil(gain / price), at least 1: the calls that cost as much as ``gain``.

    A quotient within rounding of a whole number counts as that number (.35 / .05 is 7). Infinite
    at price 0, and where the quotient is beyond any run.
    """
    if price == 0 or gain / price > 1e9:
        return math.inf
    return max(1, math.ceil(gain / price - 1e-9))
