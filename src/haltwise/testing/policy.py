"""The contract of a policy, as one call: ``check_policy(MyPolicy(...), observations)``.

Extend haltwise with a rule of your own by subclassing `haltwise.Policy`, then hold it against the
laws below in your own test suite. Each broken law is an `AssertionError` that names the step.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Sequence
from typing import Any

from ..core.decision import CONTINUE, Decision
from ..core.expression import parse_policy
from ..core.policies import RULES, Never
from ..core.policy import AllOf, AnyOf, Policy, fold, state_from_json, state_to_json


def stop_step(policy: Policy, observations: Sequence[Any]) -> int | None:
    """Return the 1-based step at which ``policy`` first stops, or None if it never does."""
    state = policy.initial()
    for step, observation in enumerate(observations, start=1):
        state, decision = policy.step(state, observation)
        if decision.stops:
            return step
    return None


def check_policy(policy: Policy, observations: Sequence[Any]) -> None:
    """Hold ``policy`` against every law that holds for any policy, on one sequence.

    The laws: it is pure; resuming from a state that went through JSON equals one uninterrupted
    run; it is sticky; its decisions carry evidence and survive JSON and pickle; its expression
    reads back to an equal policy; combined with `never` it stops with ``|`` where it stops alone,
    and with ``&`` it does not stop.

    Raises:
        AssertionError: a law is broken; the message names law, policy and step.
    """
    decisions = _pure(policy, observations)
    _resumable(policy, observations, decisions)
    _sticky(policy, observations, decisions)
    _evident(policy, decisions)
    _printable(policy)
    _neutral(policy, observations)


def check_combination(left: Policy, right: Policy, observations: Sequence[Any]) -> None:
    """Hold ``left | right`` and ``left & right`` against their laws on one sequence.

    `AnyOf` stops at the earlier of its parts, `AllOf` at the later; both in either order.

    Raises:
        AssertionError: a combination stops elsewhere.
    """
    steps = [stop_step(part, observations) for part in (left, right)]
    fired = [step for step in steps if step is not None]
    earliest = min(fired, default=None)
    latest = max(fired) if len(fired) == 2 else None
    for pair in ((left, right), (right, left)):
        found = stop_step(AnyOf(pair), observations)
        assert found == earliest, f"{AnyOf(pair)} stops at {found}, its earlier part at {earliest}"
        found = stop_step(AllOf(pair), observations)
        assert found == latest, f"{AllOf(pair)} stops at {found}, its later part at {latest}"


def check_monotone(
    make: Callable[[Any], Policy], patience: Sequence[Any], observations: Sequence[Any]
) -> None:
    """Check that more patience never stops earlier.

    Args:
        make: builds the policy from one parameter value.
        patience: values in order of growing patience.
        observations: the sequence to run on.

    Raises:
        AssertionError: a more patient policy stops before a less patient one.
    """
    never = len(observations) + 1
    steps = [stop_step(make(value), observations) or never for value in patience]
    for i in range(1, len(steps)):
        assert steps[i - 1] <= steps[i], (
            f"{make(patience[i])} stops at step {steps[i]}, "
            f"before {make(patience[i - 1])} at {steps[i - 1]}"
        )


def _pure(policy: Policy, observations: Sequence[Any]) -> list[Decision]:
    decisions: list[Decision] = []
    state = policy.initial()
    for step, observation in enumerate(observations, start=1):
        before = state_to_json(state)
        following, decision = policy.step(state, observation)
        again, repeated = policy.step(state, observation)
        assert following == again and decision == repeated, (
            f"{policy}: two calls of step {step} with the same arguments differ"
        )
        assert state_to_json(state) == before, f"{policy}: step {step} changed the state it got"
        assert following is not None, f"{policy}: the state after step {step} is None"
        state = following
        decisions.append(decision)
    return decisions


def _resumable(policy: Policy, observations: Sequence[Any], decisions: Sequence[Decision]) -> None:
    for cut in range(len(observations) + 1):
        state, _ = fold(policy, observations[:cut])
        stored = json.loads(json.dumps(state_to_json(state), allow_nan=False))
        resumed = state_from_json(stored)
        assert resumed == state, f"{policy}: the state after step {cut} changes through JSON"
        _, decision = fold(policy, observations[cut:], resumed)
        expected = decisions[-1] if decisions else CONTINUE
        assert decision == expected, f"{policy}: resuming after step {cut} ends differently"


def _sticky(policy: Policy, observations: Sequence[Any], decisions: Sequence[Decision]) -> None:
    stopped: Decision | None = None
    for step, decision in enumerate(decisions, start=1):
        assert stopped is None or decision == stopped, (
            f"{policy}: stopped, then said {decision.action.value} at step {step}"
        )
        stopped = decision if decision.stops else None


def _evident(policy: Policy, decisions: Sequence[Decision]) -> None:
    for step, decision in enumerate(decisions, start=1):
        if decision.stops:
            assert decision.reason and decision.evidence, f"{policy}: no evidence at step {step}"
            assert decision.policy == policy.expression, (
                f"{policy}: the decision of step {step} names {decision.policy!r}"
            )
        through = Decision.from_json(json.loads(json.dumps(decision.to_json(), allow_nan=False)))
        assert through == decision, f"{policy}: the decision of step {step} changes through JSON"
        assert pickle.loads(pickle.dumps(decision)) == decision, f"{policy}: pickle at step {step}"


def _printable(policy: Policy) -> None:
    known = [policy]
    while any(isinstance(part, (AnyOf, AllOf)) for part in known):
        known = [
            inner
            for part in known
            for inner in (part.parts if isinstance(part, (AnyOf, AllOf)) else (part,))
        ]
    if all(part.name in RULES for part in known):
        assert parse_policy(str(policy)) == policy, f"{policy}: reads back as another policy"


def _neutral(policy: Policy, observations: Sequence[Any]) -> None:
    check_combination(policy, Never(), observations)
