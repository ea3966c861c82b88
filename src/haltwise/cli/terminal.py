"""The terminal: a console that respects its reader, and a progress bar for long inputs.

Colours and width are Rich's affair: ``NO_COLOR``, pipes and narrow windows are respected. Knows
nothing of what is shown.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

PATIENCE = 1.0
"""Seconds after which progress is shown."""
WIDEST = 100
"""Columns that text is laid out for where nobody tells the width."""


def console() -> Console:
    """Return the console on stdout."""
    from rich.console import Console

    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")  # a terminal without the letter shows ? instead of failing
    made = Console(highlight=False, emoji=False, markup=False)
    if not made.is_terminal:
        made.width = WIDEST
    return made


@contextmanager
def counter(what: str) -> Iterator[Callable[[int], None]]:
    """Count something on stderr while it goes on; nothing in a pipe, or before a second has passed.

    Yields a function that takes the number so far.
    """
    if not sys.stderr.isatty():
        yield lambda number: None
        return
    started, bars = time.monotonic(), ExitStack()
    update: list[Callable[[int], None]] = []

    def count(number: int) -> None:
        if not update and time.monotonic() - started > PATIENCE:
            update.append(bars.enter_context(_bar(what)))
        for tell in update:
            tell(number)

    with bars:
        yield count


@contextmanager
def _bar(what: str) -> Iterator[Callable[[int], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    text = TextColumn("{task.description} {task.completed:,}")
    stderr = Console(stderr=True)
    with Progress(text, BarColumn(), TimeElapsedColumn(), console=stderr, transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda number: bar.update(task, completed=number)
