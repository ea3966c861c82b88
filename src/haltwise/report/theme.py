"""Colours and type of charts, light and dark: one Vega configuration each.

Figures name no colours. They use the category range in order, the heat map range, and the styles
below. The hues are those of Okabe and Ito, which colour-blind readers tell apart, darkened or
lightened until each has a contrast of 3 : 1 with its background.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
"""Of pages."""
PRINT_FONT = "Liberation Sans, Helvetica, Arial, sans-serif"
"""Of images, which are drawn where no page is."""


@dataclass(frozen=True)
class Palette:
    """The colours of one scheme, as CSS colours."""

    ground: str
    """Background."""
    ink: str
    """Text."""
    quiet: str
    """Secondary text, axes."""
    line: str
    """Grid, rules."""
    category: tuple[str, ...]
    """Series in order: the one that matters, the one to compare with, then others."""
    heat: tuple[str, ...]
    """From least to most."""


LIGHT = Palette(
    ground="#ffffff",
    ink="#1b1f24",
    quiet="#57606a",
    line="#e3e7eb",
    category=("#0b62a8", "#c8500a", "#6b7480", "#00795c", "#94467f", "#a06a00"),
    heat=("#eef3f8", "#b9d3ea", "#6fa6d3", "#2f78b5", "#0b4a80"),
)
DARK = Palette(
    ground="#16191d",
    ink="#e8eaed",
    quiet="#a7b0ba",
    line="#30363d",
    category=("#6db3f2", "#f0965a", "#9aa4af", "#46c7a4", "#d99ac9", "#dcae4a"),
    heat=("#20262d", "#23435f", "#2f6a9a", "#569fd6", "#a9d4f7"),
)


def config(palette: Palette, *, font: str = FONT) -> dict[str, Any]:
    """Return the Vega configuration of a palette."""
    first = palette.category[0]
    text = {"labelFont": font, "titleFont": font}
    return {
        "aria": False,  # the page names the chart and has its table
        "background": "transparent" if font == FONT else palette.ground,
        "font": font,
        "padding": 4 if font == FONT else 12,
        "view": {"stroke": None},
        "axis": {
            **text,
            "labelColor": palette.quiet,
            "titleColor": palette.quiet,
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "titlePadding": 8,
            "gridColor": palette.line,
            "domainColor": palette.line,
            "tickColor": palette.line,
            "labelPadding": 6,
        },
        "axisX": {"grid": False, "labelAngle": 0},
        "axisY": {"domain": False, "ticks": False},
        "legend": {
            **text,
            "labelColor": palette.ink,
            "titleColor": palette.quiet,
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "orient": "top",
            "labelLimit": 260,
            "columns": 3,
            "symbolStrokeWidth": 3,
        },
        "range": {"category": list(palette.category), "heatmap": list(palette.heat)},
        "mark": {"color": first},
        "line": {"strokeWidth": 2.5},
        "point": {"filled": True, "size": 60, "opacity": 1},
        "bar": {"cornerRadiusEnd": 2},
        "rule": {"color": palette.quiet},
        "text": {"color": palette.ink, "fontSize": 12, "font": font},
        "style": {
            "interval": {"strokeWidth": 2, "opacity": 0.75},
            "reference": {"color": palette.quiet, "strokeDash": [4, 4], "strokeWidth": 1},
            "quiet-text": {"color": palette.quiet, "fontSize": 12},
            "chosen": {"color": palette.category[1]},
            "recorded": {"color": palette.ink},
            "cell": {"stroke": palette.ground, "strokeWidth": 2},
            "on-cell": {"color": palette.ground, "fontSize": 12, "fontWeight": "bold"},
        },
    }
