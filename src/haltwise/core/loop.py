"""A policy together with its state, for people who write their own loop.

::

    loop = SearchLoop(parse_policy("streak(5) | deadline(8)"))
    while True:
        result = search(query)
        decision = loop.observe(judge(result), call=query, result=result)
        if decision.stops:
            return answer_without_tools(reason=decision.reason)

    loop = RepairLoop(parse_policy("vrr_guard"))
    plan = make_plan(task)
    while not loop.observe(plan, accepts=count_accepts(plan), votes=8).stops:
        plan = repair(plan)
    return loop.best
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Generic, TypeVar

from .decision import CONTINUE, Decision, Scalar
from .errors import HaltwiseError, ParameterError
from .events import Verdict
from .observation import (
    RepairObservation,
    SearchObservation,
    as_verdict,
    as_votes,
    fingerprint,
)
from .policy import Policy, State

Candidate = TypeVar("Candidate")


_SEARCH = tuple([SearchObservation(verdict, "probe") for verdict in Verdict])
_REPAIR = tuple(
    [RepairObservation(accepts, votes, True) for accepts, votes in ((0, 0), (0, 8), (8, 8))]
)


def _resumed(policy: Policy, state: State, probes: Iterable[object]) -> State:
    """Return a stored state, if the policy can go on from it; a step is pure, so it is tried."""
    if state == policy.initial():
        return state
    try:
        hash(state)
        chosen = policy.choice(state)
        if chosen is not None and (type(chosen) is not int or chosen < 0):
            raise TypeError("no candidate")
        for probe in probes:
            after, decision = policy.step(state, probe)
            if not decision.stops:
                policy.choice(after)
                policy.evidence(after, probe)
                policy.settled(after)
    except Exception as error:
        raise ParameterError(
            f"the stored state {_short(state)} is no state of {policy} ({type(error).__name__}); "
            "store state_to_json(loop.state) and resume with state_from_json(...), same policy"
        ) from None
    return state


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


class SearchLoop:
    """Follows one search loop. Mutable, not thread-safe; one per conversation.

    Attributes:
        policy: the rule that decides.
        state: its state; plain data, see `haltwise.core.policy.state_to_json`.
        decision: the newest decision.
    """

    __slots__ = ("decision", "policy", "state")

    def __init__(self, policy: Policy, state: State = None) -> None:
        """Start a loop, or resume one from a stored ``state``.

        Raises:
            ParameterError: ``policy`` is not a policy for search loops, or ``state`` is no state
                of it.
        """
        if not isinstance(policy, Policy):
            raise ParameterError(
                f'SearchLoop takes a policy, as parse_policy("streak(5)") gives; got {policy!r}'
            )
        if policy.kind == "repair":
            raise ParameterError(f"{policy} is for repair loops; use RepairLoop({policy})")
        self.policy = policy
        self.state = policy.initial() if state is None else _resumed(policy, state, _SEARCH)
        self.decision = self.state if isinstance(self.state, Decision) else CONTINUE

    def observe(
        self, verdict: Verdict | str, *, call: object = None, result: object = None
    ) -> Decision:
        """Take the verdict of one tool step and return the decision.

        Sticky: after a stop, every further call returns that stop again.

        Args:
            verdict: a `Verdict` or one of the words "useless", "useful", "unknown", "unjudged",
                "source_error".
            call: the tool call, text or JSON value; needed by `repeat` only.
            result: its result, text or JSON value; needed by `repeat` only.

        Raises:
            ObservationError: ``verdict`` is something else; the loop keeps its state.
        """
        mark = None if call is None else fingerprint(call, result)
        self.state, self.decision = self.policy.step(
            self.state, SearchObservation(as_verdict(verdict), mark)
        )
        return self.decision


class RepairLoop(Generic[Candidate]):
    """Follows one verify-repair loop. Mutable, not thread-safe; one per task.

    Attributes:
        policy: the rule that decides.
        state: its state; plain data, see `haltwise.core.policy.state_to_json`.
        decision: the newest decision.
        candidates: the candidates observed, by round: the initial plan first.
    """

    __slots__ = ("_observation", "candidates", "decision", "policy", "state")

    def __init__(
        self, policy: Policy, state: State = None, candidates: Iterable[Candidate] = ()
    ) -> None:
        """Start a loop, or resume one.

        Args:
            policy: a rule for repair loops.
            state: a stored state to resume from; None starts a new loop.
            candidates: with a stored state, the candidates observed until then, by round.

        Raises:
            ParameterError: ``policy`` is not a policy for repair loops, ``state`` is no state of
                it, or refers to a candidate that was not given.
        """
        if not isinstance(policy, Policy):
            raise ParameterError(
                f'RepairLoop takes a policy, as parse_policy("vrr_guard") gives; got {policy!r}'
            )
        if policy.kind == "search":
            raise ParameterError(f"{policy} is for search loops; use SearchLoop({policy})")
        self.policy = policy
        self.state = policy.initial() if state is None else _resumed(policy, state, _REPAIR)
        self.decision = self.state if isinstance(self.state, Decision) else CONTINUE
        self.candidates: list[Candidate] = list(candidates)
        self._observation: RepairObservation | None = None
        chosen = policy.choice(self.state)
        begun = state is not None and state != policy.initial()
        if begun and chosen is not None and chosen >= len(self.candidates):
            raise ParameterError(
                f"the stored state refers to candidate {chosen}, {len(self.candidates)} given; "
                "type RepairLoop(policy, state, candidates=[...]) with all candidates by round"
            )

    def observe(
        self, candidate: Candidate, accepts: int, votes: int, *, valid: bool | None = None
    ) -> Decision:
        """Take the votes on the newest candidate and return the decision.

        Sticky: after a stop, every further call returns that stop again and changes nothing.

        Args:
            candidate: the plan itself, of any type; `best` hands it back.
            accepts: votes that accept it.
            votes: votes given; 0 (with 0 accepts) when the verifier failed, which leaves every
                belief as it is.
            valid: the truth where a study knows it; only `oracle` looks at it.

        Raises:
            ObservationError: the numbers make no sense (NaN, fractions, bools, negative, more
                accepts than votes); the loop keeps its state.
        """
        observation = as_votes(accepts, votes, valid)
        if self.decision.stops:
            return self.decision
        self.state, self.decision = self.policy.step(self.state, observation)
        self.candidates.append(candidate)
        self._observation = observation
        return self.decision

    @property
    def best(self) -> Candidate:
        """The candidate to deliver now: after a stop the committed one.

        Raises:
            HaltwiseError: no candidate has been observed yet.
        """
        if not self.candidates:
            raise HaltwiseError("no candidate yet: call observe(candidate, accepts, votes) first")
        index = self.policy.choice(self.state)
        return self.candidates[-1 if index is None else index]

    @property
    def evidence(self) -> Mapping[str, Scalar]:
        """The numbers behind the newest decision, also of one to go on; empty before the first."""
        if self.decision.stops or self._observation is None:
            return self.decision.evidence
        return self.policy.evidence(self.state, self._observation)

    def votes_needed(
        self, accepts: int, votes: int, most: int, *, zone: float | None = None
    ) -> int:
        """Return how many more votes to buy for the newest candidate, before it is observed.

        See `haltwise.core.voting.votes_needed`. Ask again when they have come; 0 means: observe.

        Args:
            accepts: accepting votes among those bought for it so far.
            votes: votes bought for it so far.
            most: votes that a candidate gets at most.
            zone: half-width of the indifference zone in log odds; None: certainty only.

        Raises:
            ObservationError: the numbers make no sense.
        """
        as_votes(accepts, votes)
        as_votes(votes, most)
        if self.decision.stops:
            return 0
        from .voting import votes_needed  # not for every ``import haltwise``

        return votes_needed(self.policy, self.state, accepts, votes, most, zone=zone)
