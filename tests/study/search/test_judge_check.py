"""The judge's wording is chosen on labelled results, and what was tried is kept."""

from __future__ import annotations

import asyncio

import pytest

from haltwise.study.search import prompts
from haltwise.study.search.conversation import Request
from haltwise.study.search.judge_check import check, judge_of
from haltwise.study.search.plan import Plan
from haltwise.study.search.probes import Wording
from haltwise.study.search.protocols import Response
from haltwise.study.search.tasks import load_task

TASK = load_task("bundled")
PLAN = Plan("any", "bundled", ("unaided",), ("clean",), split=None)
SUPPORTING = {
    question.text: {
        f"{page.title}: {page.text}"
        for page in question.pages
        if page.title in question.supporting_titles
    }
    for question in TASK.questions
}


def judge(understood: set[Wording], lean: float = 0.0) -> object:
    """Return a model that judges right in the wordings it understands, else says yes to all."""

    async def ask(request: Request) -> Response:
        text = request.history[-1].message.text
        apart = request.history[0].message.text == prompts.JUDGE_APART
        question = next(q for q in SUPPORTING if q in text)
        right = any(page in text for page in SUPPORTING[question])
        clear = (Wording.APART if apart else Wording.COPY) in understood
        yes = (0.6 if right else 0.4) + lean if clear else 0.9
        return Response(text="yes" if yes >= 0.5 else "no", yes=yes)

    return ask


@pytest.mark.parametrize(
    ("understood", "chosen", "tried"),
    [
        ({Wording.COPY, Wording.APART}, "copy", ["copy"]),
        ({Wording.APART}, "apart", ["copy", "apart"]),
        (set(), "copy", ["copy", "apart"]),
    ],
)
def test_the_wording_that_is_understood_is_chosen(
    understood: set[Wording], chosen: str, tried: list[str]
) -> None:
    """The copy is kept where it works, question and result apart are tried where it does not."""
    document = asyncio.run(check(PLAN, TASK, judge(understood)))  # type: ignore[arg-type]
    assert document["wording"] == chosen
    assert list(document["tried"]) == tried
    assert judge_of(document).wording == chosen


def test_a_model_that_leans_to_yes_gets_a_threshold() -> None:
    """P(yes) of .9 against .7: as worded everything is useful, at the threshold all are right."""
    document = asyncio.run(check(PLAN, TASK, judge({Wording.COPY}, lean=0.3)))  # type: ignore[arg-type]
    found = document["tried"]["copy"]
    assert 0.7 < document["threshold"] <= 0.9
    assert found["as_worded"] == {"useful_on_supporting": 20, "useless_on_foreign": 0}
    assert found["at_threshold"] == {"useful_on_supporting": 20, "useless_on_foreign": 20}
