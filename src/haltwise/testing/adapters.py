"""The contract that every adapter and every gateway route keeps, as one check.

An adapter is tried on a stub model that would search for ever. Under the rule of k = 5 useless
results there are exactly five tool steps, then a non-empty final answer; the model was never sent
an invalid history; nothing runs after the stop. CASES, C.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .conversations import QUESTION, USELESS
from .stub_models import ANSWER, MODES, StubServer

K = 5
"""Useless results at which the rule of the check fires."""
POLICY = f"streak({K})"
"""The rule that the adapter is to be given."""


@dataclass
class Search:
    """The tool of the check: counts its runs and never finds anything."""

    runs: int = 0
    """How often it was run."""
    queries: list[str] = field(default_factory=list)

    def __call__(self, query: str = "") -> str:
        """Search the web.

        Args:
            query: what to look for.
        """
        self.runs += 1
        self.queries.append(query)
        return USELESS


Runner = Callable[[str, str, Search], Any]
"""Takes base URL, question and tool; runs an agent to its end and returns the final answer.

May be a coroutine function. The base URL has no path: "http://127.0.0.1:1234".
"""


@dataclass(frozen=True)
class AdapterRun:
    """What one agent did."""

    mode: str
    runs: int
    """Tool runs."""
    answer: Any
    """The final answer."""
    requests: int
    """Requests that reached the model."""


async def check_adapter(
    run: Runner,
    *,
    modes: Sequence[str] = MODES,
    through: Callable[[str], Any] | None = None,
    refused: int = 1,
) -> list[AdapterRun]:
    """Try ``run`` on every mode and return what happened; raise AssertionError where it failed.

    Args:
        run: runs one agent, with the adapter under ``POLICY``.
        modes: modes of `StubServer` to try.
        through: takes the stub's URL and gives an async context manager with the URL that the
            agent is to use instead: a gateway in between.
        refused: requests that the model may refuse in mode "strict" before the adapter has found
            the form that it takes.
    """
    done = []
    for mode in modes:
        with StubServer(mode) as stub:
            search = Search()
            if through is None:
                answer = await _called(run, stub.url, search)
            else:
                async with through(stub.url) as url:
                    answer = await _called(run, url, search)
            found = AdapterRun(mode, search.runs, answer, len(stub.requests))
            _check(found, stub, refused if mode == "strict" else 0)
            done.append(found)
    return done


async def _called(run: Runner, url: str, search: Search) -> Any:
    result = run(url, QUESTION, search)
    return await result if isinstance(result, Awaitable) or inspect.isawaitable(result) else result


def _check(found: AdapterRun, stub: StubServer, refused: int) -> None:
    steps = K * (2 if found.mode == "parallel" else 1)
    assert found.runs == steps, (
        f"{found.mode}: {steps} tool runs expected (k = {K}), there were {found.runs}"
    )
    assert found.answer and str(found.answer).strip(), f"{found.mode}: the final answer is empty"
    assert found.mode == "rogue" or ANSWER in str(found.answer), (
        f"{found.mode}: the model answered {ANSWER!r}, the agent said {found.answer!r}"
    )
    assert len(stub.complaints) <= refused, (
        f"{found.mode}: the model was sent invalid requests: {stub.complaints}"
    )
    most = K + 2 + refused
    assert found.requests <= most, (
        f"{found.mode}: at most {most} requests expected, there were {found.requests}"
    )
