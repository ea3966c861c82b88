"""A group of commands, each imported when it is called, so that ``--help`` loads nothing heavy."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click


class LazyGroup(click.Group):
    """A group whose commands live one per file: ``cli/{prefix}{name}.py`` holds ``command``."""

    def __init__(
        self, *args: Any, helps: Mapping[str, str], prefix: str = "", **kwargs: Any
    ) -> None:
        """Take the commands with their one-line helps, in the order in which they are shown."""
        super().__init__(*args, **kwargs)
        self.helps, self.prefix = helps, prefix

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(self.helps)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's file and return the command; None where there is none."""
        if cmd_name not in self.helps:
            return None
        module = importlib.import_module(f".{self.prefix}{cmd_name}", __package__)
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands with their helps, without importing them."""
        if self.helps:
            with formatter.section("Commands"):
                formatter.write_dl(list(self.helps.items()))
