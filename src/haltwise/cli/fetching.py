"""Weights that are being fetched, shown to a person: where from, how large, how far."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .output import note
from .terminal import counter


@contextmanager
def fetching() -> Iterator[Callable[[str, int, int], None]]:
    """Yield the progress of a download: says once where it comes from, then counts megabytes."""
    said: set[str] = set()
    with counter("megabytes fetched") as count:

        def tell(source: str, done: int, total: int) -> None:
            if source not in said:
                said.add(source)
                note(f"fetching weights from the {source} ({total / 1e6:.0f} MB)")
            count(done // 1_000_000)

        yield tell
