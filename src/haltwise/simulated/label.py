"""How simulated data says that it is simulated: in the model's name and in a note."""

from __future__ import annotations

PREFIX = "simulated:"
"""Every simulated episode's model starts with this."""


def model_name(kind: str) -> str:
    """Return the model name of a simulated agent or loop of this ``kind``."""
    return PREFIX + kind


def is_simulated(model: str | None) -> bool:
    """Whether a model name says that no real model acted."""
    return model is not None and model.startswith(PREFIX)
