"""What the commands that run live models share: arguments, weights, prompts."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from ..core.errors import InputError
from .options import json_option
from .output import note, print_json
from .terminal import busy, counter

OPTIONS = (
    click.option(
        "--model-arg",
        "model_args",
        multiple=True,
        metavar="KEY=VALUE",
        help="Passed to the model's provider; repeatable.",
    ),
    click.option(
        "--out",
        type=click.Path(path_type=Path),
        help="Folder of the study; the same command goes on where it stopped.",
    ),
    click.option(
        "--connections",
        default=1,
        show_default=True,
        type=click.IntRange(1),
        help="Requests at once in each process.",
    ),
    click.option(
        "--processes",
        default=1,
        show_default=True,
        type=click.IntRange(1),
        help="Parts that run side by side.",
    ),
    click.option("--engine", type=click.Choice(["ray"]), help="Run the parts on a Ray cluster."),
    click.option(
        "--show-prompts", is_flag=True, help="Print every text that a model is shown, and end."
    ),
    json_option,
)
"""How a study is run, whatever it studies."""


def running(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the `OPTIONS`."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


@contextmanager
def told_progress() -> Iterator[Callable[[str], None]]:
    """Yield what takes a study's lines of progress: a status on a terminal, else notes."""
    with busy("running the study") as replace:
        yield replace if sys.stderr.isatty() else note


def fetch_weights_with_notes() -> None:
    """Say what is downloaded before it is, and show how far it is."""
    from ..judges.weights import QWEN, fetch_weights, find_weights

    if find_weights() is None:
        note(f"downloading {QWEN.name}: {QWEN.size / 1e9:.1f} GB, and as much disk")
        megabyte = 1_000_000
        with counter("megabytes", QWEN.size // megabyte) as count:
            fetch_weights(progress=lambda source, done, total: count(done // megabyte))


def model_arguments(texts: tuple[str, ...]) -> dict[str, object]:
    """Return ``KEY=VALUE`` texts as a dictionary; whole numbers, true and false are read as such.

    Raises:
        InputError: a text has no equals sign.
    """
    pairs: dict[str, object] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign:
            raise InputError(f"--model-arg is KEY=VALUE; got {text!r}")
        lowered = value.lower()
        pairs[name] = (
            int(value) if value.isdigit() else {"true": True, "false": False}.get(lowered, value)
        )
    return pairs


def print_prompts(texts: dict[str, str], as_json: bool) -> None:
    """Print every text that a model is shown, by name."""
    if as_json:
        print_json({"schema": "haltwise.study-prompts/1", "prompts": texts, "skipped": []})
        return
    for name, text in texts.items():
        click.echo(f"--- {name}\n{text}\n")
