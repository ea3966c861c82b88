"""What a stopping policy is, and how two of them combine.

A policy is a frozen value with two pure functions: `Policy.initial` gives the state before the
first observation, `Policy.step` takes a state and an observation and returns the next state and a
decision. State is plain data (None, numbers, strings, tuples), so it can be stored and resumed.

**A policy that has fired has its decision as its state.** Hence every policy is sticky (stepping
it again returns the same decision) and a stored state still carries its evidence.

Combinators step every child at every observation: an ``|`` that stopped at its first firing part
would starve the state of the parts to its right.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from math import isfinite
from typing import Any, ClassVar

from .decision import CONTINUE, Action, Decision, Scalar
from .errors import InputError, ParameterError

State = Any
"""bool, int, float, str, a `Decision`, or a tuple of states; never None as a whole."""

KINDS = ("search", "repair", "any")


class Policy:
    """Base of all policies; subclasses are frozen dataclasses whose fields are their parameters.

    A subclass sets `name` (its word in expressions) and `kind`, and writes `initial` and
    `advance`. Everything else (stickiness, `|`, `&`, printing) is given.
    """

    name: ClassVar[str]
    """The word for this rule in expressions."""
    kind: str = "any"
    """The loop it belongs to: "search", "repair" or "any"."""

    def initial(self) -> State:
        """Return the state before the first observation."""
        raise NotImplementedError

    def advance(self, state: State, observation: Any) -> tuple[State, Decision | None]:
        """Take one observation; return the next state, and a decision if the rule fires now.

        Called only while the rule has not fired.
        """
        raise NotImplementedError

    def choice(self, state: State) -> int | None:
        """Return which candidate to deliver if the repair loop ended in ``state``.

        Its index, from 0; None where the rule has no opinion: deliver the newest.
        """
        return state.candidate if isinstance(state, Decision) else None

    def evidence(self, state: State, observation: Any) -> dict[str, Scalar]:
        """Return the numbers that the rule sees in ``state``, after ``observation``.

        For those who want to follow a loop that goes on; a stop carries its evidence itself.
        """
        return {}

    def settled(self, state: State) -> State:
        """Return the part of a state that further votes on the same candidate must not change.

        Adaptive voting stops buying once it is certain; a rule on a belief leaves the belief out.
        """
        return state

    def step(self, state: State, observation: Any) -> tuple[State, Decision]:
        """Take one observation; return the next state and the decision. Pure."""
        if type(state) is Decision:
            return state, state
        state, decision = self.advance(state, observation)
        if decision is None:
            return state, CONTINUE
        return decision, decision

    @cached_property
    def expression(self) -> str:
        """The policy as text that `parse_policy` reads back to an equal policy."""
        arguments = []
        positional = True
        for item in fields(self):  # type: ignore[arg-type]
            value = getattr(self, item.name)
            if item.default is not MISSING and value == item.default:
                positional = False
                continue
            text = print_value(value)
            arguments.append(text if positional else f"{item.name}={text}")
        return f"{self.name}({', '.join(arguments)})" if arguments else self.name

    def __str__(self) -> str:
        return self.expression

    def __or__(self, other: Policy) -> Policy:
        if not isinstance(other, Policy):
            return NotImplemented
        return AnyOf((*parts(self, AnyOf), *parts(other, AnyOf)))

    def __and__(self, other: Policy) -> Policy:
        if not isinstance(other, Policy):
            return NotImplemented
        return AllOf((*parts(self, AllOf), *parts(other, AllOf)))


def parts(policy: Policy, combinator: type[Combination]) -> tuple[Policy, ...]:
    """Return the parts of ``policy`` if it is a ``combinator``, else the policy alone."""
    return policy.parts if isinstance(policy, combinator) else (policy,)


def print_value(value: Any) -> str:
    """Return a parameter as it is written in an expression."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(print_value(item) for item in value) + "]"
    if isinstance(value, (int, float)):
        return repr(value)
    return str(value)


@dataclass(frozen=True)
class Combination(Policy):
    """Several policies run side by side; every part sees every observation."""

    parts: tuple[Policy, ...]
    symbol: ClassVar[str]

    def __post_init__(self) -> None:
        if len(self.parts) < 2:
            raise ParameterError(f"{type(self).__name__} needs two policies or more")
        kinds = {part.kind for part in self.parts} - {"any"}
        if len(kinds) > 1:
            raise ParameterError(
                f"{' and '.join(sorted(kinds))} rules cannot be combined: {self.expression}"
            )
        object.__setattr__(self, "kind", kinds.pop() if kinds else "any")

    def initial(self) -> State:
        """Return the tuple of the parts' initial states."""
        return tuple([part.initial() for part in self.parts])

    def choice(self, state: State) -> int | None:
        """Return the choice of the first part that has one."""
        if isinstance(state, Decision):
            return state.candidate
        choices = [part.choice(own) for part, own in zip(self.parts, state, strict=True)]
        return next((index for index in choices if index is not None), None)

    def evidence(self, state: State, observation: Any) -> dict[str, Scalar]:
        """Return the numbers of the parts that have not fired; of equal names the first counts."""
        found: dict[str, Scalar] = {}
        for part, own in zip(self.parts, state, strict=True):
            if not isinstance(own, Decision):
                found = {**part.evidence(own, observation), **found}
        return found

    def settled(self, state: State) -> State:
        """Return the parts' settled states; of one that has fired, action and candidate."""
        return tuple(
            [
                (own.action, own.candidate) if isinstance(own, Decision) else part.settled(own)
                for part, own in zip(self.parts, state, strict=True)
            ]
        )

    @cached_property
    def expression(self) -> str:
        """The parts joined by the symbol; combinations inside combinations are bracketed."""
        texts = [f"({part})" if isinstance(part, Combination) else str(part) for part in self.parts]
        return f" {self.symbol} ".join(texts)

    def _combined(self, fired: Iterable[Decision]) -> Decision:
        because = tuple(fired)
        strongest = max(because, key=_strength)
        return Decision(
            strongest.action,
            "; ".join(part.reason for part in because),
            strongest.evidence,
            self.expression,
            because,
            strongest.candidate,
        )


def _strength(decision: Decision) -> int:
    return decision.action.strength


@dataclass(frozen=True)
class AnyOf(Combination):
    """Stops as soon as any part stops: the earliest of its parts. Written ``a | b``."""

    symbol: ClassVar[str] = "|"

    def advance(self, state: State, observation: Any) -> tuple[State, Decision | None]:
        """Step every part; fire when at least one has fired."""
        states = []
        fired = None
        for part, part_state in zip(self.parts, state, strict=True):
            part_state, decision = part.advance(part_state, observation)
            if decision is not None:
                fired = [decision] if fired is None else [*fired, decision]
            states.append(part_state)
        return tuple(states), None if fired is None else self._combined(fired)


@dataclass(frozen=True)
class AllOf(Combination):
    """Stops once every part has stopped: the latest of its parts. Written ``a & b``."""

    symbol: ClassVar[str] = "&"

    def advance(self, state: State, observation: Any) -> tuple[State, Decision | None]:
        """Step every part, those that have fired included; fire when all have."""
        pairs = [part.step(s, observation) for part, s in zip(self.parts, state, strict=True)]
        decisions = [decision for _, decision in pairs]
        if all(decision.action is not Action.CONTINUE for decision in decisions):
            return None, self._combined(decisions)
        return tuple([part_state for part_state, _ in pairs]), None


def fold(
    policy: Policy, observations: Iterable[Any], state: State = None
) -> tuple[State, Decision]:
    """Run ``policy`` over ``observations`` and return the last state and decision.

    Starts from ``state``, or from `Policy.initial` where it is None. Without observations the
    decision is that of the state: `CONTINUE`, or the stored decision of a policy that had fired.
    """
    state = policy.initial() if state is None else state
    decision = state if isinstance(state, Decision) else CONTINUE
    for observation in observations:
        state, decision = policy.step(state, observation)
    return state, decision


def state_to_json(state: State) -> Any:
    """Return a policy's state as a JSON value; `state_from_json` is the inverse."""
    if isinstance(state, Decision):
        return {"decision": state.to_json()}
    if isinstance(state, float) and not isfinite(state):
        return {"float": str(state)}  # JSON has no infinity, and certainty has infinite log odds
    if isinstance(state, tuple):
        return [state_to_json(item) for item in state]
    return state


def state_from_json(value: Any) -> State:
    """Rebuild a state from what `state_to_json` gave.

    Raises:
        InputError: it gave no such value.
    """
    if isinstance(value, dict):
        try:
            if "float" in value:
                return float(value["float"])
            return Decision.from_json(value["decision"])
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"a stored state is what state_to_json gives; got an object with the keys "
                f"{', '.join(map(str, value)) or '(none)'} ({type(error).__name__})"
            ) from None
    if isinstance(value, list):
        return tuple([state_from_json(item) for item in value])
    return value
