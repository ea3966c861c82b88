"""Options that several commands have, each written once.

Knows names, ranges and helps; ignorant of what a command does with the values. Options that need a
reader of their own live beside it: `where`, `signal`, `outcomes`.
"""

from __future__ import annotations

from pathlib import Path

import click

from .number import Number

level_option = click.option(
    "--level",
    type=Number(0, 0.999999, min_open=True),
    default=0.95,
    show_default=True,
    help="Coverage of the intervals.",
)
"""``--level``. Nearer to 1 the tails of an interval are lost in rounding."""

replicates_option = click.option(
    "--replicates",
    type=click.IntRange(1),
    default=2000,
    show_default=True,
    help="Bootstrap resamples.",
)
"""``--replicates``. What is resampled is never the single episode: questions, or tasks."""

seed_option = click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Of everything that is drawn; the same seed gives the same numbers.",
)
"""``--seed``."""

k_option = click.option(
    "--k",
    type=click.IntRange(1),
    default=5,
    show_default=True,
    help="Useless results in a row that findings look at.",
)
"""``--k``."""

budget_option = click.option(
    "--budget",
    type=click.IntRange(2, 1000),
    help="Actions an episode may take, the answer included.  [default: as recorded, else 8]",
)
"""``--budget`` of what is recorded; a rule that is fitted or simulated has a budget of its own."""

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document to stdout and nothing else."
)
"""``--json``."""

html_option = click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the report as one page as well, with charts; it works from disk.",
)
"""``--html``."""

answer_now_option = click.option(
    "--answer-now",
    type=str,
    metavar="TABLE",
    help="Search loops: what forced answers were worth, JSON lines of question_id, success and "
    "perhaps t; used where the record has no answer-now branch of its own.",
)
"""``--answer-now``."""
