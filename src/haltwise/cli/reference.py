"""Writes the reference of the command line from the commands themselves: ``docs/cli.md``.

``make reference`` writes the page; a test holds it against the commands.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import click

from .main import app

HEAD = """\
# Command line

Written from the commands by `make reference`; do not edit.

Every command takes `--help`. With `--json` it prints one JSON document to stdout and nothing \
else; notes and progress go to stderr. Exit codes: 0 done, 1 a finding that you asked to fail on, \
2 bad usage or nothing usable.

Tables fit the terminal: where one is too narrow, each row becomes a block, and no number is cut. \
In a pipe rows are never broken, unless `COLUMNS` gives it a width. `NO_COLOR` is respected.
"""


def reference() -> str:
    """Return the page."""
    return "\n".join([HEAD, *_pages(app, "haltwise")])


def commands(group: click.Group, name: str) -> Iterator[tuple[str, click.Command]]:
    """Yield every command below ``group`` with its full name, groups before their commands."""
    context = click.Context(group, info_name=name)
    for word in group.list_commands(context):
        command = group.get_command(context, word)
        if command is not None:
            yield f"{name} {word}", command
            if isinstance(command, click.Group):
                yield from commands(command, f"{name} {word}")


def _pages(group: click.Group, name: str) -> Iterator[str]:
    for full, command in commands(group, name):
        context = click.Context(command, info_name=full)
        usage = " ".join(command.collect_usage_pieces(context))
        yield f"## {full}\n\n    {full} {usage}\n"
        yield f"{_joined(command.help or '')}\n"
        options = [item for item in command.params if isinstance(item, click.Option)]
        if options:
            yield "| option | meaning |\n| --- | --- |"
            yield "\n".join(_row(option, context) for option in options) + "\n"


def _row(option: click.Option, context: click.Context) -> str:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    if not option.is_flag:
        names += f" {option.make_metavar(context)}"
    text = (option.help or "").replace("|", "\\|")
    default = _default(option)
    return f"| {names.replace('|', chr(92) + '|')} | {text}{default} |"


def _default(option: click.Option) -> str:
    value: Any = option.default
    if not option.show_default or value is None or option.is_flag or callable(value):
        return ""
    return f" Default: {value}."


def _joined(text: str) -> str:
    """Return help text as paragraphs."""
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


if __name__ == "__main__":
    sys.stdout.write(reference())
