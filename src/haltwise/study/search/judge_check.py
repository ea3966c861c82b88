"""Is the judge's wording understood? Asked on labelled pairs before a study; kept with it.

A small model may answer one wording right 19 times of 20 and another one always the same. Each
question of the dev split gives two conversations that differ in the result alone: a page that
supports the answer, and a page of another question.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...core.events import Verdict
from ...enforce.messages import Call, Message
from . import probes, prompts
from .conversation import Ask, Entry, Ledger
from .plan import Plan
from .protocols import PROTOCOLS, Response
from .question import Page, Question, Task
from .regimes import world

PAIRS = 10
"""Questions that are asked about, each with a supporting and a foreign page."""


@dataclass(frozen=True, slots=True)
class Checked:
    """How the judge did on labelled pairs."""

    useful: int
    """Supporting pages that it called useful."""
    useless: int
    """Foreign pages that it called useless."""
    pairs: int
    calls: int
    """Calls to the model."""

    def to_json(self, model: str) -> dict[str, Any]:
        """Return the document that the study keeps."""
        return {
            "schema": "haltwise.judge-check/1",
            "model": model,
            "prompt": prompts.JUDGE,
            "pairs": self.pairs,
            "useful_on_supporting_pages": self.useful,
            "useless_on_foreign_pages": self.useless,
        }


async def check(plan: Plan, task: Task, ask: Ask, *, pairs: int = PAIRS) -> Checked:
    """Ask for verdicts on labelled pairs from the dev split (the whole task if it is empty)."""
    questions = task.part("dev", pairs) or task.part(None, pairs)
    ledger = Ledger(ask)
    useful = useless = 0
    for question in questions:
        titles = question.supporting_titles
        supporting = next(page for page in question.pages if page.title in titles)
        foreign = world(question, "persistent", task.questions, seed=plan.seed).misleading[0]
        useful += await _asked(plan, task, question, supporting, ledger) is Verdict.USEFUL
        useless += await _asked(plan, task, question, foreign, ledger) is Verdict.USELESS
    return Checked(useful, useless, len(questions), 2 * len(questions))


async def _asked(plan: Plan, task: Task, question: Question, page: Page, ledger: Ledger) -> Verdict:
    protocol = PROTOCOLS[plan.protocol]
    system = prompts.system(
        protocol.template,
        kind=task.kind,
        tools=protocol.tools(("search", "lookup")),
        memory=False,
        extra=(),
    )
    query = next(page.title for page in question.pages if page.title in question.supporting_titles)
    response = _searched(protocol.name, query)
    return await probes.verdict(
        ledger,
        (
            Entry(Message("system", system)),
            Entry(Message("user", question.text)),
            Entry(Message("assistant", response.text, response.calls)),
            Entry(protocol.observed(f"{page.title}: {page.text}", response)),
        ),
    )


def _searched(protocol: str, query: str) -> Response:
    thought = "I look for the subject first."
    if protocol == "native":
        return Response(thought, (Call("call-1", "search", '{"query": "subject"}'),))
    if protocol == "search-r1":
        return Response(f"<think>{thought}</think><search>{query}</search>")
    return Response(f"Thought: {thought}\nAction: search[{query}]")
