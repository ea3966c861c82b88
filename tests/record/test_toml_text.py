"""TOML text: what is written is read back equal."""

from __future__ import annotations

import tomllib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from haltwise.core.errors import InputError
from haltwise.record.toml_text import to_toml

_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_scalars = st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | _texts
_values = st.recursive(
    _scalars, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(_texts, inner, max_size=4)
)


@given(st.dictionaries(_texts, _values, max_size=6))
def test_round_trip(document: dict[str, object]) -> None:
    """Every document of texts, truth values, numbers, lists and tables is read back equal."""
    assert tomllib.loads(to_toml(document)) == document


def test_layout() -> None:
    """Plain keys come first, tables become sections, and a long list takes one line an item."""
    text = to_toml({"t": {"deep": {"x": 1}}, "a": [1.0] * 40, "b": True})
    assert text.startswith("a = [\n  1.0,\n")
    assert text.endswith("]\nb = true\n\n[t.deep]\nx = 1\n")


def test_numpy_floats() -> None:
    """A NumPy float is written as a number."""
    assert to_toml({"x": np.float64(0.25)}) == "x = 0.25\n"


@pytest.mark.parametrize("value", [None, object(), "\ud800", {"k": [None]}])
def test_refusals(value: object) -> None:
    """What TOML cannot say is refused, with the key or the text named."""
    with pytest.raises(InputError, match="written as TOML"):
        to_toml({"x": value})
