"""Outcomes from a table of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from haltwise.core.errors import InputError
from haltwise.record import Outcome, SearchEpisode
from haltwise.record.outcomes import Outcomes


def episode(**fields: object) -> SearchEpisode:
    """Return an episode of question q."""
    named = {"episode_id": "e", "cluster_id": "q", "question_id": "q", **fields}
    return SearchEpisode(**named)  # type: ignore[arg-type]


def table(path: Path, *lines: str) -> Outcomes:
    """Write a table and read it."""
    path.write_text("\n".join(lines))
    return Outcomes(str(path))


def test_the_closest_row_counts(tmp_path: Path) -> None:
    """A row for the episode goes before one for its run, its trial, its question."""
    rows = [
        '{"question_id": "q", "success": true}',
        '{"question_id": "q", "seed": 3, "success": false}',
        '{"run": "r", "success": null}',
        '{"episode_id": "x", "success": true}',
    ]
    outcomes = table(tmp_path / "t", *rows)
    assert outcomes.over(episode()).outcome.success is True
    assert outcomes.over(episode(seed=3)).outcome.success is False
    assert outcomes.over(episode(seed=4)).outcome.success is True
    assert outcomes.over(episode(run="r")).outcome.success is None
    assert outcomes.over(episode(episode_id="x", run="r")).outcome.success is True
    assert outcomes.unused == 0


def test_what_the_table_does_not_name_stays_as_it_is(tmp_path: Path) -> None:
    """The rest of the outcome is kept, and unused rows are counted."""
    outcomes = table(tmp_path / "t", '{"question_id": 7, "success": true}')
    before = episode(outcome=Outcome(success=False, answer="a"))
    assert outcomes.over(before) is before
    assert outcomes.unused == 1
    changed = outcomes.over(episode(question_id="7", outcome=Outcome(answer="a")))
    assert changed.outcome == Outcome(success=True, answer="a")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (['{"success": true}'], "question_id"),
        (['{"question_id": "q"}'], "success"),
        (['{"question_id": "q", "success": 3}'], "success"),
        (['{"question_id": "q", "success": true}', '{"question_id": "q", "success": false}'], ":2"),
    ],
)
def test_a_row_that_says_nothing_is_refused(tmp_path: Path, lines: list[str], said: str) -> None:
    """The message names the line and what is wrong with it."""
    with pytest.raises(InputError, match=said):
        table(tmp_path / "t", *lines)


def test_a_missing_table_is_named(tmp_path: Path) -> None:
    """The message carries the path."""
    with pytest.raises(InputError, match="nowhere"):
        Outcomes(str(tmp_path / "nowhere"))
