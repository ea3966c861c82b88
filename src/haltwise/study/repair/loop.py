"""One verify-repair episode: propose, vote, decide, repair, and the truth beside each round.

A gated episode stops when its policy says so. A full record runs every round ungated, so that any
policy can be replayed on the same trajectory. Knows models as functions and truth as a grader.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b

from ...core.errors import ParameterError
from ...core.events import Usage
from ...core.loop import RepairLoop
from ...core.policy import Policy
from ...record.episode import Outcome, RepairEpisode, RepairStep
from . import prompts
from .problem import Problem, Task
from .roles import Ask, Reply, Request, Role, mismatched, propose, read_vote, repair, verify


class RepairFrom(StrEnum):
    """Which plan is repaired."""

    LATEST = "latest"
    """The newest one, whatever its votes."""
    INCUMBENT = "incumbent"
    """The one that the policy would deliver now."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Everything about an episode but the problem and the models."""

    task: Task
    model: str
    """What the record calls the models."""
    policy: Policy | None = None
    """The rule that gates the loop; None records every round."""
    votes: int = 8
    """M, votes on each plan at most; at least 1. Divided among the verifiers."""
    rounds: int = 5
    """K, repairs at most; at least 0."""
    verifiers: tuple[str, ...] = ("plain",)
    """Kinds of `prompts.VERIFY`; several are views that are told apart in the record."""
    repairer: str = "revise"
    """Kind of `prompts.REPAIR`."""
    repair_from: RepairFrom = RepairFrom.LATEST
    adaptive: bool = False
    """Buy votes one at a time, until the policy's decision is certain. Needs a policy."""
    mismatch: bool = False
    """Stress: the repairer sees a perturbed copy of the problem."""
    temperature: float = 0.7
    """Of proposals and repairs."""
    vote_temperature: float = 1.0
    """Of votes; at 1 they follow the verifier's own distribution."""
    seed: int = 0
    plan: str | None = None
    """Digest of the study plan."""

    def __post_init__(self) -> None:
        if self.votes < len(self.verifiers) or not self.verifiers:
            raise ParameterError(
                f"votes is at least one for each of {len(self.verifiers)} verifiers; "
                f"got {self.votes}"
            )
        if self.rounds < 0:
            raise ParameterError(f"rounds is at least 0; got {self.rounds}")
        for kind in self.verifiers:
            if kind not in prompts.VERIFY:
                known = ", ".join(prompts.VERIFY)
                raise ParameterError(f"there is no verifier {kind!r}; known: {known}")
        if self.repairer not in prompts.REPAIR:
            known = ", ".join(prompts.REPAIR)
            raise ParameterError(f"there is no repairer {self.repairer!r}; known: {known}")
        if self.policy is None and (self.adaptive or self.repair_from is RepairFrom.INCUMBENT):
            raise ParameterError("adaptive votes and repairs of the incumbent need a policy")

    @property
    def arm(self) -> str:
        """Verifiers, repairer and rule, as records call it."""
        rule = "full" if self.policy is None else str(self.policy)
        return f"{'+'.join(self.verifiers)}/{self.repairer}/{rule}"

    def episode_id(self, problem: Problem) -> str:
        """Return the name of the episode on a problem."""
        return f"{problem.problem_id}/{self.arm}/{self.seed}"


@dataclass(frozen=True, slots=True)
class _Ballot:
    """The votes on one plan so far."""

    views: dict[str, tuple[int, int]]
    """(accepts, votes) by kind of verifier."""
    probability: float | None
    usage: Usage

    @property
    def accepts(self) -> int:
        return sum(accepts for accepts, _ in self.views.values())

    @property
    def votes(self) -> int:
        return sum(votes for _, votes in self.views.values())


async def play(problem: Problem, setting: Setting, ask: Ask) -> RepairEpisode:
    """Run one episode to its end.

    Args:
        problem: the problem.
        setting: policy, votes, rounds and the rest.
        ask: sends a request to the model of its role; what it raises ends the episode without a
            record. A verifier that fails returns fewer texts: fewer votes.
    """
    loop: RepairLoop[str] | None = RepairLoop(setting.policy) if setting.policy else None
    roles = {role: Usage(0, 0, 0) for role in Role}
    steps: list[RepairStep] = []
    plan, cost = "", Usage(0, 0, 0)
    for round_ in range(setting.rounds + 1):
        request = _next_plan(problem, setting, loop, plan, round_)
        reply = await ask(request)
        plan = reply.texts[0] if reply.texts else ""
        ballot = await _vote(problem, setting, loop, plan, round_, ask)
        roles[request.role] = added(roles[request.role], reply.usage)
        roles[Role.VERIFIER] = added(roles[Role.VERIFIER], ballot.usage)
        cost = added(reply.usage, ballot.usage)
        steps.append(
            RepairStep(
                round=round_,
                candidate=plan,
                accepts=ballot.accepts,
                votes=ballot.votes,
                valid=setting.task.grade(problem, plan).valid,
                views=ballot.views if len(ballot.views) > 1 else {},
                accept_probability=ballot.probability,
                usage=cost,
            )
        )
        if loop and loop.observe(plan, ballot.accepts, ballot.votes, valid=steps[-1].valid).stops:
            break
    return _episode(problem, setting, loop, steps, roles)


def _next_plan(
    problem: Problem, setting: Setting, loop: RepairLoop[str] | None, plan: str, round_: int
) -> Request:
    seed = seeded(setting.seed, problem.problem_id, round_)
    form, temperature = setting.task.answer_form, setting.temperature
    if round_ == 0:
        return propose(problem, form, temperature=temperature, seed=seed)
    if loop is not None and setting.repair_from is RepairFrom.INCUMBENT:
        plan = loop.best
    shown = mismatched(problem.text, seed) if setting.mismatch else problem.text
    kind = setting.repairer
    return repair(
        problem, shown, plan, kind, form, temperature=temperature, seed=seed, round_=round_
    )


async def _vote(
    problem: Problem,
    setting: Setting,
    loop: RepairLoop[str] | None,
    plan: str,
    round_: int,
    ask: Ask,
) -> _Ballot:
    shares = {
        kind: setting.votes // len(setting.verifiers)
        + (place < setting.votes % len(setting.verifiers))
        for place, kind in enumerate(setting.verifiers)
    }
    ballot = _Ballot(dict.fromkeys(setting.verifiers, (0, 0)), None, Usage(0, 0, 0))
    asked = dict.fromkeys(setting.verifiers, 0)
    while sum(asked.values()) < setting.votes:
        wanted = setting.votes
        if setting.adaptive and loop is not None:
            wanted = loop.votes_needed(ballot.accepts, ballot.votes, setting.votes)
            if wanted == 0:
                break
        for kind in setting.verifiers:
            n = min(wanted, shares[kind] - asked[kind])
            if n > 0:
                seed = seeded(setting.seed, problem.problem_id, round_, kind, asked[kind])
                request = verify(
                    problem,
                    setting.task.claim(problem, plan),
                    kind,
                    n=n,
                    temperature=setting.vote_temperature,
                    seed=seed,
                    round_=round_,
                )
                ballot = _counted(ballot, kind, await ask(request))
                asked[kind] += n
                wanted -= n
    return ballot


def _counted(ballot: _Ballot, kind: str, reply: Reply) -> _Ballot:
    """Add the votes of a reply; an answer that says neither yes nor no is no vote."""
    given = [vote for vote in map(read_vote, reply.texts) if vote is not None]
    accepts, votes = ballot.views[kind]
    return _Ballot(
        {**ballot.views, kind: (accepts + sum(given), votes + len(given))},
        reply.probability if ballot.probability is None else ballot.probability,
        added(ballot.usage, reply.usage),
    )


def _episode(
    problem: Problem,
    setting: Setting,
    loop: RepairLoop[str] | None,
    steps: list[RepairStep],
    roles: dict[Role, Usage],
) -> RepairEpisode:
    total = Usage(0, 0, 0)
    for usage in roles.values():
        total = added(total, usage)
    decision = loop.decision if loop else None
    chosen = len(steps) - 1
    if decision is not None and decision.candidate is not None:
        chosen = decision.candidate
    return RepairEpisode(
        episode_id=setting.episode_id(problem),
        cluster_id=problem.problem_id,
        question_id=problem.problem_id,
        question=problem.text,
        model=setting.model,
        arm=setting.arm,
        regime="mismatch" if setting.mismatch else None,
        seed=setting.seed,
        budget=setting.rounds,
        gated=False,
        steps=steps,
        outcome=Outcome(
            success=steps[chosen].valid,
            answer=steps[chosen].candidate,
            censored=decision is None,
            reason=decision.reason if decision else "every round was run: nothing stopped the loop",
        ),
        usage=total,
        usage_by_role={role.value: usage for role, usage in roles.items()},
        plan=setting.plan,
    )


def seeded(*parts: object) -> int:
    """Return a 31-bit seed that depends on ``parts`` alone, equal on every machine."""
    text = "\x1f".join(str(part) for part in parts)
    return (
        int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).digest()) >> 1
    )


def added(left: Usage, right: Usage) -> Usage:
    """Return the sum of two costs; what one of them does not know is not known of the sum."""

    def plus(a: int | None, b: int | None) -> int | None:
        return None if a is None or b is None else a + b

    return Usage(
        plus(left.calls, right.calls),
        plus(left.input_tokens, right.input_tokens),
        plus(left.output_tokens, right.output_tokens),
    )
