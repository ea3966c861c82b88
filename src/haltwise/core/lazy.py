"""Classes by word, each imported when it is first asked for.

``import haltwise`` must stay quick however many rules there are: a frozen dataclass costs about a
millisecond to make, and a program uses one or two rules of twenty.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any


class LazyClasses(Mapping[str, type[Any]]):
    """A read-only mapping from a word to the class that it stands for."""

    def __init__(self, package: str, places: Mapping[str, str]) -> None:
        """Take the table.

        Args:
            package: the package that the places are relative to.
            places: ``"file:Class"`` by word, the file relative to the package (``".streak"``).
        """
        self._package = package
        self._places = dict(places)

    def __getitem__(self, word: str) -> type[Any]:
        file, _, name = self._places[word].partition(":")
        found: type[Any] = getattr(import_module(file, self._package), name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def by_class_name(self, name: str) -> type[Any]:
        """Return the class called ``name``.

        Raises:
            AttributeError: none is called so; worded as a module's missing attribute.
        """
        for word, place in self._places.items():
            if place.endswith(f":{name}"):
                return self[word]
        raise AttributeError(f"module {self._package!r} has no attribute {name!r}")
