"""Figures as images, with no browser and no network."""

from __future__ import annotations

from pathlib import Path

import pytest

from haltwise.core.errors import InputError
from haltwise.report import Figure, Table, image, write_image

FIGURE = Figure(
    name="line",
    title="A line",
    text="It rises.",
    spec={
        "data": {"values": [{"x": 1, "y": 1}, {"x": 2, "y": 3}]},
        "mark": "line",
        "encoding": {
            "x": {"field": "x", "type": "quantitative"},
            "y": {"field": "y", "type": "quantitative"},
        },
    },
    table=Table.of(("x", "y"), [("1", "1"), ("2", "3")]),
)


def test_png_and_svg_by_the_name_of_the_file(tmp_path: Path) -> None:
    """The suffix decides; both kinds are whole files of their kind."""
    write_image(FIGURE, tmp_path / "a.png")
    write_image(FIGURE, tmp_path / "a.svg", dark=True, titled=True)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    text = (tmp_path / "a.svg").read_text("utf-8")
    assert text.startswith("<svg")
    assert "A line" in text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.png", "a.svg"]


def test_scale_is_pixels_for_each_pixel() -> None:
    """A PNG at scale 2 is twice as wide as at scale 1: bytes 16 to 20 of a PNG are its width."""
    single, double = image(FIGURE, scale=1), image(FIGURE, scale=2)
    assert 2 * int.from_bytes(single[16:20], "big") == int.from_bytes(double[16:20], "big")


def test_other_formats_are_refused(tmp_path: Path) -> None:
    """A name that says neither PNG nor SVG is an error that names both."""
    with pytest.raises(InputError, match="png or svg; got 'pdf'"):
        write_image(FIGURE, tmp_path / "a.pdf")


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    """The message names the file; nothing is left behind."""
    with pytest.raises(InputError, match="cannot be written"):
        write_image(FIGURE, tmp_path / "none" / "a.svg")
    assert list(tmp_path.iterdir()) == []
