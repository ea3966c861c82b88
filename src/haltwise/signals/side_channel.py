"""The side channel: a model is asked about the newest result, on a copy of the conversation.

The question and the reply never enter the agent's own history. How a model is reached is the
caller's affair: `SideChannel` takes an async function from the question to the reply. A verdict is
kept under a hash of the step's content, so that a step is asked about once however often its
history comes by; a failure, a timeout or a spent budget leaves the step unjudged.
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from hashlib import blake2b

from ..core.errors import ParameterError
from ..core.events import Verdict
from .protocol import SignalStep

Ask = Callable[[str], Awaitable[str]]
"""Appends the given text to a copy of the conversation, as a user turn, and returns the reply."""

PROMPT = (
    "Leave the task aside for a moment and look only at what the last tool call returned. "
    "Does it contain anything that helps to answer the question? Reply with one word: yes or no."
)
"""Asked as yes or no on purpose: small models answer a choice of labels always the same way."""

_REPLY = re.compile(r"^\W*(?:answer\W+)?(yes|no)\b", re.IGNORECASE)
_THINKING = re.compile(r"^\s*<think>.*?</think>", re.DOTALL | re.IGNORECASE)


class SideChannel:
    """Verdicts from a model, remembered. Pure to look at (`judge`), async to fill (`ask`).

    Attributes:
        asked: questions put to the model so far.
        failed: those that brought no reply.
    """

    name = "side_channel"

    def __init__(self, *, timeout: float = 20.0, budget: int | None = None, size: int = 10_000):
        """Prepare an empty memory.

        Args:
            timeout: seconds to wait for one reply, above 0.
            budget: questions allowed in all; None for no limit.
            size: verdicts remembered; the least recently used one goes first.

        Raises:
            ParameterError: a value is out of range.
        """
        if not timeout > 0:
            raise ParameterError(f"side channel: timeout is above 0 seconds; got {timeout!r}")
        if budget is not None and budget < 0:
            raise ParameterError(f"side channel: budget is a number from 0; got {budget!r}")
        if size < 1:
            raise ParameterError(f"side channel: size is at least 1; got {size!r}")
        self.timeout, self.budget, self.size = timeout, budget, size
        self.asked = self.failed = 0
        self._known: OrderedDict[bytes, Verdict] = OrderedDict()
        self._asking: dict[bytes, asyncio.Future[Verdict]] = {}

    def judge(self, step: SignalStep) -> Verdict:
        """Return the verdict that is known of this step, else unjudged."""
        return self._recall(step_key(step)) or Verdict.UNJUDGED

    async def ask(self, step: SignalStep, ask: Ask, *, newest: bool = True) -> Verdict:
        """Return the verdict on ``step``; ask the model unless it is known already.

        A step that is not the ``newest`` one is named in the question by its calls. Requests that
        ask about the same step at the same time share one question.
        """
        key = step_key(step)
        known = self._recall(key)
        if known is not None:
            return known
        running = self._asking.get(key)
        if running is not None:
            return await asyncio.shield(running)
        if self.budget is not None and self.asked >= self.budget:
            return Verdict.UNJUDGED
        self.asked += 1
        future = asyncio.get_running_loop().create_future()
        self._asking[key] = future
        verdict = Verdict.UNJUDGED
        try:
            async with asyncio.timeout(self.timeout):
                verdict = verdict_of(await ask(PROMPT if newest else _naming(step)))
            self._remember(key, verdict)
        except Exception:
            self.failed += 1
        finally:
            del self._asking[key]
            future.set_result(verdict)
        return verdict

    def _recall(self, key: bytes) -> Verdict | None:
        verdict = self._known.get(key)
        if verdict is not None:
            self._known.move_to_end(key)
        return verdict

    def _remember(self, key: bytes, verdict: Verdict) -> None:
        self._known[key] = verdict
        if len(self._known) > self.size:
            self._known.popitem(last=False)


def verdict_of(reply: str) -> Verdict:
    """Return useful for "yes", useless for "no", unknown for anything else."""
    match = _REPLY.match(_THINKING.sub("", reply))
    if match is None:
        return Verdict.UNKNOWN
    return Verdict.USEFUL if match[1].lower() == "yes" else Verdict.USELESS


def _naming(step: SignalStep) -> str:
    calls = " and ".join(call[:300] for call in step.calls) or "an earlier tool call"
    return PROMPT.replace("the last tool call", calls)


def step_key(step: SignalStep) -> bytes:
    """Return the hash of a step's content: its question, calls and results."""
    digest = blake2b(digest_size=16)
    for text in (step.question, *step.calls, "", *step.results):
        digest.update(text.encode("utf-8", "surrogatepass"))
        digest.update(b"\x00")
    return digest.digest()
