"""Loads questions: the bundled set, HotpotQA and FEVER, from a file or from the data hub.

Knows the file formats; ignorant of what is done with the questions. ``--task`` takes

- ``bundled``: 64 questions that come with haltwise, nothing is downloaded;
- ``hotpotqa:PATH`` and ``fever:PATH``: a JSON or JSONL file;
- ``hotpotqa``: the same from the data hub (extra ``hub``). The hub's FEVER has no pages, so that
  FEVER needs a file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from ...core.errors import InputError
from .question import Page, Question, Task, check_unique

HUB = ("hotpotqa/hotpot_qa", "distractor", "validation")
"""Data set, configuration and split on the data hub."""


def load_task(name: str) -> Task:
    """Return the task that ``--task`` names.

    Raises:
        InputError: there is no such task or file, a question in it cannot be read, or the hub
            cannot be reached.
    """
    kind, _, path = name.partition(":")
    if kind == "bundled" and not path:
        return bundled()
    if kind not in ("hotpotqa", "fever") or name == "fever":
        raise InputError(
            f"there is no task {name!r}; type --task bundled, --task hotpotqa:FILE or "
            "--task fever:FILE"
        )
    rows = _rows(Path(path)) if path else _from_hub()
    place = path or HUB[0]
    read = hotpotqa_question if kind == "hotpotqa" else fever_question
    questions = []
    for number, row in enumerate(rows, start=1):
        try:
            questions.append(read(row))
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise InputError(
                f"{place}, question {number}: not a {kind} question ({type(error).__name__}: "
                f"{error}); expected the fields of the official file or of the hub copy"
            ) from error
    return _task(kind, place, questions)


def bundled() -> Task:
    """Return the project's own 64 two-hop questions."""
    text = resources.files(__package__).joinpath("data/questions.json").read_text("utf-8")
    document = json.loads(text)
    pages = {title: Page(title, tuple(lines)) for title, lines in document["pages"].items()}
    questions = [
        Question(
            question_id=row["id"],
            text=row["question"],
            answer=row["answer"],
            pages=tuple(pages[title] for title in row["pages"]),
            supporting=frozenset((title, place) for title, place in row["supporting"]),
            common=row["common"],
        )
        for row in document["questions"]
    ]
    return Task("bundled", "qa", "judged-useless", tuple(questions))


def hotpotqa_question(row: Mapping[str, Any]) -> Question:
    """Read one question in the official schema or in that of the hub copy."""
    context, facts = row["context"], row["supporting_facts"]
    if isinstance(context, Mapping):
        context = list(zip(context["title"], context["sentences"], strict=True))
        facts = list(zip(facts["title"], facts["sent_id"], strict=True))
    return Question(
        question_id=str(row["_id"] if "_id" in row else row["id"]),
        text=row["question"].strip(),
        answer=row["answer"],
        pages=tuple(Page(title, tuple(sentences)) for title, sentences in context),
        supporting=frozenset((title, int(place)) for title, place in facts),
    )


def fever_question(row: Mapping[str, Any]) -> Question:
    """Read one claim with its pages: ``id, claim, label, gold_title, context``."""
    label = row["label"]
    if label not in ("SUPPORTS", "REFUTES"):
        raise ValueError(f"label {label!r} is neither SUPPORTS nor REFUTES")
    pages = tuple(Page(title, tuple(sentences)) for title, sentences in row["context"])
    gold = row["gold_title"]
    supporting = {
        (page.title, place)
        for page in pages
        if page.title == gold
        for place in range(len(page.sentences))
    }
    return Question(str(row["id"]), row["claim"].strip(), label, pages, frozenset(supporting))


def _task(kind: str, place: str, questions: list[Question]) -> Task:
    if not questions:
        raise InputError(f"{place}: it holds no question")
    twice = check_unique(questions)
    if twice is not None:
        raise InputError(f"{place}: the question id {twice!r} occurs twice; ids must be unique")
    if kind == "fever":
        return Task("fever", "claim", "fever", tuple(questions))
    return Task("hotpotqa", "qa", "judged-useless", tuple(questions))


def _rows(path: Path) -> Iterable[Mapping[str, Any]]:
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}; name a JSON or JSONL file") from error
    try:
        if text.lstrip().startswith("["):
            rows = json.loads(text)
        else:
            rows = [json.loads(line) for line in text.splitlines() if line.strip()]
    except json.JSONDecodeError as error:
        raise InputError(f"{path}, line {error.lineno}: not JSON ({error.msg})") from error
    return list(rows)


def _from_hub() -> Iterable[Mapping[str, Any]]:
    name, configuration, split = HUB
    remedy = "name a file: --task hotpotqa:FILE"
    try:
        from datasets import load_dataset
    except ImportError as error:
        raise InputError(
            f"--task hotpotqa downloads {name}; type: pip install 'haltwise[hub]', or {remedy}"
        ) from error
    try:
        data: Iterable[Mapping[str, Any]] = load_dataset(name, configuration, split=split)
    except Exception as error:
        raise InputError(
            f"the data hub did not give {name} ({type(error).__name__}); go online, or {remedy}"
        ) from error
    return data
