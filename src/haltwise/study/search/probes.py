"""Questions put on a copy of the conversation. The agent never sees them or what was said.

METHODS section 1, "Verdict sources" and "Belief probe". A probe is a request whose history is the
agent's history, cut at a decision point, with one user turn more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain

from ...core.events import Verdict
from ...enforce.messages import Message
from ...record.episode import Beliefs
from ...signals.side_channel import verdict_of
from . import prompts
from .conversation import Entry, Ledger, Request, Role
from .protocols import Protocol, Response

YES_NO = 'root ::= "yes" | "no"'
NUMBERS = (
    'root ::= "now=" percent " later=" percent " useful=" [1-5]\npercent ::= "100" | [0-9] [0-9]?'
)
_BELIEF = re.compile(
    r"now\s*=\s*(\d+(?:\.\d+)?)\D+?later\s*=\s*(\d+(?:\.\d+)?)\D+?useful\s*=\s*(\d)", re.IGNORECASE
)


class Wording(StrEnum):
    """How the side channel is asked."""

    COPY = "copy"
    """On a copy of the conversation: what METHODS asks for, and what a model judges best that can
    follow a conversation."""
    APART = "apart"
    """Question and result alone, after examples."""


@dataclass(frozen=True, slots=True)
class Judge:
    """The side channel of a study, as its check on labelled results left it."""

    wording: Wording = Wording.COPY
    threshold: float = 0.5
    """P(yes) from which a result is useful, where the model tells it; else the word counts."""

    def verdict(self, response: Response) -> Verdict:
        """Return what the judge's reply says."""
        if response.yes is not None:
            return Verdict.USEFUL if response.yes >= self.threshold else Verdict.USELESS
        return verdict_of(response.text)


async def verdict(ledger: Ledger, history: tuple[Entry, ...], judge: Judge) -> Verdict:
    """Ask whether the last result was useful."""
    return judge.verdict(await asked(ledger, history, judge.wording))


async def asked(ledger: Ledger, history: tuple[Entry, ...], wording: Wording) -> Response:
    """Return the judge's reply on the last result of ``history``."""
    question, result = _task(history), history[-1].message.text
    if wording is Wording.APART:
        turns = (*_EXAMPLES, _user(prompts.JUDGE_ITEM.format(question=question, result=result)))
    else:
        turns = (*history, _user(prompts.JUDGE.format(question=question, result=result)))
    request = Request(Role.JUDGE, turns, max_tokens=8, grammar=YES_NO, yes_no=True)
    return await ledger.ask(request)


async def beliefs(ledger: Ledger, history: tuple[Entry, ...]) -> Beliefs | None:
    """Ask for the agent's chances and the usefulness of the last result; None if unreadable."""
    request = Request(Role.PROBE, (*history, _user(prompts.BELIEF)), max_tokens=40, grammar=NUMBERS)
    return read_beliefs((await ledger.ask(request)).text)


def read_beliefs(text: str) -> Beliefs | None:
    """Return the three numbers in a reply, or None where they are not there or out of range."""
    match = _BELIEF.search(text)
    if match is None:
        return None
    now, later, useful = float(match[1]) / 100, float(match[2]) / 100, int(match[3])
    if not (0 <= now <= 1 and 0 <= later <= 1 and 1 <= useful <= 5):
        return None
    return Beliefs(answer_now=now, search_on=later, usefulness=useful)


async def forced_answer(
    ledger: Ledger, history: tuple[Entry, ...], protocol: Protocol, role: Role
) -> tuple[str, Response]:
    """Demand the answer with every tool gone; asked once more where the reply holds none.

    Returns the answer (empty where the model gave none twice) and the last response.
    """
    demand = (*history, _user(prompts.FORCED.format(note=prompts.LAST, task=_task(history))))
    grammar = protocol.grammar((), forced=True)
    request = Request(role, demand, stop=protocol.stop, grammar=grammar)
    response = await ledger.ask(request)
    answer = protocol.forced(response)
    if not answer:
        said = Entry(Message("assistant", response.text or "(nothing)"))
        again = Request(
            role, (*demand, said, _user(prompts.AGAIN)), stop=protocol.stop, grammar=grammar
        )
        response = await ledger.ask(again)
        answer = protocol.forced(response)
    return answer, response


def _task(history: tuple[Entry, ...]) -> str:
    return next(entry.message.text for entry in history if entry.message.role == "user")


def _user(text: str) -> Entry:
    return Entry(Message("user", text))


_EXAMPLES = (
    Entry(Message("system", prompts.JUDGE_APART)),
    *chain.from_iterable(
        (
            _user(prompts.JUDGE_ITEM.format(question=prompts.EXAMPLE, result=result)),
            Entry(Message("assistant", word)),
        )
        for result, word in prompts.JUDGE_EXAMPLES
    ),
)
"""The same entries for every verdict: they are converted and read once."""
