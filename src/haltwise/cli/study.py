"""``haltwise study ...``: experiments on live models."""

from __future__ import annotations

import click

from .lazy import LazyGroup

SUBCOMMANDS: dict[str, str] = {
    "search": "Run agents on questions with failing sources, with and without rules.",
    "repair": "Propose, vote and repair, with and without rules.",
    "tune": "Choose k, the lexical threshold and the random rate on dev episodes.",
    "analyze": "Success, contrasts, judge quality and comparisons of a finished study.",
}
"""Every subcommand with its one-line help; ``cli/study_NAME.py`` holds its ``command``."""


@click.group(cls=LazyGroup, helps=SUBCOMMANDS, prefix="study_")
def command() -> None:
    """Experiments on live models; needs the extra: pip install 'haltwise[study]'."""
