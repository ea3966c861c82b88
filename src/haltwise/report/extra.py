"""The libraries of the extra ``report``, imported where they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..core.errors import InputError


def needed(module: str) -> Any:
    """Return a module of the extra.

    Raises:
        InputError: it is not installed; the message says what to type.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != module:
            raise
        raise InputError(
            f"reports need {module}, which is not installed; type: pip install 'haltwise[report]'"
        ) from None
