"""Exact evaluation of repair policies under a noise model: no Monte Carlo.

`evaluate` follows the joint probability of (plan valid, history of votes) forward, merging
histories that a policy cannot tell apart. METHODS section 2, "Exact evaluation". Ignorant of how
the noise was estimated; the recorded loops of `haltwise.replay` play no part here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from ..core.errors import ParameterError
from ..core.noise import NoiseModel
from ..core.policies.repair import RepairPolicy
from ..core.policies.switching import SwitchingPolicy
from ..core.policies.threshold import ThresholdPolicy
from ..core.policy import Combination, Policy
from .exact_belief import LIMIT, evaluate_threshold
from .exact_chain import Tally
from .exact_recall import evaluate_recall
from .exact_states import evaluate_states


@dataclass(frozen=True)
class Evaluation:
    """What a policy delivers under the noise model; exact, up to `error`."""

    policy: str
    """The policy as an expression."""
    validity: float
    """Probability that the delivered plan is valid."""
    repairs: float
    """Expected number of repairs."""
    votes: float
    """Expected number of votes bought, all rounds together."""
    objective: float
    """validity - tau x repairs."""
    validity_by_round: tuple[float, ...]
    """Share of tasks whose plan is valid after round 0..K; stopped ones keep their plan."""
    acceptance_by_round: tuple[float, ...]
    """Share of tasks whose plan most of its votes accept; what the loop itself would report."""
    error: float
    """Bound on the error of validity."""
    merged: bool
    """Whether there were too many histories to follow each; `error` can be above 0 only then."""
    nodes: int
    """The largest number of different histories in a round."""

    def to_json(self) -> dict[str, Any]:
        """Return the evaluation as a JSON object; exact quantities are plain numbers."""
        return {
            "policy": self.policy,
            "validity": self.validity,
            "repairs": self.repairs,
            "votes": self.votes,
            "objective": self.objective,
            "validity_by_round": list(self.validity_by_round),
            "acceptance_by_round": list(self.acceptance_by_round),
            "error": self.error,
            "merged": self.merged,
        }


def evaluate(
    policy: Policy,
    noise: NoiseModel,
    *,
    votes: int = 8,
    rounds: int = 5,
    tau: float = 0.0,
    limit: int = LIMIT,
) -> Evaluation:
    """Return what ``policy`` delivers in loops that ``noise`` describes.

    Args:
        policy: a rule for repair loops; the noise it holds itself may be another one.
        noise: the truth.
        votes: votes on every plan, at least 1.
        rounds: repairs after which the loop ends in any case, at least 0.
        tau: price of a repair, for the objective.
        limit: nodes of a round beyond which beliefs merge onto a grid.

    Raises:
        ParameterError: the policy is for search loops, or a number is out of range.
        InputError: a policy of your own has more different states than can be followed.
    """
    check_sizes(votes, rounds)
    if policy.kind == "search":
        raise ParameterError(f"{policy} is for search loops; name a rule for repair loops")
    rule = followed(policy)
    if isinstance(rule, ThresholdPolicy):
        follow = evaluate_recall if rule.recall else evaluate_threshold
        tally = follow(rule, noise, votes, rounds, limit)
    else:
        tally = evaluate_states(rule, noise, votes, rounds, limit)
    return _evaluation(policy, tally, votes, tau)


def evaluate_all(
    policies: Iterable[Policy],
    noise: NoiseModel,
    *,
    votes: int = 8,
    rounds: int = 5,
    tau: float = 0.0,
    limit: int = LIMIT,
) -> list[Evaluation]:
    """Return `evaluate` of each policy; rules that come down to the same one are followed once."""
    known: dict[Policy, Evaluation] = {}
    found = []
    for policy in policies:
        rule = followed(policy)
        if rule not in known:
            known[rule] = evaluate(rule, noise, votes=votes, rounds=rounds, tau=tau, limit=limit)
        found.append(replace(known[rule], policy=str(policy)))
    return found


def followed(policy: Policy) -> Policy:
    """Return the rule that ``policy`` comes down to: a switching policy's choice, else itself."""
    return policy.rule if isinstance(policy, SwitchingPolicy) else policy


def recalling(policy: Policy) -> bool:
    """Return whether ``policy`` may deliver a plan that is not the newest one.

    Rules on a belief say so by ``recall``, others by a `Policy.choice` of their own.
    """
    rule = followed(policy)
    if isinstance(rule, Combination):
        return any(recalling(part) for part in rule.parts)
    if isinstance(rule, ThresholdPolicy):
        return rule.recall
    return type(rule).choice not in (Policy.choice, RepairPolicy.choice)


def check_sizes(votes: int, rounds: int) -> None:
    """Require at least one vote and no negative number of rounds."""
    for name, value, least in (("votes", votes, 1), ("rounds", rounds, 0)):
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise ParameterError(f"{name} is a whole number of at least {least}; got {value!r}")


def _evaluation(policy: Policy, tally: Tally, votes: int, tau: float) -> Evaluation:
    validity, repairs = float(tally.valid.sum()), tally.repairs
    return Evaluation(
        policy=str(policy),
        validity=validity,
        repairs=repairs,
        votes=votes * (1.0 + repairs),
        objective=validity - tau * repairs,
        validity_by_round=tally.by_round(tally.valid, tally.running_valid),
        acceptance_by_round=tally.by_round(tally.accepted, tally.running_accepted),
        error=tally.error,
        merged=tally.merged,
        nodes=tally.nodes,
    )
