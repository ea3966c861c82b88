"""The decision, recomputed from the messages of one request. Pure: nothing is kept in between.

Every chat request carries its whole history, so the state of the policy is a function of the
messages. Gateway and adapters hold no sessions, survive restarts and stand behind any load
balancer. The only memory is a cache of verdicts (`VerdictMemory`), which changes speed alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..core.belief import run_length
from ..core.decision import CONTINUE, Decision
from ..core.errors import ParameterError
from ..core.events import Verdict
from ..core.observation import SearchObservation, fingerprint
from ..core.policy import Policy, State
from ..signals.protocol import Signal, SignalStep, combined
from .history import Loop, Step, read_loop
from .messages import Message
from .refusals import settled

_Known = tuple[State, Decision, int, Verdict]


class VerdictMemory:
    """What is known after each step of the histories seen, by content; old entries are forgotten.

    For one policy and one signal. Not for a signal whose verdict on a step may change, such as
    the side channel, which has a memory of its own. A key is a hash of everything up to the step:
    hashing is the whole cost of a step that is known. Two generations stand in for an exact order
    of use: it costs half of moving every entry at every look.
    """

    __slots__ = ("_old", "_young", "size")

    def __init__(self, size: int = 50_000) -> None:
        """Start empty; ``size`` is the number of steps kept at most, at least 2."""
        if size < 2:
            raise ParameterError(f"verdict memory: size is at least 2; got {size!r}")
        self.size = size
        self._young: dict[int, _Known] = {}
        self._old: dict[int, _Known] = {}

    def __len__(self) -> int:
        return len(self._young) + len(self._old)

    def get(self, key: int) -> _Known | None:
        """Return what is known under ``key``; it stays among the young."""
        known = self._young.get(key)
        if known is None:
            known = self._old.pop(key, None)
            if known is not None:
                self.put(key, known)
        return known

    def put(self, key: int, known: _Known) -> None:
        """Remember what is known after a step."""
        if len(self._young) >= self.size // 2:
            self._old, self._young = self._young, {}
        self._young[key] = known


@dataclass(frozen=True, slots=True)
class Assessment:
    """A decision with everything that was read on the way to it."""

    decision: Decision
    run: int
    """Useless results in a row at the end, as METHODS section 1 counts them."""
    loop: Loop
    verdicts: tuple[Verdict, ...]
    """One per step of the loop."""

    @property
    def trimmed(self) -> str | None:
        """Why the count may be too low; None where the history looks complete."""
        return self.loop.trimmed


def decide(
    messages: Sequence[Message],
    policy: Policy,
    signal: Signal,
    *,
    exempt: frozenset[str] = frozenset(),
    is_forced: Callable[[str], bool] | None = None,
    memory: VerdictMemory | None = None,
) -> Decision:
    """Return what the policy says of the loop that the newest messages belong to.

    Args:
        messages: the whole conversation, oldest first.
        policy: a rule for search loops.
        signal: judges the results.
        exempt: tools whose calls neither count nor reset.
        is_forced: recognises unmarked forced answers of sub-agents among the results.
        memory: remembers what was known between requests; changes speed alone.
    """
    return assess(
        messages, policy, signal, exempt=exempt, is_forced=is_forced, memory=memory
    ).decision


def assess(
    messages: Sequence[Message],
    policy: Policy,
    signal: Signal,
    *,
    exempt: frozenset[str] = frozenset(),
    is_forced: Callable[[str], bool] | None = None,
    memory: VerdictMemory | None = None,
) -> Assessment:
    """Return the decision of `decide` together with the loop and its verdicts."""
    loop = read_loop(messages, exempt)
    state, decision, run = policy.initial(), CONTINUE, 0
    verdicts: list[Verdict] = []
    key = hash(loop.question)
    for step in loop.steps:
        key = hash((key, step))
        known = None if memory is None else memory.get(key)
        if known is None:
            verdict = _judge(step, loop.question, len(verdicts) + 1, signal, is_forced)
            seen = SearchObservation(verdict, _fingerprint(step))
            run = run_length(run, verdict)
            state, decision = policy.step(state, seen)
            if memory is not None:
                memory.put(key, (state, decision, run, verdict))
        else:
            state, decision, run, verdict = known
        verdicts.append(verdict)
    return Assessment(decision, run, loop, tuple(verdicts))


def signal_step(
    step: Step,
    question: str,
    t: int,
    is_forced: Callable[[str], bool] | None = None,
) -> SignalStep:
    """Return ``step`` as a signal sees it; results that need no signal are left out."""
    left = [r for r in step.results if settled(r.text, r.failed, is_forced) is None]
    return SignalStep(
        question,
        tuple([result.text for result in left]),
        tuple([str(result.call) for result in left if result.call is not None]),
        step.thought,
        t,
    )


def _judge(
    step: Step,
    question: str,
    t: int,
    signal: Signal,
    is_forced: Callable[[str], bool] | None,
) -> Verdict:
    given = [settled(result.text, result.failed, is_forced) for result in step.results]
    verdicts = [verdict for verdict in given if verdict is not None]
    if len(verdicts) < len(given):
        verdicts.append(signal.judge(signal_step(step, question, t, is_forced)))
    return combined(verdicts)


def _fingerprint(step: Step) -> str:
    results = step.results
    if len(results) == 1:
        call = results[0].call
        return fingerprint("" if call is None else f"{call[1]}({call[2]})", results[0].text)
    return fingerprint(
        "\n".join([str(result.call or "") for result in results]),
        "\n".join([result.text for result in results]),
    )
