"""The decision on one request, and the memories that make it quick. No network here."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from ..core.events import Verdict
from ..enforce import (
    Assessment,
    Dialect,
    How,
    Message,
    VerdictMemory,
    assess,
    read_loop,
    signal_step,
)
from ..enforce.dialects import Body
from ..signals.protocol import SignalStep
from ..signals.side_channel import Ask, SideChannel
from ..signals.stated import Stated
from .settings import Settings

_ASKED_AT_ONCE = 8
_SHORTEST = 40


class Judge:
    """Decides for one gateway. What it remembers changes speed, with one exception: answers that
    this process has forced itself are recognised without a mark (`Settings.mark_forced` does so
    across processes).
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        asks = isinstance(settings.signal, SideChannel)
        self.memory = None if asks else VerdictMemory()
        """What is known of the steps seen; None for a signal with a memory of its own."""
        self._forced: OrderedDict[int, None] = OrderedDict()
        self._ways: OrderedDict[tuple[str, str], How] = OrderedDict()
        self.late = isinstance(settings.signal, Stated)
        """Whether verdicts arrive with the reply, so that replies may have to be held."""

    async def assess(
        self,
        dialect: Dialect,
        body: Body,
        ask: Callable[[Body], Awaitable[str]],
    ) -> tuple[list[Message], Assessment]:
        """Return the conversation and what the policy says of it.

        Args:
            dialect: how the request is written.
            body: the request.
            ask: sends a request of the judge's own and returns the text of the reply.

        Raises:
            InputError: the history cannot be read.
        """
        messages = dialect.read(body)
        signal = self._settings.signal
        if isinstance(signal, SideChannel):
            await self._ask(signal, messages, lambda text: ask(dialect.question(body, text)))
        return messages, self._assess(messages)

    def _assess(self, messages: list[Message]) -> Assessment:
        settings = self._settings
        return assess(
            messages,
            settings.policy,
            settings.signal,
            exempt=settings.exempt,
            is_forced=self.is_forced if self._forced else None,
            memory=self.memory,
        )

    async def _ask(self, signal: SideChannel, messages: list[Message], ask: Ask) -> None:
        loop = read_loop(messages, self._settings.exempt)
        steps = [
            signal_step(step, loop.question, t, self.is_forced)
            for t, step in enumerate(loop.steps, 1)
        ]
        open_steps = [
            (step, step is steps[-1])
            for step in steps
            if step.results and signal.judge(step) is Verdict.UNJUDGED
        ]
        await asyncio.gather(
            *[signal.ask(step, ask, newest=newest) for step, newest in open_steps[-_ASKED_AT_ONCE:]]
        )

    def unjudged(self, found: Assessment) -> int:
        """Return how many steps have no verdict, if none of a loop has one; else 0.

        A verdict that comes with the next reply is no missing one: the newest step is left out.
        """
        due = self._due(found)
        return len(due) if all(verdict is Verdict.UNJUDGED for verdict in due) else 0

    def newest_unjudged(self, found: Assessment) -> bool:
        """Return whether the newest verdict that could be there is missing."""
        return self._due(found)[-1:] == (Verdict.UNJUDGED,)

    def _due(self, found: Assessment) -> tuple[Verdict, ...]:
        verdicts = found.verdicts
        if self.late and found.loop.steps and found.loop.steps[-1].thought is None:
            return verdicts[:-1]
        return verdicts

    def may_stop(self, messages: list[Message]) -> bool:
        """Return whether a useless verdict on the newest result would fire the rule."""
        settings = self._settings
        return assess(
            messages,
            settings.policy,
            _Pessimist(),
            exempt=settings.exempt,
            is_forced=self.is_forced,
        ).decision.stops

    def after_reply(self, messages: list[Message], text: str) -> Assessment:
        """Return the decision once the agent has written ``text`` about the newest result."""
        return self._assess([*messages, Message("assistant", text)])

    def is_forced(self, text: str) -> bool:
        """Return whether ``text`` is an answer that was forced here lately."""
        return len(text) >= _SHORTEST and hash(text.strip()) in self._forced

    def remember_forced(self, text: str) -> None:
        """Remember a forced answer. Short ones are not: equal short answers are no evidence."""
        if len(text.strip()) >= _SHORTEST:
            self._forced[hash(text.strip())] = None
            if len(self._forced) > 10_000:
                self._forced.popitem(last=False)

    def way(self, dialect: Dialect, model: object) -> How:
        """Return how tools are switched off for a model."""
        return self._ways.get((dialect.name, str(model)), dialect.default)

    def learn_way(self, dialect: Dialect, model: object, how: How) -> None:
        """Remember the way that a model accepts."""
        self._ways[dialect.name, str(model)] = how
        if len(self._ways) > 1000:
            self._ways.popitem(last=False)


@dataclass(frozen=True)
class _Pessimist:
    """The stated signal, with the newest result taken as useless."""

    stated: Stated = field(default_factory=Stated)
    name = "pessimist"

    def judge(self, step: SignalStep) -> Verdict:
        return Verdict.USELESS if step.thought is None else self.stated.judge(step)
