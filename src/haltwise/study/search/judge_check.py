"""Is the judge's wording understood? Asked on labelled pairs before a study; kept with it.

A small model may answer one wording right 19 times of 20 and another one always the same. Each
question of the dev split gives conversations that differ in the result alone: pages that support
the answer, and pages of other questions. Where the model tells P(yes), the check also sets the
threshold at which a yes counts, since a small model leans to one word whatever it reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ...core.events import Verdict
from ...enforce.messages import Call, Message
from ...signals.side_channel import verdict_of
from . import probes, prompts
from .conversation import Ask, Entry, Ledger
from .plan import Plan
from .probes import Judge, Wording
from .protocols import PROTOCOLS, Response
from .quality import USEFUL_NEEDED, USELESS_NEEDED
from .question import Page, Question, Task
from .regimes import world

PAIRS = 10
"""Questions that are asked about, each with its supporting pages and as many foreign ones."""
ENOUGH = 0.9
"""Balanced accuracy at which the first wording is kept."""


@dataclass(frozen=True, slots=True)
class Checked:
    """How the judge did on labelled results in one wording."""

    supporting: tuple[float, ...]
    """P(yes) on each supporting page; 1 or 0 where the model tells only the word."""
    foreign: tuple[float, ...]
    """P(yes) on each page of another question."""

    @property
    def threshold(self) -> float:
        """P(yes) from which a result counts as useful: the best balanced accuracy here.

        Among the thresholds that pass the gate of `quality`, where one does: a judge that misses
        failed results has its figures withheld. Half-way between two values that were seen; .5,
        which is the word itself, if nothing is better. It is chosen on dev questions and measured
        on the study's own results.
        """
        seen = sorted({*self.supporting, *self.foreign, 0.0, 1.0})
        middles = [(low + high) / 2 for low, high in pairwise(seen)]
        return max((0.5, *middles), key=lambda at: (self._passes(at), self.balanced(at)))

    def _passes(self, threshold: float) -> bool:
        useful = sum(p >= threshold for p in self.supporting)
        useless = sum(p < threshold for p in self.foreign)
        return useful >= USEFUL_NEEDED * len(self.supporting) and useless >= USELESS_NEEDED * len(
            self.foreign
        )

    def balanced(self, threshold: float) -> float:
        """Return the mean of the shares that are right on supporting and on foreign pages."""
        useful = sum(p >= threshold for p in self.supporting) / len(self.supporting)
        useless = sum(p < threshold for p in self.foreign) / len(self.foreign)
        return (useful + useless) / 2

    def to_json(self) -> dict[str, Any]:
        """Return how this wording did."""
        return {
            "threshold": self.threshold,
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


async def check(plan: Plan, task: Task, ask: Ask, *, pairs: int = PAIRS) -> dict[str, Any]:
    """Ask for verdicts on labelled results and choose the wording that the model understands.

    The copy of the conversation is tried first and kept if at least `ENOUGH` of its verdicts are
    right; otherwise question and result apart are tried too, and the better wording is chosen.
    Results are from the dev split (the whole task if that is empty).

    Returns:
        the document that the study keeps, which `judge_of` reads.
    """
    results = _labelled(plan, task, pairs)
    ledger = Ledger(ask)
    tried: dict[Wording, Checked] = {}
    for wording in Wording:
        supporting, foreign = [], []
        for good, bad in results:
            supporting.append(await _asked(good, wording, ledger))
            foreign.append(await _asked(bad, wording, ledger))
        checked = tried[wording] = Checked(tuple(supporting), tuple(foreign))
        if checked.balanced(checked.threshold) >= ENOUGH:
            break
    chosen = max(tried, key=lambda wording: tried[wording].balanced(tried[wording].threshold))
    return {
        "schema": "haltwise.judge-check/2",
        "model": plan.model,
        "wording": chosen.value,
        "threshold": tried[chosen].threshold,
        "results": len(results),
        "tried": {wording.value: checked.to_json() for wording, checked in tried.items()},
    }


def judge_of(document: Mapping[str, Any]) -> Judge:
    """Return the judge that a check chose."""
    return Judge(Wording(document["wording"]), document["threshold"])


def _labelled(
    plan: Plan, task: Task, pairs: int
) -> list[tuple[tuple[Entry, ...], tuple[Entry, ...]]]:
    """Return conversations that end with a supporting page, each beside one with a foreign page."""
    found = []
    for question in task.part("dev", pairs) or task.part(None, pairs):
        titles = question.supporting_titles
        helpful = [page for page in question.pages if page.title in titles]
        other = world(question, "persistent", task.questions, seed=plan.seed).misleading
        found += [
            (_conversation(plan, task, question, good), _conversation(plan, task, question, bad))
            for good, bad in zip(helpful, other, strict=False)
        ]
    return found


def _conversation(plan: Plan, task: Task, question: Question, page: Page) -> tuple[Entry, ...]:
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
    return (
        Entry(Message("system", system)),
        Entry(Message("user", question.text)),
        Entry(Message("assistant", response.text, response.calls)),
        Entry(protocol.observed(f"{page.title}: {page.text}", response)),
    )


async def _asked(history: tuple[Entry, ...], wording: Wording, ledger: Ledger) -> float:
    said = await probes.asked(ledger, history, wording)
    return float(verdict_of(said.text) is Verdict.USEFUL) if said.yes is None else said.yes


def _searched(protocol: str, query: str) -> Response:
    thought = "I look for the subject first."
    if protocol == "native":
        return Response(thought, (Call("call-1", "search", '{"query": "subject"}'),))
    if protocol == "search-r1":
        return Response(f"<think>{thought}</think><search>{query}</search>")
    return Response(f"Thought: {thought}\nAction: search[{query}]")
