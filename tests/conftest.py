"""Fixtures for the whole suite."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], Path]:
    """Return a function from a name inside the shared data folder to its path.

    The test is skipped where the file is absent; ``HALTWISE_SHARED_DATA`` names another folder.
    """
    folder = Path(os.environ.get("HALTWISE_SHARED_DATA", ROOT.parent / "shared" / "data"))

    def locate(name: str) -> Path:
        path = folder / name
        if not path.exists():
            pytest.skip(f"{path} is absent; point HALTWISE_SHARED_DATA at the shared data folder")
        return path

    return locate
