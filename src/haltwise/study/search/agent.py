"""One search episode: the agent acts, the source answers or fails, the harness may stop it.

Knows a model only as a function from a request to a response, so that the same loop runs on any
provider and on scripted models. The rule is applied by `haltwise.enforce.decide` to the messages of
the conversation, as in the gateway and the adapters.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from msgspec.structs import replace

from ...core.belief import run_length
from ...core.decision import CONTINUE, Decision
from ...core.errors import ParameterError
from ...core.events import Usage, Verdict
from ...core.policy import Policy
from ...enforce.decide import decide
from ...enforce.messages import Message
from ...record.episode import AnswerNow, Outcome, SearchEpisode, SearchStep
from ...signals.lexical import Lexical
from ...signals.protocol import Signal, SignalStep
from ...signals.random import RateMatched
from ...signals.stated import Stated
from . import probes, prompts
from .arms import Arm, Tuned
from .conversation import Ask, Entry, Ledger, Request, Role
from .graders import Grader
from .protocols import Protocol, Response, Turn
from .question import hashed
from .regimes import Observation, Origin, World

TRUTH = "truth"
"""Verdict source: what the result really was. Useful: a page that supports the answer. Useless: a
failed observation. Unjudged: anything else of the question's own pages."""
_TRUTH = {Origin.SUPPORTING: Verdict.USEFUL, Origin.FAILED: Verdict.USELESS}


class Record(StrEnum):
    """How much is recorded beside the episode itself."""

    NONE = "none"
    """Only the verdicts that the arm needs."""
    VERDICTS = "verdicts"
    """A side-channel verdict on every result; where the arm has none, on the finished episode."""
    BRANCHES = "branches"
    """Verdicts, and answer-now branches at every decision point: all that replay needs."""
    FULL = "full"
    """Verdicts, answer-now branches and belief probes at every decision point."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Everything about an episode but the question and the model."""

    arm: Arm
    policy: Policy | None
    """The rule that is enforced; None where the harness enforces nothing."""
    protocol: Protocol
    kind: str
    """"qa" or "claim"."""
    grade: Grader
    model: str
    """What the record calls the model."""
    budget: int = 8
    """Actions, the answer included; at least 2."""
    record: Record = Record.VERDICTS
    tuned: Tuned = field(default_factory=Tuned)
    seed: int = 0
    """Seed of the study plus the number of the repeat."""
    plan: str | None = None
    """Digest of the plan."""
    max_tokens: int = 400
    """Longest turn, in tokens."""
    judge: probes.Judge = field(default_factory=probes.Judge)
    """The side channel."""

    def __post_init__(self) -> None:
        if self.budget < 2:
            raise ParameterError(f"budget is a whole number of at least 2; got {self.budget!r}")


@dataclass(slots=True)
class _Loop:
    """State of a running episode; one per episode."""

    world: World
    setting: Setting
    ledger: Ledger
    entries: list[Entry]
    responses: list[Response] = field(default_factory=list)
    observations: list[Observation] = field(default_factory=list)
    actions: list[tuple[str, str]] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    """What the agent wrote before each of its actions, the discarded one included."""
    cuts: list[int] = field(default_factory=list)
    """Length of the history right after each observation."""
    judged: dict[int, Verdict] = field(default_factory=dict)
    """Side-channel verdict by step, from 1."""
    run: int = 0


@dataclass(frozen=True, slots=True)
class _Known:
    """A signal that repeats verdicts which were obtained already."""

    name: str
    verdicts: dict[int, Verdict]

    def judge(self, step: SignalStep) -> Verdict:
        """Return the verdict on step t; unjudged where there is none."""
        return self.verdicts.get(step.t, Verdict.UNJUDGED)


@dataclass(frozen=True, slots=True)
class Played:
    """A finished episode with the conversation that the agent really had."""

    episode: SearchEpisode
    history: tuple[Entry, ...]


async def play(world: World, setting: Setting, ask: Ask) -> Played:
    """Run one episode to its end, then the probes that are replayed on it.

    Args:
        world: the question under its regime.
        setting: arm, protocol and the rest.
        ask: sends a request to the model; what it raises ends the episode without a record.
    """
    loop = _Loop(world, setting, Ledger(ask), _opening(world, setting))
    signal = _signal(loop)
    outcome, decision = None, CONTINUE
    while outcome is None:
        t = len(loop.observations)
        if t and setting.policy is not None and signal.name != "stated":
            decision = decide(_messages(loop), setting.policy, signal)
        if decision.stops:
            outcome = await _stop(loop, decision)
            break
        request = Request(
            Role.AGENT,
            tuple(loop.entries),
            tools := setting.protocol.tools(world.tools),
            setting.max_tokens,
            setting.protocol.stop,
            setting.protocol.grammar(tools, forced=False),
        )
        response = await loop.ledger.ask(request)
        turn = setting.protocol.read(response)
        if t and setting.policy is not None and signal.name == "stated":
            said = Message("assistant", response.text, response.calls)
            decision = decide([*_messages(loop), said], setting.policy, signal)
            if decision.stops:  # the judgement came with the next proposal, which is discarded
                loop.ledger.add(Role.AGENT, response, -1)
                loop.ledger.add(Role.REGENERATION, response)
                loop.thoughts.append(turn.thought)
                outcome = await _stop(loop, decision)
                break
        outcome = await _act(loop, turn, response)
    steps = await _steps(loop, outcome)
    return Played(_episode(loop, steps, outcome), tuple(loop.entries))


def _opening(world: World, setting: Setting) -> list[Entry]:
    values = {"k": setting.tuned.k, "budget": setting.budget}
    text = prompts.system(
        setting.protocol.template,
        kind=setting.kind,
        tools=setting.protocol.tools(world.tools),
        memory=setting.arm.memory,
        extra=tuple(line.format(**values) for line in setting.arm.extra),
    )
    return [Entry(Message("system", text)), Entry(Message("user", world.question.text))]


def _signal(loop: _Loop) -> Signal:
    setting, question = loop.setting, loop.world.question
    if setting.arm.signal == "lexical":
        return Lexical(setting.tuned.threshold)
    if setting.arm.signal == "stated":
        return Stated()
    if setting.arm.signal == "random":
        seed = hashed(setting.seed, question.question_id, loop.world.regime) % 2**31
        return RateMatched(setting.tuned.rate, seed)
    return _Known("side_channel", loop.judged)


def _messages(loop: _Loop) -> list[Message]:
    return [entry.message for entry in loop.entries]


async def _stop(loop: _Loop, decision: Decision) -> Outcome:
    answer, response = await probes.forced_answer(
        loop.ledger, tuple(loop.entries), loop.setting.protocol, Role.AGENT
    )
    loop.responses.append(response)
    if not answer:
        return Outcome(success=False, reason=f"{decision.reason}; the forced answer was empty")
    loop.entries.append(Entry(Message("assistant", response.text)))
    return _graded(loop, answer, decision.reason)


def _graded(loop: _Loop, answer: str, reason: str) -> Outcome:
    right = loop.setting.grade(answer, loop.world.question.answer)
    return Outcome(success=right, answer=answer, reason=reason)


async def _act(loop: _Loop, turn: Turn, response: Response) -> Outcome | None:
    """Carry out one turn; return the outcome if it ended the episode."""
    setting, t = loop.setting, len(loop.observations) + 1
    loop.responses.append(response)
    loop.entries.append(Entry(Message("assistant", response.text, response.calls)))
    loop.thoughts.append(turn.thought)
    if response.truncated:
        return Outcome(success=False, reason="the turn was cut off by the limit of tokens")
    if len(turn.actions) + (turn.answer is not None) > 1:
        return Outcome(success=False, reason="several actions in one turn")
    if turn.answer is not None:
        return _graded(loop, turn.answer, "the agent answered")
    if not turn.actions:
        return Outcome(success=False, reason="no action in the turn")
    tool, argument = turn.actions[0]
    if tool not in setting.protocol.tools(loop.world.tools):
        return Outcome(success=False, reason=f"a call of {tool}, which was not offered")
    loop.world, observation = loop.world.act(tool, argument)
    loop.actions.append((tool, argument))
    loop.observations.append(observation)
    message = setting.protocol.observed(observation.text, response)
    loop.entries.append(Entry(message))
    loop.cuts.append(len(loop.entries))
    if t == setting.budget:
        return Outcome(success=False, reason="the budget was used up without an answer")
    if setting.arm.live(setting.policy):
        loop.judged[t] = await probes.verdict(loop.ledger, tuple(loop.entries), setting.judge)
        loop.run = run_length(loop.run, loop.judged[t])
    below = _below(loop, setting.budget - t)
    if below:
        loop.entries[-1] = Entry(message, below)
    return None


def _below(loop: _Loop, left: int) -> str:
    lines = []
    if loop.setting.arm.remaining:
        lines.append(prompts.REMAINING.format(left=left))
    if loop.setting.arm.run:
        lines.append(prompts.RUN.format(run=loop.run))
    return "\n".join(lines)


async def _steps(loop: _Loop, outcome: Outcome) -> list[SearchStep]:
    """Return the recorded steps; asks the probes that are replayed on the finished episode."""
    answered = outcome.answer is not None
    taken = len(loop.observations)
    last = taken if answered else taken - 1  # a decision follows every observation but the last
    steps = [
        SearchStep(
            t=t,
            action=action,
            arguments=argument,
            result=observation.text,
            verdicts=_verdicts(loop, t, observation),
            usage=_cost(loop.responses[t - 1]),
            thought=loop.thoughts[t - 1],
        )
        for t, ((action, argument), observation) in enumerate(
            zip(loop.actions, loop.observations, strict=True), start=1
        )
    ]
    # From the last decision point to the first: each history is then the beginning of the one
    # before, and a server with a prefix cache reads no result twice.
    for t in range(last, 0, -1):
        steps[t - 1] = await _probed(loop, steps[t - 1])
    if answered:
        usage = _cost(loop.responses[-1])
        steps.append(
            SearchStep(t=taken + 1, action="answer", arguments=outcome.answer, usage=usage)
        )
    return steps


async def _probed(loop: _Loop, step: SearchStep) -> SearchStep:
    record, ledger = loop.setting.record, loop.ledger
    history = tuple(loop.entries[: loop.cuts[step.t - 1]])
    if record is Record.NONE:
        return step
    if step.t not in loop.judged:
        loop.judged[step.t] = await probes.verdict(ledger, history, loop.setting.judge)
    verdicts = {**step.verdicts, "side_channel": loop.judged[step.t]}
    step = replace(step, verdicts=verdicts)
    if record is Record.VERDICTS:
        return step
    said = await probes.beliefs(ledger, history) if record is Record.FULL else None
    answer, _ = await probes.forced_answer(ledger, history, loop.setting.protocol, Role.BRANCH)
    right = bool(answer) and loop.setting.grade(answer, loop.world.question.answer)
    branch = AnswerNow(answer=answer or None, success=right)
    return replace(step, beliefs=said, answer_now=branch)


def _verdicts(loop: _Loop, t: int, observation: Observation) -> dict[str, Verdict]:
    thought = loop.thoughts[t] if t < len(loop.thoughts) else None
    seen = SignalStep(loop.world.question.text, (observation.text,), (), thought, t)
    given = {
        "lexical": Lexical(loop.setting.tuned.threshold).judge(seen),
        "stated": Stated().judge(seen),
        TRUTH: _TRUTH.get(observation.origin, Verdict.UNJUDGED),
    }
    if t in loop.judged:
        given = {"side_channel": loop.judged[t], **given}
    if loop.setting.arm.signal == "random":
        given["random"] = _signal(loop).judge(seen)
    return given


def _cost(response: Response) -> Usage:
    return Usage(1, response.input_tokens, response.output_tokens)


def _episode(loop: _Loop, steps: list[SearchStep], outcome: Outcome) -> SearchEpisode:
    setting, question, regime = loop.setting, loop.world.question, loop.world.regime
    return SearchEpisode(
        episode_id=f"{question.question_id}/{regime}/{setting.arm.name}/{setting.seed}",
        cluster_id=question.question_id,
        question_id=question.question_id,
        regime=regime,
        model=setting.model,
        arm=setting.arm.name,
        seed=setting.seed,
        outcome=outcome,
        usage=loop.ledger.total(),
        usage_by_role=loop.ledger.by_role(),
        plan=setting.plan,
        budget=setting.budget,
        steps=steps,
    )
