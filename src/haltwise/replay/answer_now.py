"""The answer-now table: what a forced answer was worth, by question and perhaps by step.

JSONL, one object a line: ``{"question_id": ..., "t": 3, "success": true}``; without ``t`` the row
holds at every step of the question. Knows the file; ignorant of what is replayed with it.
"""

from __future__ import annotations

import math
import os

import msgspec

from ..core.errors import InputError
from ..record.readers.lines import DECODE_ERRORS
from ..record.skip import Skip
from ..record.source import Source, SourceError


class _Row(msgspec.Struct):
    question_id: str
    success: bool | None
    t: int | None = None


class AnswerNowTable:
    """Grades of forced answers, looked up by question and step."""

    def __init__(self, grades: dict[tuple[str, int | None], bool | None]) -> None:
        """Take grades by (question_id, t), ``t`` None where a grade holds at every step."""
        self._grades = grades
        self._asked: str | None = None
        self._found = False

    def __len__(self) -> int:
        return len(self._grades)

    def get(self, question: str, t: int) -> float:
        """Return 1.0 (right), 0.0 (wrong), or NaN where the table does not say."""
        grade = self._grades.get((question, t))
        if grade is None:
            grade = self._grades.get((question, None))
        self._asked, self._found = question, self._found or grade is not None
        return math.nan if grade is None else float(grade)

    def refuse_strangers(self, path: str) -> None:
        """See to it that the table was of use, once the loops have been read.

        Raises:
            InputError: grades were looked up, and it held none of them.
        """
        if self._asked is not None and not self._found:
            of = next(iter(self._grades))[0]
            raise InputError(
                f"{path}: no grade in it is for a step of these loops: it grades {of!r}, their "
                f"question_id is {self._asked!r}; name the table of these questions"
            )


def read_answer_now(path: str | os.PathLike[str]) -> AnswerNowTable:
    """Read a table from a file of JSON lines, compressed or not.

    Raises:
        InputError: the file cannot be read or holds no row, a line is no row, or two rows disagree;
            the message names the file and the line.
    """
    grades: dict[tuple[str, int | None], bool | None] = {}
    try:
        with Source(os.fspath(path)) as source:
            for item in source.lines():
                if isinstance(item, Skip):
                    raise InputError(str(item))
                _add(grades, f"{path}:{item[0]}", item[1])
    except SourceError as error:
        raise InputError(
            f"{path}: {error}; expected an answer-now table, JSON lines of question_id and success"
        ) from None
    if not grades:
        raise InputError(f"{path}: holds no row; expected JSONL with question_id and success")
    return AnswerNowTable(grades)


_decode = msgspec.json.Decoder(_Row).decode


def _add(
    grades: dict[tuple[str, int | None], bool | None], place: str, line: bytes | memoryview
) -> None:
    try:
        row = _decode(line)
    except DECODE_ERRORS as error:
        raise InputError(
            f"{place}: {error}; a row of an answer-now table is "
            '{"question_id": "q1", "success": true}, with "t": 3 for a single step'
        ) from None
    key = (row.question_id, row.t)
    if grades.setdefault(key, row.success) != row.success:
        at = "" if row.t is None else f" at t = {row.t}"
        raise InputError(
            f"{place}: question {row.question_id!r}{at} is graded {row.success} here and "
            f"{grades[key]} before; leave one of them out"
        )
