"""The agent's own history, and requests made from it. Append-only; probes get copies.

What is under a result (actions left, run of useless results) is kept apart from the result itself,
so that a signal judges the result and the agent reads both. Knows nothing of model APIs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum

from ...core.events import Usage
from ...enforce.messages import Message
from .protocols import Response


class Role(StrEnum):
    """On whose account a call to the model goes."""

    AGENT = "agent"
    """The agent's own turns, the forced answer included."""
    REGENERATION = "regeneration"
    """A turn that was thrown away because the rule fired on what it said."""
    JUDGE = "judge"
    """Side-channel verdicts."""
    PROBE = "probe"
    """Belief probes."""
    BRANCH = "branch"
    """Answer-now branches."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One message of the history."""

    message: Message
    below: str = ""
    """What the arm adds under a result; the agent reads it, signals do not."""


@dataclass(frozen=True, slots=True)
class Request:
    """One call to a model."""

    role: Role
    history: tuple[Entry, ...]
    """The conversation: a tuple, so that nobody can change the agent's own."""
    tools: tuple[str, ...] = ()
    """Tools that may be called; none where the answer is forced and in probes."""
    max_tokens: int = 400
    stop: tuple[str, ...] = ()
    """Texts at which generation ends."""
    grammar: str | None = None
    """GBNF that a model too small to keep to the form may be bound to."""
    yes_no: bool = False
    """Whether the probability of "yes" is wanted, where the model can tell it."""


Ask = Callable[[Request], Awaitable[Response]]
"""Sends a request to a model."""


class Ledger:
    """Adds up what each role cost. Mutable; one per episode."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._sums: dict[Role, list[int]] = {}

    async def ask(self, request: Request, role: Role | None = None) -> Response:
        """Send a request and put its cost on the account of its role."""
        response = await self._ask(request)
        self.add(role or request.role, response)
        return response

    def add(self, role: Role, response: Response, sign: int = 1) -> None:
        """Put one call on an account; ``sign=-1`` takes it off again."""
        sums = self._sums.setdefault(role, [0, 0, 0])
        sums[0] += sign
        sums[1] += sign * (response.input_tokens or 0)
        sums[2] += sign * (response.output_tokens or 0)

    def by_role(self) -> dict[str, Usage]:
        """Return the cost by role."""
        return {role.value: Usage(*sums) for role, sums in self._sums.items() if sums[0]}

    def total(self) -> Usage:
        """Return the cost of all roles together."""
        columns = zip(*self._sums.values(), strict=True) if self._sums else [(0,), (0,), (0,)]
        return Usage(*(sum(column) for column in columns))
