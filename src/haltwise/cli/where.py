"""The ``--where KEY=VALUE`` option. Light: a command's help needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import click

from ..core.errors import InputError


def where_option(command: click.decorators.FC) -> click.decorators.FC:
    """Add ``--where``."""
    return click.option(
        "--where",
        multiple=True,
        metavar="KEY=VALUE",
        help="Use only the episodes with this value, as in regime=persistent; repeatable.",
    )(command)


def filters(where: Sequence[str]) -> dict[str, str]:
    """Return the filters by key.

    Raises:
        InputError: one is not KEY=VALUE.
    """
    found = {}
    for text in where:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise InputError(f"--where takes KEY=VALUE, as in regime=persistent; got {text!r}")
        found[key] = value
    return found
