"""The answer-now table file."""

from __future__ import annotations

import gzip
import math
from pathlib import Path

import pytest

from haltwise.core.errors import InputError
from haltwise.replay.answer_now import read_answer_now


def test_a_row_with_t_goes_before_a_row_without(tmp_path: Path) -> None:
    """A grade at one step wins over the question's grade; what is not graded is NaN."""
    path = tmp_path / "a.jsonl.gz"
    rows = b"""{"question_id": "q", "success": false}
{"question_id": "q", "t": 3, "success": true}

{"question_id": "p", "t": 1, "success": null}
"""
    path.write_bytes(gzip.compress(rows))
    table = read_answer_now(path)
    assert len(table) == 3
    assert (table.get("q", 2), table.get("q", 3)) == (0, 1)
    assert math.isnan(table.get("p", 1)) and math.isnan(table.get("other", 1))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no row"),
        ('{"question_id": "q", "success": 1}', "a.jsonl:1: Expected `bool | null`"),
        ('{"question_id": "q", "success": true}\n{"q', "a.jsonl:2: Input data was truncated"),
        ("\xff", "a.jsonl:1: "),
        ('{"success": true}', "missing required field `question_id`"),
        (
            '{"question_id": "q", "success": true}\n{"question_id": "q", "success": false}',
            "a.jsonl:2: question 'q' is graded False here and True before",
        ),
    ],
)
def test_bad_tables_name_file_and_line(tmp_path: Path, text: str, message: str) -> None:
    """Each bad row is one sentence with the place and what a row looks like."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError) as caught:
        read_answer_now(path)
    assert message in str(caught.value)


def test_an_absent_table_is_named() -> None:
    """A wrong path is a sentence, not a traceback."""
    with pytest.raises(InputError, match="expected an answer-now table"):
        read_answer_now("nowhere.jsonl")


def test_a_table_of_other_questions_is_refused(tmp_path: Path) -> None:
    """Grades were looked up and none was there: the message shows both kinds of names."""
    path = tmp_path / "a.jsonl"
    path.write_text('{"question_id": "q-7", "success": true}')
    table = read_answer_now(path)
    table.refuse_strangers("a.jsonl")
    assert math.isnan(table.get("7", 1))
    with pytest.raises(InputError, match="it grades 'q-7', their question_id is '7'"):
        table.refuse_strangers("a.jsonl")
    assert table.get("q-7", 1) == 1
    table.refuse_strangers("a.jsonl")
