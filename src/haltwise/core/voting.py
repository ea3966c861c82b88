"""Adaptive voting: how many more votes on a candidate can still matter.

Votes are bought one at a time or in small lots. Buying ends when no completion can change what is
decided (curtailment), or when the belief has left the indifference zone around the threshold
(a sequential probability ratio test with two boundaries). METHODS section 2, "Adaptive voting".
Knows policies only through `Policy.step`; buys nothing itself.
"""

from __future__ import annotations

from .decision import Action
from .observation import RepairObservation
from .policy import Policy, State
from .validity import log_odds

Outcome = tuple[object, ...]


def votes_needed(
    policy: Policy,
    state: State,
    accepts: int,
    votes: int,
    most: int,
    *,
    zone: float | None = None,
) -> int:
    """Return the smallest number of further votes after which buying could end; 0 ends it now.

    With `accepts` of `votes` in hand the decision is settled when observing them, and every
    completion to ``most`` votes, leads to the same one: the same action and candidate, and for a
    rule that keeps scores the same incumbent with the same score. For rules on a belief the
    belief itself may differ.

    Args:
        policy: the rule that decides.
        state: its state before this candidate is observed.
        accepts: accepting votes in hand.
        votes: votes in hand.
        most: votes that a candidate gets at most, at least ``votes``.
        zone: half-width in log odds of the zone of indifference around the rule's threshold, for
            rules on a belief: outside of it buying ends although a completion might still change
            the decision. 3 is odds of 20 to 1. None: certainty only.
    """
    highest = most - votes + accepts
    outcomes = [_outcome(policy, state, count, most) for count in range(accepts, highest + 1)]
    for more in range(most - votes + 1):
        for extra in range(more + 1):
            in_hand = (accepts + extra, votes + more)
            if zone is not None and in_hand[1] and _distance(policy, state, *in_hand) >= zone:
                return more
            possible = outcomes[extra : extra + most - in_hand[1] + 1]
            if all(end == possible[0] for end in possible) and possible[0] == _outcome(
                policy, state, *in_hand
            ):
                return more
    return most - votes


def _outcome(policy: Policy, state: State, accepts: int, votes: int) -> Outcome:
    """Return what matters of observing these votes."""
    after, decision = policy.step(state, RepairObservation(accepts, votes))
    if decision.action is not Action.CONTINUE:
        return (decision.action, decision.candidate)
    return (decision.action, policy.settled(after))


def _distance(policy: Policy, state: State, accepts: int, votes: int) -> float:
    """Return how far these votes put the belief from the threshold, in log odds; 0 without one."""
    observation = RepairObservation(accepts, votes)
    after, decision = policy.step(state, observation)
    seen = decision.evidence if decision.stops else policy.evidence(after, observation)
    belief, threshold = seen.get("belief"), seen.get("threshold")
    if not isinstance(belief, float) or not isinstance(threshold, float):
        return 0.0
    here, there = log_odds(belief), log_odds(threshold)
    return 0.0 if here == there else abs(here - there)
