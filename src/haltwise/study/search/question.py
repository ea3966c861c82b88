"""A question with its own small library of pages: what a search episode is about.

Knows nothing of models, faults or file formats.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

SPLITS = ("dev", "test", "fresh")
"""Disjoint parts of a task: for tuning, for the comparison, and never looked at so far."""


@dataclass(frozen=True, slots=True)
class Page:
    """One paragraph of a question's library."""

    title: str
    """Its name, unique within a library."""
    sentences: tuple[str, ...]
    """Its sentences, in order."""

    @property
    def text(self) -> str:
        """The sentences as one text."""
        return " ".join(sentence.strip() for sentence in self.sentences)


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its answer, and the pages among which the answer lies."""

    question_id: str
    """Names the question; unique within a task."""
    text: str
    """The question, or the claim to be checked."""
    answer: str
    """The right answer; SUPPORTS or REFUTES for a claim."""
    pages: tuple[Page, ...]
    """The library: usually ten pages."""
    supporting: frozenset[tuple[str, int]]
    """(title, index of the sentence) of what supports the answer."""
    common: bool | None = None
    """Whether the answer is common knowledge; None where nobody said."""

    @property
    def supporting_titles(self) -> frozenset[str]:
        """Titles of the pages that support the answer."""
        return frozenset(title for title, _ in self.supporting)

    @property
    def split(self) -> str:
        """The part of its task that the question belongs to; depends on its id alone."""
        return SPLITS[(0, 0, 0, 1, 1, 1, 1, 1, 2, 2)[hashed("split", self.question_id) % 10]]


@dataclass(frozen=True, slots=True)
class Task:
    """Questions of one kind."""

    name: str
    """What records call it, such as "hotpotqa"."""
    kind: str
    """"qa" for questions, "claim" for claims to be checked."""
    grader: str
    """Name of the grader that belongs to it, see `haltwise.study.search.graders`."""
    questions: tuple[Question, ...]
    """All questions, in the order of their source."""

    def part(self, split: str | None, limit: int | None) -> tuple[Question, ...]:
        """Return the questions of a split (None: all), at most ``limit`` of them.

        They come in the order of a hash of their ids, so that a limit takes a fair sample and a
        larger limit contains a smaller one.
        """
        chosen = [item for item in self.questions if split is None or item.split == split]
        chosen.sort(key=lambda item: hashed("order", item.question_id))
        return tuple(chosen[:limit])


def hashed(*parts: object) -> int:
    """Return a number that depends on ``parts`` alone, equal on every machine."""
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())


def check_unique(questions: Sequence[Question]) -> str | None:
    """Return the first question id that occurs twice, or None."""
    seen: set[str] = set()
    for item in questions:
        if item.question_id in seen:
            return item.question_id
        seen.add(item.question_id)
    return None
