"""What the commands that run live models share: arguments, weights, prompts."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..core.errors import InputError
from .fetching import fetching
from .options import json_option
from .output import note, print_json
from .terminal import busy

if TYPE_CHECKING:
    from ..study.folder import StudyFolder
    from ..study.runner import Running

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
    with busy("running the study") as told:
        yield told if sys.stderr.isatty() else note


def need_inspect() -> None:
    """Refuse to go on where Inspect AI is not installed.

    Raises:
        InputError: it is not.
    """
    try:
        import inspect_ai  # noqa: F401
    except ImportError as error:
        raise InputError("a study needs Inspect AI; type: pip install 'haltwise[study]'") from error


def run_and_tell(
    kind: str,
    run_study: Callable[[Any, Path, Running], StudyFolder[Any, Any]],
    plan: Any,
    out: Path,
    how: Running,
    *,
    embedded: bool,
    as_json: bool,
    kept: tuple[str, ...] = (),
) -> None:
    """Run a study with its progress shown, and print what there is now.

    Args:
        kind: "search" or "repair".
        run_study: of that kind of study.
        plan: what to run.
        out: the folder of the study.
        how: how it is run; progress and command line are filled in.
        embedded: whether the embedded model takes part, so that its weights must be here.
        as_json: whether to print one JSON document.
        kept: documents of the folder that the JSON document repeats.
    """
    if embedded:
        fetch_weights_with_notes()
    command = "haltwise " + shlex.join(sys.argv[1:])
    with told_progress() as tell:
        folder = run_study(plan, out, replace(how, command=command, tell=tell))
    document = {
        "schema": f"haltwise.{kind}-study-run/1",
        "folder": str(out),
        "episodes": sum(1 for _ in folder.episodes()),
        "plan": plan.digest,
        **{name: folder.read(f"{name}.json") for name in kept},
        "skipped": [],
    }
    if as_json:
        print_json(document)
    else:
        click.echo(f"{document['episodes']} episodes in {out} (plan {plan.digest})")
        click.echo(f"next: haltwise study analyze {out}")


def fetch_weights_with_notes() -> None:
    """Say what is downloaded before it is, and show how far it is."""
    from ..judges.weights import QWEN, fetch_weights, find_weights

    if find_weights() is None:
        note(f"downloading {QWEN.name}: {QWEN.size / 1e9:.1f} GB, and as much disk")
        with fetching() as progress:
            fetch_weights(progress=progress)


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
