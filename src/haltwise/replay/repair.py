"""Where each rule fires on recorded verify-repair loops, and which plan it delivers.

The rules are those that run online (`haltwise.core.policies`): known families are worked out over
whole arrays, any other policy is stepped over the loops. Sums of logarithms on arrays may differ
from those of the online rule in the last bit, so loops in which a decision hangs on less than
`ROUNDING` are stepped one by one: replay and `RepairLoop` agree exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.noise import NoiseModel
from ..core.observation import RepairObservation
from ..core.policies import (
    BestOfVotes,
    Confidence,
    FixedRepairs,
    Lookahead,
    Majority,
    Never,
    Oracle,
    Patience,
    TrueMyopic,
    VrrGuard,
    VrrStop,
)
from ..core.policies.switching import SwitchingPolicy
from ..core.policies.threshold import ThresholdPolicy
from ..core.policy import AllOf, AnyOf, Policy
from ..core.validity import log_likelihood_ratio, log_odds
from ..record.repair_table import UNKNOWN, RepairTable
from .firing import Booleans, Firing, Integers, at_first, combine, never, step_through

Floats = NDArray[np.float64]

ROUNDING = 1e-9
"""A belief, in log odds or probability, this near to what it is compared with is not trusted."""

Rule = tuple[Booleans, Integers]
"""Whether a rule stops after each round, and the plan it delivers then; (n, columns) each."""


def repair_firing(policy: Policy, table: RepairTable) -> Firing:
    """Return where ``policy`` stops on each loop, exactly as `RepairLoop` would step by step.

    Where it does not stop, the firing's candidate is the plan that `RepairLoop.best` would be at
    the end of the record.
    """
    if isinstance(policy, (AnyOf, AllOf)):
        return combine(policy, [repair_firing(part, table) for part in policy.parts])
    if isinstance(policy, SwitchingPolicy):
        return repair_firing(policy.rule, table)
    if isinstance(policy, Never):
        return never(len(table))
    if type(policy) in _BELIEFS:
        return _threshold(policy, table)  # type: ignore[arg-type]
    rule = _RULES.get(type(policy))
    if rule is None:
        return _stepped(policy, table)
    stops, plans = rule(policy, table)
    return _first(policy, stops, plans, table)


def _first(policy: Any, stops: Booleans, plans: Integers, table: RepairTable) -> Firing:
    """Return the first stop inside the record, the last round's included."""
    rounds = np.arange(table.columns)
    return at_first(
        (stops | (rounds >= policy.rounds)) & (rounds < table.length[:, None]),
        plans,
        plans[np.arange(len(table)), table.length - 1],
    )


def _newest(table: RepairTable) -> Integers:
    return np.broadcast_to(np.arange(table.columns), table.accepts.shape)


def _majority(policy: Majority, table: RepairTable) -> Rule:
    return 2 * table.accepts > table.votes, _newest(table)


def _confidence(policy: Confidence, table: RepairTable) -> Rule:
    reached = (table.votes > 0) & (table.accepts >= policy.c * table.votes - 1e-9)
    return reached, _newest(table)


def _fixed(policy: FixedRepairs, table: RepairTable) -> Rule:
    return _newest(table) >= policy.n, _newest(table)


def _oracle(policy: Oracle, table: RepairTable) -> Rule:
    return table.valid == 1, _newest(table)


def _guard(policy: VrrGuard, table: RepairTable) -> Rule:
    best, _ = _incumbents(table, policy.delta)
    return np.zeros(best.shape, bool), best


def _best_of_votes(policy: BestOfVotes, table: RepairTable) -> Rule:
    best, _ = _incumbents(table)
    return 2 * table.accepts > table.votes, best


def _patience(policy: Patience, table: RepairTable) -> Rule:
    best, stale = _incumbents(table)
    return stale >= policy.n, best


def _incumbents(table: RepairTable, margin: float = 0.0) -> tuple[Integers, Integers]:
    """Return the incumbent after each round, and the rounds with votes since it became one.

    Shares of accepts are cross-multiplied, as in `haltwise.core.policies.scored.better`.
    """
    best = np.zeros(table.accepts.shape, np.int64)
    stale = np.zeros(table.accepts.shape, np.int64)
    accepts, votes = table.accepts[:, 0], table.votes[:, 0]
    for k in range(1, table.columns):
        new, given = table.accepts[:, k], table.votes[:, k]
        held = np.maximum(votes, 1)
        lead = new * held - accepts * given
        better = lead > 0
        if margin > 0:
            better = (given > 0) & (lead >= margin * given * held - 1e-9)
        best[:, k] = np.where(better, k, best[:, k - 1])
        stale[:, k] = np.where(better, 0, stale[:, k - 1] + (given > 0))
        accepts, votes = np.where(better, new, accepts), np.where(better, given, votes)
    return best, stale


_RULES: dict[type[Policy], Callable[[Any, RepairTable], Rule]] = {
    BestOfVotes: _best_of_votes,
    Confidence: _confidence,
    FixedRepairs: _fixed,
    Majority: _majority,
    Oracle: _oracle,
    Patience: _patience,
    VrrGuard: _guard,
}
"""Rules on votes alone: whole numbers, no rounding."""

_BELIEFS: tuple[type[Policy], ...] = (Lookahead, TrueMyopic, VrrStop)
"""Rules that compare the belief in the newest plan with a threshold."""


def _threshold(policy: ThresholdPolicy, table: RepairTable) -> Firing:
    noise = policy.noise
    ratios = _log_ratios(noise, table)
    odds = _filtered(noise, ratios)
    limits = _limits(policy, table)
    with np.errstate(invalid="ignore"):
        unsure = np.abs(odds - limits) < ROUNDING
    # A belief of plus or minus infinity is certain online too, and equals a limit of the same sign.
    firing = _first(policy, odds >= limits, _newest(table), table)
    reach = np.minimum(firing.step, table.length - 1)
    doubtful = (unsure & (np.arange(table.columns) <= reach[:, None])).any(axis=1)
    if policy.recall:
        plans, close = _likeliest(noise, ratios, odds, reach)
        firing = Firing(firing.step, plans, firing.strength)
        doubtful |= close
    return _restepped(policy, table, firing, np.flatnonzero(doubtful))


def _log_ratios(noise: NoiseModel, table: RepairTable) -> Floats:
    """Return the log likelihood ratio of each round's votes, worked out once for each count."""
    most = int(table.votes.max(initial=0))
    codes = table.accepts * (most + 1) + table.votes
    distinct, which = np.unique(codes, return_inverse=True)
    values = [
        log_likelihood_ratio(noise, int(code) // (most + 1), int(code) % (most + 1))
        for code in distinct
    ]
    return np.array(values, float)[which].reshape(codes.shape)


def _limits(policy: ThresholdPolicy, table: RepairTable) -> Floats:
    """Return the threshold in log odds of every round, given the most votes seen by then."""
    most = np.maximum.accumulate(table.votes, axis=1)
    limits = np.full(most.shape, -np.inf)
    rounds = min(table.columns, policy.rounds + 1)
    for votes in np.unique(most[:, :rounds]).tolist():
        row = [log_odds(belief) for belief in policy.thresholds(votes)[:rounds]]
        limits[:, :rounds] = np.where(most[:, :rounds] == votes, row, limits[:, :rounds])
    return limits


def _filtered(noise: NoiseModel, ratios: Floats) -> Floats:
    """Return the log odds of each plan given the votes until its own round."""
    odds = np.full(len(ratios), log_odds(noise.valid))
    columns = []
    for k in range(ratios.shape[1]):
        if k:
            odds = _repaired(odds, noise.alpha_at(k), noise.beta_at(k))
        odds = _updated(odds, ratios[:, k])
        columns.append(odds)
    return np.column_stack(columns)


def _likeliest(
    noise: NoiseModel, ratios: Floats, odds: Floats, last: Integers
) -> tuple[Integers, Booleans]:
    """Return the plan with the largest smoothed posterior given the votes up to round ``last``.

    Also returns where the choice is too close to be left to rounding.
    """
    n, columns = ratios.shape
    posterior = np.full((n, columns), -1.0)
    message = np.zeros(n)
    for k in range(columns - 1, -1, -1):
        within = k <= last
        if k + 1 < columns:
            carried = _before_repair(
                _updated(message, ratios[:, k + 1]), noise.alpha_at(k + 1), noise.beta_at(k + 1)
            )
            message = np.where(k + 1 <= last, carried, 0.0)
        with np.errstate(over="ignore"):
            belief = 1.0 / (1.0 + np.exp(-_updated(odds[:, k], message)))
        posterior[:, k] = np.where(within, belief, -1.0)
    most = posterior.max(axis=1, keepdims=True)
    plans = (posterior >= most - 1e-12).argmax(axis=1)
    rivals = (posterior > most - ROUNDING).sum(axis=1) > 1
    return plans, rivals


def _updated(odds: Floats, ratios: Floats) -> Floats:
    """Return the log odds after evidence, as `haltwise.core.validity.updated`."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(odds), odds, odds + ratios)


def _repaired(odds: Floats, alpha: float, beta: float) -> Floats:
    """Return the log odds after a repair, as `haltwise.core.validity.repaired`."""
    e = np.exp(-np.abs(odds))
    likely = odds >= 0
    valid = np.where(likely, (1.0 - beta) + alpha * e, (1.0 - beta) * e + alpha)
    invalid = np.where(likely, beta + (1.0 - alpha) * e, beta * e + (1.0 - alpha))
    return _log_quotient(valid, invalid)


def _before_repair(message: Floats, alpha: float, beta: float) -> Floats:
    """Carry the log ratio of later votes back over a repair, as in `haltwise.core.validity`."""
    e = np.exp(-np.abs(message))
    likely = message >= 0
    valid = np.where(likely, (1.0 - beta) + beta * e, (1.0 - beta) * e + beta)
    invalid = np.where(likely, alpha + (1.0 - alpha) * e, alpha * e + (1.0 - alpha))
    carried = _log_quotient(valid, invalid)
    return np.where((valid <= 0) & (invalid <= 0), 0.0, carried)


def _log_quotient(valid: Floats, invalid: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = np.log(valid / invalid)
    return np.where(invalid <= 0, np.inf, np.where(valid <= 0, -np.inf, quotient))


def _restepped(
    policy: Policy, table: RepairTable, firing: Firing, loops: NDArray[np.intp]
) -> Firing:
    """Return ``firing`` with the answers for ``loops`` replaced by those of the online rule."""
    if len(loops) == 0:
        return firing
    exact = _stepped(policy, table.rows(loops))
    columns = (firing.step.copy(), firing.candidate.copy(), firing.strength.copy())
    for column, value in zip(columns, (exact.step, exact.candidate, exact.strength), strict=True):
        column[loops] = value
    return Firing(*columns)


def _stepped(policy: Policy, table: RepairTable) -> Firing:
    def patterns() -> Iterable[tuple[bytes, bytes, bytes]]:
        for i, length in enumerate(table.length.tolist()):
            yield (
                table.accepts[i, :length].tobytes(),
                table.votes[i, :length].tobytes(),
                table.valid[i, :length].tobytes(),
            )

    def observe(pattern: tuple[bytes, bytes, bytes]) -> list[RepairObservation]:
        accepts = np.frombuffer(pattern[0], np.int64).tolist()
        votes = np.frombuffer(pattern[1], np.int64).tolist()
        valid = [_TRUTH[code] for code in np.frombuffer(pattern[2], np.int8).tolist()]
        return list(map(RepairObservation, accepts, votes, valid))

    return step_through(policy, patterns(), observe)


_TRUTH: dict[int, bool | None] = {UNKNOWN: None, 0: False, 1: True}
