"""Read anything: paths in, episodes or outlines out, every unusable record as a named skip.

Records in = episodes + skips. Whether nothing at all was usable is the caller's to judge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from .digest import DigestSet
from .episode import AnyEpisode, SearchEpisode
from .outline import Outlines
from .skip import Skip


def read(paths: str | Iterable[str], format: str | None = None) -> Iterator[AnyEpisode | Skip]:
    """Read every record of ``paths``, in constant memory."""
    raise NotImplementedError


def read_outlines(
    paths: str | Iterable[str],
    format: str | None = None,
    *,
    where: Mapping[str, str] | None = None,
    source: str | None = None,
    transform: Callable[[SearchEpisode], SearchEpisode] | None = None,
    seen: DigestSet | None = None,
) -> Iterator[Outlines | Skip]:
    """Read the outlines of all search episodes of ``paths`` in batches, in constant memory."""
    raise NotImplementedError
