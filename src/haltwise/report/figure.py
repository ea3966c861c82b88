"""One chart with everything that a reader needs who cannot see it.

Knows what belongs together: a chart, its title, a sentence on how to read it, a table of the same
numbers. Ignorant of colours (`theme`), of pages and of where the numbers come from.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair as alt


@dataclass(frozen=True)
class Table:
    """Numbers as text, ready to be read."""

    columns: tuple[str, ...]
    """Headings; the first column names the row."""
    rows: tuple[tuple[str, ...], ...]
    """Cells, one tuple a row, as wide as `columns`."""

    @classmethod
    def of(cls, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
        """Return the table; cells are text already."""
        return cls(tuple(columns), tuple(tuple(row) for row in rows))


@dataclass(frozen=True)
class Figure:
    """One chart, or the reason why there is none."""

    name: str
    """Short name of small letters and hyphens: an anchor in pages, a file name for images."""
    title: str
    """What the chart shows, as a headline."""
    text: str
    """How to read it, in one or two sentences."""
    spec: Mapping[str, Any] | None
    """Vega-Lite, without size or colours; None where there is nothing to draw, and `note` says
    why."""
    table: Table
    """The same numbers as text."""
    height: int = 260
    """Height in pixels of one plot."""
    note: str = ""
    """What a reader must know of these numbers, or why they are undefined."""

    @property
    def label(self) -> str:
        """What a screen reader says in place of the chart."""
        return f"Chart: {self.title}. {self.text} A table follows."

    def drawn(self, width: int | str) -> dict[str, Any]:
        """Return the Vega-Lite document at a width in pixels, or "container".

        Raises:
            ValueError: there is no chart.
        """
        if self.spec is None:
            raise ValueError(f"{self.name} has no chart: {self.note}")
        spec = dict(copy.deepcopy(self.spec))
        spec.update(
            width=width,
            height=self.height,
            autosize={"type": "fit", "contains": "padding"},
        )
        return spec


def spec_of(chart: alt.TopLevelMixin) -> dict[str, Any]:
    """Return a chart as Vega-Lite without Altair's own theme."""
    document: dict[str, Any] = chart.to_dict()
    document.pop("config", None)
    return document
