"""Reports that people look at: self-contained pages with charts, and the charts alone.

`Figure` is one chart with its sentence and its table; `render` makes one HTML file of a `Page`;
`write_image` makes PNG or SVG of a figure. Only this folder rounds numbers.
"""

from __future__ import annotations

from .figure import Figure, Table
from .image import image, write_image
from .page import Page, Section, render

__all__ = ["Figure", "Page", "Section", "Table", "image", "render", "write_image"]
