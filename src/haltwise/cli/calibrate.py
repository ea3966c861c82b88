"""``haltwise calibrate repair|search``: from recorded loops to a policy file."""

from __future__ import annotations

import click

from .lazy import LazyGroup

SUBCOMMANDS: dict[str, str] = {
    "repair": "Fit votes and repairs, and write the rule that they support.",
    "search": "Fit how sources recover, and write the stopping table.",
}
"""Every subcommand with its one-line help; ``cli/calibrate_NAME.py`` holds its ``command``."""


@click.group(cls=LazyGroup, helps=SUBCOMMANDS, prefix="calibrate_")
def command() -> None:
    """Fit the noise of recorded loops and write the rule it supports as a policy file."""
