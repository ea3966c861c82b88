"""Fixtures for the whole suite."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest
from hypothesis import settings

# How long an example takes on a busy machine is no property of the code.
settings.register_profile("haltwise", deadline=None)
settings.load_profile("haltwise")

hypothesis.settings.register_profile("haltwise", deadline=None)
hypothesis.settings.load_profile("haltwise")

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


@pytest.fixture(scope="session")
def run_python() -> Callable[[str], str]:
    """Return a function that runs code in a fresh interpreter and returns what it printed."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}

    def run(code: str) -> str:
        return subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    return run
