"""Is the judge's wording understood? Asked on labelled pairs before a study; kept with it.

A small model may answer one wording right 19 times of 20 and another one always the same. Each
question of the dev split gives conversations that differ in the result alone: pages that support
the answer, and pages of other questions. Where the model tells P(yes), the check also sets the
threshold at which a yes counts, since a small model leans to one word whatever it reads.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ...core.events import Verdict
from ...enforce.messages import Call, Message
from ...signals.side_channel import verdict_of
from . import probes, prompts
from .conversation import Ask, Entry, Ledger
from .plan import Plan
from .protocols import PROTOCOLS, Response
from .question import Page, Question, Task
from .regimes import world

PAIRS = 10
"""Questions that are asked about, each with its supporting pages and as many foreign ones."""


@dataclass(frozen=True, slots=True)
class Checked:
    """How the judge did on labelled results."""

    supporting: tuple[float, ...]
    """P(yes) on each supporting page; 1 or 0 where the model tells only the word."""
    foreign: tuple[float, ...]
    """P(yes) on each page of another question."""

    @property
    def threshold(self) -> float:
        """P(yes) from which a result counts as useful: the best balanced accuracy here.

        Half-way between two values that were seen; .5, which is the word itself, if nothing is
        better. It is chosen on dev questions and measured on the study's own results.
        """
        seen = sorted({*self.supporting, *self.foreign, 0.0, 1.0})
        middles = [(low + high) / 2 for low, high in pairwise(seen)]
        return max((0.5, *middles), key=self.balanced)

    def balanced(self, threshold: float) -> float:
        """Return the mean of the shares that are right on supporting and on foreign pages."""
        useful = sum(p >= threshold for p in self.supporting) / len(self.supporting)
        useless = sum(p < threshold for p in self.foreign) / len(self.foreign)
        return (useful + useless) / 2

    def to_json(self, model: str) -> dict[str, Any]:
        """Return the document that the study keeps."""
        return {
            "schema": "haltwise.judge-check/1",
            "model": model,
            "prompt": prompts.JUDGE,
            "threshold": self.threshold,
            "results": len(self.supporting),
            "at_threshold": self._rates(self.threshold),
            "as_worded": self._rates(0.5),
            "p_yes_supporting": list(self.supporting),
            "p_yes_foreign": list(self.foreign),
        }

    def _rates(self, threshold: float) -> dict[str, int]:
        return {
            "useful_on_supporting": sum(p >= threshold for p in self.supporting),
            "useless_on_foreign": sum(p < threshold for p in self.foreign),
        }


async def check(plan: Plan, task: Task, ask: Ask, *, pairs: int = PAIRS) -> Checked:
    """Ask for verdicts on labelled results from the dev split (the whole task if it is empty)."""
    questions = task.part("dev", pairs) or task.part(None, pairs)
    ledger = Ledger(ask)
    supporting, foreign = [], []
    for question in questions:
        titles = question.supporting_titles
        helpful = [page for page in question.pages if page.title in titles]
        other = world(question, "persistent", task.questions, seed=plan.seed).misleading
        for good, bad in zip(helpful, other, strict=False):
            supporting.append(await _asked(plan, task, question, good, ledger))
            foreign.append(await _asked(plan, task, question, bad, ledger))
    return Checked(tuple(supporting), tuple(foreign))


async def _asked(plan: Plan, task: Task, question: Question, page: Page, ledger: Ledger) -> float:
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
    said = await probes.asked(
        ledger,
        (
            Entry(Message("system", system)),
            Entry(Message("user", question.text)),
            Entry(Message("assistant", response.text, response.calls)),
            Entry(protocol.observed(f"{page.title}: {page.text}", response)),
        ),
    )
    return float(verdict_of(said.text) is Verdict.USEFUL) if said.yes is None else said.yes


def _searched(protocol: str, query: str) -> Response:
    thought = "I look for the subject first."
    if protocol == "native":
        return Response(thought, (Call("call-1", "search", '{"query": "subject"}'),))
    if protocol == "search-r1":
        return Response(f"<think>{thought}</think><search>{query}</search>")
    return Response(f"Thought: {thought}\nAction: search[{query}]")
