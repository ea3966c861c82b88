"""The terminal: a console that respects its reader, tables for its width, and signs of life.

Colours are Rich's affair: ``NO_COLOR`` and pipes are respected. A terminal is as wide as it says; a
pipe has no width, unless ``COLUMNS`` gives it one. Signs of life go to stderr, on a terminal only,
and not before a second has passed. Knows nothing of what is shown.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Literal, Protocol

from .output import harmless

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

PATIENCE = 1.0
"""Seconds after which progress is shown."""
WIDEST = 100
"""Columns that sentences are laid out for where nobody tells the width."""
PROSE = 28
"""Columns above which a cell of a table may be broken into lines."""
GAP = 2
"""Columns between two columns of a table."""
_SHOWN = threading.Lock()
"""Held by the sign of life that is shown: two at once would overwrite each other."""


def console() -> Console:
    """Return the console on stdout."""
    from rich.console import Console

    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")  # a terminal without the letter shows ? instead of failing

    class Screen(Console):
        """What comes from a trace does not steer the terminal."""

        def print(self, *objects: Any, **options: Any) -> None:
            super().print(*map(_harmless, objects), **options)

    made = Screen(highlight=False, emoji=False, markup=False)
    if not _has_width(made):
        made.width = WIDEST
    return made


def _has_width(screen: Console) -> bool:
    return screen.is_terminal or os.environ.get("COLUMNS", "").isdigit()


def _harmless(shown: Any) -> Any:
    from rich.padding import Padding
    from rich.text import Text

    if isinstance(shown, str):
        return harmless(shown)
    if isinstance(shown, Text) and (text := harmless(shown.plain)) != shown.plain:
        shown = shown.copy()
        shown.plain = text
    elif isinstance(shown, Padding):
        shown.renderable = _harmless(shown.renderable)
    return shown


class Table:
    """Rows below the names of their columns; where the screen is too narrow, a block for each row.

    No number is ever cut: cells of at most `PROSE` columns stay in one piece, longer ones and the
    names of columns are broken between words.
    """

    def __init__(self, title: str, *columns: str, numbers: bool = True) -> None:
        """Start a table; columns after the first are right-aligned where they hold ``numbers``."""
        self.title, self.columns, self.numbers = title, columns, numbers
        self.rows: list[tuple[list[Text], str]] = []

    def add_row(self, *cells: str | Text, style: str | None = None) -> None:
        """Add a row of as many cells as there are columns."""
        from rich.text import Text

        texts = [_harmless(cell if isinstance(cell, Text) else Text(cell)) for cell in cells]
        self.rows.append((texts, style or ""))

    def print(self, screen: Console) -> None:
        """Print the table."""
        from rich.text import Text

        if self.title:
            screen.print(Text(self.title, style="bold"))
        limit = screen.width if _has_width(screen) else None
        widths = self._widths(limit)
        if widths is None:
            self._print_blocks(screen)
            return
        from rich.table import Table as Grid

        grid = Grid(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="dim")
        for position, (name, width) in enumerate(zip(self.columns, widths, strict=True)):
            side: Literal["left", "right"] = "right" if self.numbers and position else "left"
            grid.add_column(Text(name), justify=side, overflow="fold", width=width)
        for cells, style in self.rows:
            grid.add_row(*cells, style=style)
        width = screen.width
        screen.width = max(width, sum(widths) + GAP * len(widths))  # a pipe is never too narrow
        screen.print(grid)
        screen.width = width

    def _widths(self, limit: int | None) -> list[int] | None:
        """Return the width of each column; None where they do not fit side by side."""
        full, least = [], []
        for position, name in enumerate(self.columns):
            cells = [row[position].cell_len for row, _ in self.rows]
            widest, word = max(cells, default=0), max(map(len, name.split()), default=0)
            full.append(max(widest, len(name), 1))
            least.append(max(min(widest, PROSE), word, 1))
        if limit is None:
            return full
        spare = limit - sum(least) - GAP * (len(least) - 1)
        if spare < 0:
            return None
        for position, wanted in enumerate(full):
            more = min(spare, wanted - least[position])
            least[position] += more
            spare -= more
        return least

    def _print_blocks(self, screen: Console) -> None:
        """Print each row as its name and, below, a line for every other column that has a cell."""
        from rich.text import Text

        for cells, style in self.rows:
            screen.print(Text.assemble(cells[0], style=style) if cells[0] else Text("-"))
            for name, cell in zip(self.columns[1:], cells[1:], strict=True):
                text = Text.assemble((f"{name}: " if name else "", "dim"), cell, style=style)
                for line in text.wrap(screen, screen.width - GAP) if cell else ():
                    screen.print(Text(" " * GAP).append_text(line))


def say(text: str) -> None:
    """Print sentences to stdout, broken between words where the width is known."""
    from rich.text import Text

    screen = console()
    screen.print(Text(text), soft_wrap=not _has_width(screen))


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table to stdout."""
    table = Table(title, *columns)
    for row in rows:
        table.add_row(*row)
    table.print(console())


class Count(Protocol):
    """Takes what has been counted so far."""

    def __call__(self, number: int, share: float | None = None) -> None:
        """Show ``number``, and how far that is: a share of the work from 0 to 1, where known."""
        ...


@contextmanager
def counter(what: str, total: int | None = None) -> Iterator[Count]:
    """Count something on stderr while it goes on.

    Yields a function that takes the number so far, and perhaps the share of the work that is done;
    with ``total`` or a share the bar shows how far that is, and how long the rest will take.
    """
    if not sys.stderr.isatty() or not _SHOWN.acquire(blocking=False):
        yield lambda number, share=None: None
        return
    started, bars = time.monotonic(), ExitStack()
    bars.callback(_SHOWN.release)
    update: list[Count] = []

    def count(number: int, share: float | None = None) -> None:
        if not update and time.monotonic() - started > PATIENCE:
            update.append(bars.enter_context(_bar(what, total)))
        for tell in update:
            tell(number, share)

    with bars:
        yield count


@contextmanager
def _bar(what: str, total: int | None) -> Iterator[Count]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.progress import TimeRemainingColumn as Left

    stderr = Console(stderr=True)
    of = f" of {total:,}" if total is not None else ""
    text = TextColumn("{task.description} {task.fields[number]:,}" + of)
    bar = BarColumn(min(40, max(5, stderr.width - 50)))
    columns = (text, bar, TimeElapsedColumn(), TextColumn("left"), Left())
    with Progress(*columns, console=stderr, transient=True) as progress:
        task = progress.add_task(what, total=total, number=0)

        def show(number: int, share: float | None = None) -> None:
            if share is None:
                progress.update(task, completed=number, number=number)
            else:
                progress.update(task, total=1.0, completed=share, number=number)

        yield show


@contextmanager
def busy(what: str) -> Iterator[Callable[[str], None]]:
    """Show on stderr that something without a number goes on, and for how long.

    Yields a function that replaces the words.
    """
    if not sys.stderr.isatty() or not _SHOWN.acquire(blocking=False):
        yield lambda words: None
        return
    words, over = [what], threading.Event()
    watcher = threading.Thread(target=_spin, args=(words, over), daemon=True)
    watcher.start()
    try:
        yield words.append
    finally:
        over.set()
        watcher.join()
        _SHOWN.release()


def _spin(words: Sequence[str], over: threading.Event) -> None:
    if over.wait(PATIENCE):
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(words[-1], total=None)
        while not over.wait(0.1):
            progress.update(task, description=words[-1])
