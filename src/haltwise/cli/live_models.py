"""What the commands that run live models share: arguments, weights, prompts."""

from __future__ import annotations

import click

from ..core.errors import InputError
from .output import note, print_json


def fetch_weights_with_notes() -> None:
    """Say what is downloaded before it is, and show how far it is."""
    from ..judges.weights import QWEN, fetch_weights, find_weights

    if find_weights() is None:
        note(f"downloading {QWEN.name}: {QWEN.size / 1e9:.1f} GB, and as much disk")
        fetch_weights(progress=lambda source, done, total: note(f"{source}: {done / total:.0%}"))


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
