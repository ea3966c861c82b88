"""The ``--outcomes`` option: a table of outcomes laid over episodes. Knows nothing of how."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ..record.outcomes import Outcomes


def outcomes_option(command: click.decorators.FC) -> click.decorators.FC:
    """Add ``--outcomes``."""
    return click.option(
        "--outcomes",
        "outcomes_path",
        metavar="FILE",
        help="How episodes ended: JSON lines of question_id (or episode_id, run) and success, "
        "perhaps seed. They replace what the traces say.",
    )(command)


def read_outcomes(path: str | None) -> Outcomes | None:
    """Return the table that the option names; None where it was not given.

    Raises:
        InputError: it is no table of outcomes.
    """
    if path is None:
        return None
    from ..record.outcomes import Outcomes

    return Outcomes(path)


def note_unused(path: str | None, outcomes: Outcomes | None) -> None:
    """Say how many rows of the table name no episode that was read."""
    if outcomes is not None and outcomes.unused:
        from .output import note

        note(f"{path}: {outcomes.unused:,} of {len(outcomes):,} outcomes name no episode here")
