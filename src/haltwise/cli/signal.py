"""The ``--signal`` option: who judges recorded results anew, by name."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..signals import Signal

SIDE_CHANNEL = "side-channel="


class SignalName(click.ParamType[str]):
    """lexical, stated, semantic, or side-channel=MODEL."""

    name = "signal"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """Return the name, if there is such a signal."""
        text = str(value)
        known = text in ("lexical", "stated", "semantic")
        if not known and not (text.startswith(SIDE_CHANNEL) and text != SIDE_CHANNEL):
            self.fail(
                f"{text!r} is none of lexical, stated, semantic and side-channel=MODEL", param, ctx
            )
        return text


def signal_option(command: click.decorators.FC) -> click.decorators.FC:
    """Add ``--signal``."""
    return click.option(
        "--signal",
        type=SignalName(),
        metavar="NAME",
        help="Judge the results now: lexical (word overlap with the question), stated (the agent's "
        "own words), semantic (meaning, by a small encoder), or side-channel=MODEL (a model is "
        "asked; MODEL is a name at OpenAI, URL#NAME at any compatible server, or embedded).",
    )(command)


signal_budget_option = click.option(
    "--signal-budget",
    type=click.IntRange(0),
    default=1000,
    show_default=True,
    help="Questions that --signal side-channel=MODEL may ask. Verdicts are kept, and a result is "
    "never asked about twice.",
)
"""``--signal-budget``."""


def signal_named(name: str | None, budget: int = 1000) -> Signal | None:
    """Return the signal that the option names; None where it was not given.

    Raises:
        InputError: its extra is not installed, or no weights can be had.
    """
    if name is None:
        return None
    if name.startswith(SIDE_CHANNEL):
        return _asked(name.removeprefix(SIDE_CHANNEL), budget)
    from ..signals import Lexical, Semantic, Stated

    if name == "semantic":
        from ..judges.encoder import encoder
        from .fetching import fetching

        with fetching() as progress:
            encoder(progress)
        return Semantic()
    return Lexical() if name == "lexical" else Stated()


def note_asked(signal: Signal | None) -> None:
    """Say how many results a model was asked about, and which were left unjudged."""
    from ..signals import Asked
    from .output import note

    if isinstance(signal, Asked):
        failed = f", {signal.failed:,} without an answer ({signal.why})" if signal.failed else ""
        left = f"; {signal.left:,} more results stay unjudged" if signal.left else ""
        note(f"side channel: {signal.asked:,} questions asked{failed}{left}")


def _asked(model: str, budget: int) -> Signal:
    from ..judges.weights import cache_folder
    from ..record.digest import digest_bytes
    from ..signals import Asked

    name = digest_bytes(model.encode("utf-8", "surrogatepass")).hex()
    memory = cache_folder() / "verdicts" / f"{name}.jsonl"
    return Asked(_asker(model), model, budget=budget, memory=memory)


def _asker(model: str) -> Callable[[str], str]:
    if model == "embedded":
        from ..judges.embedded import load_embedded
        from .fetching import fetching

        with fetching() as progress:
            loaded = load_embedded(progress=progress)

        def ask(question: str) -> str:
            messages = [{"role": "user", "content": question}]
            return loaded.chat(messages, max_tokens=8)[0].text

        return ask
    from ..judges.chat_server import OPENAI, chat_server

    url, _, named = model.rpartition("#")
    url = url or os.environ.get("OPENAI_BASE_URL") or OPENAI
    if named.startswith(("http://", "https://")):
        raise click.UsageError(
            f"--signal {SIDE_CHANNEL}{model} names no model; expected URL#NAME, "
            f"such as {SIDE_CHANNEL}http://localhost:8000/v1#qwen3"
        )
    return chat_server(url, named, key=os.environ.get("OPENAI_API_KEY"))
