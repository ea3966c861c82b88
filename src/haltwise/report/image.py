"""Figures as PNG or SVG for papers and READMEs. Needs no browser and no network."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.errors import InputError
from .extra import needed
from .files import write_atomically
from .theme import DARK, LIGHT, PRINT_FONT, config

if TYPE_CHECKING:
    from .figure import Figure

WIDTH = 640
"""Pixels of an image before scaling: a column of a paper, a README."""
FORMATS = ("png", "svg")
"""What images can be."""


def image(
    figure: Figure,
    format: str = "png",
    *,
    width: int = WIDTH,
    scale: float = 2.0,
    dark: bool = False,
    titled: bool = False,
) -> bytes:
    """Return a figure as an image.

    Args:
        figure: what to draw.
        format: "png" or "svg".
        width: in pixels, before scaling.
        scale: pixels of a PNG for each pixel of ``width``.
        dark: light on dark instead of dark on light.
        titled: whether the figure's title stands above it; papers have captions instead.

    Raises:
        InputError: the format is another one, or the extra ``report`` is not installed.
        ValueError: the figure has no chart.
    """
    if format not in FORMATS:
        raise InputError(f"images are png or svg; got {format!r}")
    vlc = needed("vl_convert")
    spec = figure.drawn(width)
    palette = DARK if dark else LIGHT
    look = config(palette, font=PRINT_FONT)
    if titled:
        spec["title"] = {
            "text": figure.title,
            "anchor": "start",
            "frame": "group",
            "color": palette.ink,
            "font": PRINT_FONT,
            "fontSize": 15,
            "offset": 12,
        }
    if format == "svg":
        drawn: str = vlc.vegalite_to_svg(json.dumps(spec), config=look)
        return drawn.encode("utf-8")
    return bytes(vlc.vegalite_to_png(json.dumps(spec), config=look, scale=scale))


def write_image(
    figure: Figure,
    path: str | os.PathLike[str],
    *,
    width: int = WIDTH,
    scale: float = 2.0,
    dark: bool = False,
    titled: bool = False,
) -> None:
    """Write a figure to a ``.png`` or ``.svg`` file; the options are those of `image`.

    Raises:
        InputError: the name ends otherwise, the folder cannot be written to, or the extra
            ``report`` is not installed.
        ValueError: the figure has no chart.
    """
    format = Path(path).suffix.lstrip(".").lower()
    drawn = image(figure, format, width=width, scale=scale, dark=dark, titled=titled)
    write_atomically(path, drawn)
