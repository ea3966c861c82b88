"""Options for large inputs: how many read side by side, where, and in how much memory.

Knows names, ranges and helps; ignorant of what a command does with the values.
"""

from __future__ import annotations

import re

import click

workers_option = click.option(
    "--workers",
    type=click.IntRange(1, 4096),
    default=1,
    show_default=True,
    help="How many read side by side; the numbers do not depend on it.",
)
"""``--workers``."""

engine_option = click.option(
    "--engine",
    type=click.Choice(["local", "ray"]),
    default="local",
    show_default=True,
    help="Where workers run: processes of this machine, or a Ray cluster (RAY_ADDRESS) whose "
    "nodes see the same files.",
)
"""``--engine``."""


class Size(click.ParamType[int]):
    """A number of bytes: 512MB, 2GB, 1.5G; MB and GB are powers of 1,024."""

    name = "size"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Return the number of bytes."""
        if isinstance(value, int):
            return value
        found = _SIZE.fullmatch(str(value).strip().upper())
        size = int(float(found[1]) * 1024 ** " KMGT".index(found[2] or " ")) if found else 0
        if size < 1 << 20:
            self.fail(f"{value!r} is no size of 1MB or more, such as 512MB or 2GB", param, ctx)
        return size


_SIZE = re.compile(r"(\d{1,12}(?:\.\d+)?)\s*([KMGT])?I?B?")

memory_option = click.option(
    "--memory",
    type=Size(),
    metavar="SIZE",
    help="Memory for what is counted, as in 512MB; beyond it counts go to a temporary folder. "
    "The numbers do not depend on it.",
)
"""``--memory``."""
