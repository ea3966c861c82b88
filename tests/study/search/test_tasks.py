"""Questions: the bundled set is sound, and every file format is read or refused by name."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from haltwise.core.errors import InputError
from haltwise.study.search.question import SPLITS
from haltwise.study.search.tasks import bundled, load_task

ROOT = Path(__file__).resolve().parents[3]
OFFICIAL = {
    "_id": "q1",
    "question": "Where? ",
    "answer": "Ulm",
    "supporting_facts": [["A", 0], ["B", 1]],
    "context": [["A", ["one", " two"]], ["B", ["three", "four"]]],
    "type": "bridge",
    "level": "hard",
}
HUB_COPY = {
    "id": "q1",
    "question": "Where? ",
    "answer": "Ulm",
    "supporting_facts": {"title": ["A", "B"], "sent_id": [0, 1]},
    "context": {"title": ["A", "B"], "sentences": [["one", " two"], ["three", "four"]]},
}


def test_the_bundled_set_has_at_least_60_questions_half_of_them_common() -> None:
    """64 questions, 32 answerable from common knowledge, each with ten pages."""
    questions = bundled().questions
    assert len(questions) >= 60
    assert sum(bool(item.common) for item in questions) * 2 == len(questions)
    assert {len(item.pages) for item in questions} == {10}


@pytest.mark.parametrize("question", bundled().questions, ids=lambda item: item.question_id)
def test_every_answer_lies_in_two_pages_and_nowhere_else(question: object) -> None:
    """The answer occurs in the second supporting sentence only; the first names the second's page.

    And the question names neither the answer nor the page that holds it: it takes two hops.
    """
    lines = {
        (page.title, place): sentence
        for page in question.pages  # type: ignore[attr-defined]
        for place, sentence in enumerate(page.sentences)
    }
    answer = question.answer.casefold()  # type: ignore[attr-defined]
    holding = [where for where, line in lines.items() if answer in line.casefold()]
    assert len(holding) == 1
    (second,) = holding
    assert second in question.supporting  # type: ignore[attr-defined]
    (first,) = question.supporting - {second}  # type: ignore[attr-defined]
    assert second[0] in lines[first]
    naming = {where[0] for where, line in lines.items() if second[0] in line} - {second[0]}
    assert naming == {first[0]}
    text = question.text.casefold()  # type: ignore[attr-defined]
    assert answer not in text
    assert second[0].casefold() not in text


def test_the_question_file_is_what_its_generator_writes() -> None:
    """`python scripts/make_questions.py` gives the committed file."""
    script = ROOT / "scripts" / "make_questions.py"
    spec = importlib.util.spec_from_file_location("make_questions", script)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    data = ROOT / "src/haltwise/study/search/data/questions.json"
    assert json.loads(data.read_text("utf-8")) == module.build()


def test_both_hotpotqa_schemas_give_the_same_question(tmp_path: Path) -> None:
    """The official file (JSON array) and the hub copy (here JSONL) read alike."""
    first, second = tmp_path / "official.json", tmp_path / "hub.jsonl"
    first.write_text(json.dumps([OFFICIAL]))
    second.write_text(json.dumps(HUB_COPY) + "\n")
    tasks = [load_task(f"hotpotqa:{path}") for path in (first, second)]
    assert tasks[0].questions == tasks[1].questions
    assert tasks[0].questions[0].supporting == {("A", 0), ("B", 1)}


def test_real_files_are_read(shared_data: Callable[[str], Path]) -> None:
    """300 HotpotQA questions and 200 claims; all supporting pages are there."""
    hotpot = load_task(f"hotpotqa:{shared_data('hotpotqa/dev_distractor_300.json')}")
    claims = load_task(f"fever:{shared_data('fever/claims_with_pages_200.json')}")
    assert (len(hotpot.questions), len(claims.questions)) == (300, 200)
    for question in (*hotpot.questions, *claims.questions):
        assert question.supporting_titles <= {page.title for page in question.pages}


def test_splits_are_disjoint_and_cover_the_task() -> None:
    """dev, test and fresh together are the task; a larger limit contains a smaller one."""
    task = bundled()
    parts = [task.part(split, None) for split in SPLITS]
    assert sum(map(len, parts)) == len(task.questions)
    assert len({item.question_id for part in parts for item in part}) == len(task.questions)
    assert task.part("test", 9)[:4] == task.part("test", 4)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("trivia", "bundled"),
        ("fever", "fever:FILE"),
        ("hotpotqa:/nowhere/x.json", "JSONL"),
    ],
)
def test_a_task_that_is_not_there_is_an_error_with_a_remedy(name: str, message: str) -> None:
    """Unknown name, FEVER without a file, a file that does not exist."""
    with pytest.raises(InputError, match=message):
        load_task(name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[{]", "line 1: not JSON"),
        ("[]", "holds no question"),
        (json.dumps([{"question": "?"}]), "question 1: not a hotpotqa question"),
        (json.dumps([OFFICIAL, OFFICIAL]), "occurs twice"),
    ],
)
def test_a_broken_file_is_named(tmp_path: Path, text: str, message: str) -> None:
    """The error names the file and the question or line."""
    path = tmp_path / "broken.json"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        load_task(f"hotpotqa:{path}")


def test_the_hub_without_its_extra_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the `datasets` package the line to type is shown."""
    import sys

    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(InputError, match=r"haltwise\[hub\]"):
        load_task("hotpotqa")
