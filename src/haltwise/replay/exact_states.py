"""Exact evaluation of any repair policy through its own step function.

A node is a state of the policy with the true probability mass of the histories that lead there,
split by the validity of the newest plan, and the same for every earlier plan that might still be
delivered. Histories that leave the policy in an equal state are one node, so rules with a small
state (guard, patience, majority) stay small however many votes and rounds there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.errors import InputError
from ..core.noise import NoiseModel
from ..core.observation import RepairObservation
from ..core.policies.repair import RepairPolicy
from ..core.policy import AllOf, AnyOf, Policy, State
from .exact_chain import Array, Tally, prior, transition, vote_likelihood

NEGLIGIBLE = 1e-4
"""Probability that may be cut off where there are too many nodes; part of the error bound."""


def evaluate_states(
    policy: Policy, noise: NoiseModel, votes: int, rounds: int, limit: int
) -> Tally:
    """Return what ``policy`` delivers where ``noise`` is the truth.

    Beyond ``limit`` nodes the least probable histories are cut off (they deliver at once); their
    probability is the error bound.

    Raises:
        InputError: more than `NEGLIGIBLE` would have to be cut off.
    """
    tally = Tally(rounds)
    likelihood = vote_likelihood(noise, votes)
    outcomes = [
        (RepairObservation(s, votes, truth), likelihood[s] * side)
        for s in range(votes + 1)
        for truth, side in _truths(policy)
    ]
    states: list[State] = [policy.initial()]
    # Rows of a node's matrix: everything; plan j valid (by round); plan j accepted by most votes.
    # Columns: newest plan invalid, valid.
    mass = prior(noise)[None, None, :]
    for k in range(rounds + 1):
        if k:
            mass = mass @ transition(noise, k)
        index: dict[Any, int] = {}
        following: list[State] = []
        parts = []
        for observation, weight in outcomes:
            children = _with_newest(mass * weight, 2 * observation.accepts > votes)
            alive = np.flatnonzero(children[:, 0].sum(axis=1) > 0)
            sources: list[int] = []
            targets: list[int] = []
            for source in alive.tolist():
                state, decision = policy.step(states[source], observation)
                if decision.stops or k == rounds:
                    chosen = decision.candidate if decision.stops else policy.choice(state)
                    _deliver(tally, k, children[source], k if chosen is None else chosen)
                    continue
                target = index.setdefault(_key(state), len(following))
                if target == len(following):
                    following.append(state)
                sources.append(source)
                targets.append(target)
            parts.append((children, sources, targets))
        states, mass = following, _gathered(parts, len(following))
        if len(states) > limit:
            states, mass = _cut(policy, tally, k, states, mass, limit)
        if len(states):
            tally.running_valid[k] = mass[:, 1 + k, :].sum()
            tally.running_accepted[k] = mass[:, 2 + 2 * k, :].sum()
        tally.nodes = max(tally.nodes, len(states))
        if not states:
            break
    return tally


def _truths(policy: Policy) -> list[tuple[bool | None, Array]]:
    """Return what the policy may see of the truth, with the columns that it leaves."""
    if not _sees_truth(policy):
        return [(None, np.ones(2))]
    return [(False, np.array([1.0, 0.0])), (True, np.array([0.0, 1.0]))]


def _sees_truth(policy: Policy) -> bool:
    if isinstance(policy, (AnyOf, AllOf)):
        return any(_sees_truth(part) for part in policy.parts)
    return isinstance(policy, RepairPolicy) and policy.sees_truth


def _with_newest(mass: Array, accepted: bool) -> Array:
    """Add the rows of the newest plan to (n, 1 + 2k, 2); return (n, 1 + 2(k + 1), 2)."""
    everything = mass[:, :1]
    earlier = (mass.shape[1] - 1) // 2
    valid = everything * np.array([0.0, 1.0])
    return np.concatenate(
        (
            everything,
            mass[:, 1 : 1 + earlier],
            valid,
            mass[:, 1 + earlier :],
            everything * float(accepted),
        ),
        axis=1,
    )


def _deliver(tally: Tally, k: int, rows: Array, chosen: int) -> None:
    plans = (len(rows) - 1) // 2
    tally.stopped[k] += rows[0].sum()
    tally.valid[k] += rows[1 + chosen].sum()
    tally.accepted[k] += rows[1 + plans + chosen].sum()


def _gathered(parts: list[tuple[Array, list[int], list[int]]], n: int) -> Array:
    """Add up the children of each new node."""
    total = np.zeros((n, *parts[0][0].shape[1:]))
    for children, sources, targets in parts:
        np.add.at(total, targets, children[sources])
    return total


def _cut(
    policy: Policy, tally: Tally, k: int, states: list[State], mass: Array, limit: int
) -> tuple[list[State], Array]:
    """Let the least probable nodes deliver at once, so that ``limit`` are left."""
    probability = mass[:, 0].sum(axis=1)
    tally.merged = True
    order = np.argsort(probability)
    tally.error += float(probability[order[:-limit]].sum())
    if tally.error > NEGLIGIBLE:
        raise InputError(
            f"{policy} leads to more than {limit} different states at round {k}; "
            "ask for fewer votes or rounds"
        )
    for node in order[:-limit].tolist():
        chosen = policy.choice(states[node])
        _deliver(tally, k, mass[node], k if chosen is None else chosen)
    kept = np.sort(order[-limit:])
    return [states[node] for node in kept.tolist()], mass[kept]


def _key(state: State) -> Any:
    """Return a state to compare by: floats that differ by rounding alone are equal."""
    if isinstance(state, float):
        return round(state, 10)
    if isinstance(state, tuple):
        return tuple([_key(item) for item in state])
    return state
