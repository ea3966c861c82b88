"""What a reader of a trace format is, and how the right one is found.

A reader is one object in one file: a name, a guess at the content, and a generator of episodes.
Other packages add theirs through the entry point group ``haltwise.readers``, whose entries name
such an object.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import entry_points
from typing import Protocol, runtime_checkable

from ...core.errors import InputError
from ..episode import AnyEpisode
from ..outline import Outlines
from ..skip import Skip
from ..source import Source, SourceError

GROUP = "haltwise.readers"
"""Entry point group of readers in other packages."""

BUILTIN = (
    "haltwise_jsonl",
    "judged_useless",
    "repair_jsonl",
    "error_series",
    "votes",
    "parquet",
    "claude_code",
    "codex",
    "atif",
    "inspect_log",
    "swe_agent",
    "otel",
    "langsmith",
    "react_text",
    "react_steps",
    "anthropic",
    "chat",
)
"""Modules in this folder that hold a ``reader``; earlier ones win where two guess alike."""


Found = tuple[int | None, AnyEpisode]
"""The line where an episode stands (None in a file that is no list of lines), and the episode."""


@runtime_checkable
class Reader(Protocol):
    """The contract; `haltwise.testing.check_reader` tests it."""

    @property
    def name(self) -> str:
        """What ``--format`` calls it."""
        ...

    @property
    def splits(self) -> bool:
        """Whether a file may be read in byte ranges cut at line ends (one record a line)."""
        ...

    def sniff(self, head: bytes, path: str) -> float:
        """Return how sure it is, from 0 (not mine) to 1, by the first 64 KB in UTF-8."""
        ...

    def read(self, source: Source) -> Iterator[Found | Skip]:
        """Yield every record of the file as an episode or a skip, in order.

        May raise `SourceError` where the file as a whole cannot be read (further).
        """
        ...


@runtime_checkable
class OutlineReader(Reader, Protocol):
    """A reader that also makes outlines straight from the bytes."""

    def outlines(self, source: Source) -> Iterator[Outlines | Skip]:
        """Yield the outlines of the same episodes as `read`, and the same skips."""
        ...


@cache
def readers() -> dict[str, Reader]:
    """Return every reader by name: our own, then those of installed packages.

    Raises:
        InputError: a plugin cannot be loaded or is no reader.
    """
    found: dict[str, Reader] = {}
    for module in BUILTIN:
        reader: Reader = importlib.import_module(f".{module}", __package__).reader
        found[reader.name] = reader
    for entry in entry_points(group=GROUP):
        try:
            plugin = entry.load()
        except Exception as error:
            raise InputError(f"reader plugin {entry.value} cannot be loaded: {error}") from error
        if not isinstance(plugin, Reader):
            raise InputError(f"reader plugin {entry.value} has no name, splits, sniff and read")
        found[plugin.name] = plugin
    return found


def reader_named(name: str) -> Reader:
    """Return the reader that ``--format NAME`` asks for.

    Raises:
        InputError: there is none of this name.
    """
    known = readers()
    if name not in known:
        raise InputError(f"format {name!r} is not known; known: {', '.join(sorted(known))}")
    return known[name]


def detect(head: bytes, path: str) -> Reader:
    """Return the reader that is surest of the content.

    Raises:
        SourceError: no reader knows it.
    """
    if not head or head.isspace():
        raise SourceError("is empty")
    best, surest = None, 0.0
    for reader in readers().values():
        score = reader.sniff(head, path)
        if score > surest:
            best, surest = reader, score
    if best is not None:
        return best
    if b"\x00" in head:
        raise SourceError("is binary, or UTF-16 without a byte order mark; no reader knows it")
    raise SourceError(
        f"is in no format that is known ({', '.join(sorted(readers()))}); "
        "name one with --format if it is"
    )
