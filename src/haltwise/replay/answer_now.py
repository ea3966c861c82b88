"""The answer-now table: what a forced answer was worth, by question and perhaps by step.

JSONL, one object a line: ``{"question_id": ..., "t": 3, "success": true}``; without ``t`` the row
holds at every step of the question. Knows the file; ignorant of what is replayed with it.
"""

from __future__ import annotations

import gzip
import math
import os
from pathlib import Path

import msgspec

from ..core.errors import InputError


class _Row(msgspec.Struct):
    question_id: str
    success: bool | None
    t: int | None = None


class AnswerNowTable:
    """Grades of forced answers, looked up by question and step."""

    def __init__(self, grades: dict[tuple[str, int | None], bool | None]) -> None:
        """Take grades by (question_id, t), ``t`` None where a grade holds at every step."""
        self._grades = grades

    def __len__(self) -> int:
        return len(self._grades)

    def get(self, question: str, t: int) -> float:
        """Return 1.0 (right), 0.0 (wrong), or NaN where the table does not say."""
        grade = self._grades.get((question, t))
        if grade is None:
            grade = self._grades.get((question, None))
        return math.nan if grade is None else float(grade)


def read_answer_now(path: str | os.PathLike[str]) -> AnswerNowTable:
    """Read a table; a gzip file is read too.

    Raises:
        InputError: the file cannot be read or holds no row, a line is no row, or two rows disagree;
            the message names the file and the line.
    """
    try:
        data = Path(path).read_bytes()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
    except FileNotFoundError:
        raise InputError(
            f"{path}: there is no such answer-now table; expected JSONL with question_id, success"
        ) from None
    except (OSError, EOFError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
    decode = msgspec.json.Decoder(_Row).decode
    grades: dict[tuple[str, int | None], bool | None] = {}
    for number, line in enumerate(data.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise InputError(
                f"{path}:{number}: {error}; a row of an answer-now table is "
                '{"question_id": "q1", "success": true}, with "t": 3 for a single step'
            ) from None
        key = (row.question_id, row.t)
        if grades.setdefault(key, row.success) != row.success:
            at = "" if row.t is None else f" at t = {row.t}"
            raise InputError(
                f"{path}:{number}: question {row.question_id!r}{at} is graded "
                f"{row.success} here and {grades[key]} before; leave one of them out"
            )
    if not grades:
        raise InputError(f"{path}: holds no row; expected JSONL with question_id and success")
    return AnswerNowTable(grades)
