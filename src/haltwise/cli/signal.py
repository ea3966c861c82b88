"""The ``--signal`` option: who judges recorded results anew. Knows no more than the two names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ..signals import Signal


def signal_option(command: click.decorators.FC) -> click.decorators.FC:
    """Add ``--signal``."""
    return click.option(
        "--signal",
        type=click.Choice(["lexical", "stated"]),
        help="Judge the results now: by word overlap with the question, or by the agent's own "
        "words.",
    )(command)


def signal_named(name: str | None) -> Signal | None:
    """Return the signal that the option names; None where it was not given."""
    if name is None:
        return None
    from ..signals import Lexical, Stated

    signals: dict[str, Signal] = {"lexical": Lexical(), "stated": Stated()}
    return signals[name]
