"""Stop where the recorded recoveries say that searching on is not worth its price."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from ..belief import run_length
from ..decision import Action, Decision
from ..errors import ParameterError
from ..observation import SearchObservation
from ..policy import Policy, State
from ..recovery import RecoveryModel
from .breakeven import runs_worth
from .checks import between


@dataclass(frozen=True)
class Recovery(Policy):
    """Demand the answer where the fitted stopping table says so; always with one action left.

    The table is only valid for fault durations like those recorded. ``trust`` protects against
    others (Purohit, Svitkina & Kumar 2018; METHODS section 1, "Robust stopping"): with G the
    model's gain and c its price, the table is not heard before a run of ceil(trust G / c). What it
    says at that run is its prediction: stop, or a recovery before the break-even ceil(G / c). From
    break-even on it is heard again, and at ceil(G / (trust c)) the rule fires whatever it says.
    The cost is then at most 1 + trust + 2c/G times hindsight when the prediction is right and
    1 + 1/trust + 2c/G times hindsight in any case.
    """

    recovery: RecoveryModel
    """The fitted table; a policy file's name may stand for it in expressions."""
    trust: float | None = None
    """lambda in (0, 1]: 1 is break-even itself, towards 0 is the bare table; None: the bare
    table."""

    name: ClassVar[str] = "recovery"
    kind = "search"

    def __post_init__(self) -> None:
        if not isinstance(self.recovery, RecoveryModel):
            raise ParameterError(
                'recovery: takes a fitted table such as recovery("policy.toml"), written by '
                f"haltwise calibrate search; got {self.recovery!r}"
            )
        if self.trust is not None:
            between("recovery", "trust", self.trust, 0, 1)
            if self.trust == 0:
                raise ParameterError("recovery: trust is above 0 and at most 1; got 0")

    @cached_property
    def limits(self) -> tuple[float, float, float]:
        """Runs between which the table is heard: (not before, break-even, at the latest)."""
        if self.trust is None:
            return 0, 0, float("inf")
        gain, price = max(self.recovery.gain, 0.0), self.recovery.price
        return (
            runs_worth(self.trust * gain, price),
            runs_worth(gain, price),
            runs_worth(gain / self.trust, price),
        )

    @cached_property
    def table(self) -> tuple[frozenset[int], ...]:
        """The runs at which the rule fires, by actions left (index 0: one action left)."""
        soonest, even, latest = self.limits
        rows = [frozenset(self.recovery.stop[0])]
        for left, fitted in enumerate(self.recovery.stop[1:], start=2):
            runs = range(1, self.recovery.budget - left + 1)
            heard = {run for run in fitted if run == soonest or run >= even}
            rows.append(frozenset(heard | {run for run in runs if run >= latest}))
        return tuple(rows)

    def initial(self) -> State:
        """Return (tool steps taken, run): (0, 0)."""
        return (0, 0)

    def advance(
        self, state: State, observation: SearchObservation
    ) -> tuple[State, Decision | None]:
        """Count the step and the run; fire where the table does."""
        taken, run = state[0] + 1, run_length(state[1], observation.verdict)
        left = self.recovery.budget - taken
        if left > 1 and run not in self.table[left - 1]:
            return (taken, run), None
        if left <= 1:
            reason = f"{taken} of {self.recovery.budget} actions taken, the last is for the answer"
        else:
            reason = (
                f"{run} useless results in a row with {left} actions left: a recovery is too "
                f"unlikely for its price (gain {self.recovery.gain:.3g}, "
                f"price {self.recovery.price:g})"
            )
        evidence = {
            "run": run,
            "left": left,
            "gain": self.recovery.gain,
            "price": self.recovery.price,
        }
        return (taken, run), Decision(Action.ANSWER, reason, evidence, self.expression)
