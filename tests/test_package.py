"""The package from outside: its public names, and what importing it costs."""

from __future__ import annotations

import resource
from collections.abc import Callable

import haltwise

Run = Callable[[str], str]


def test_public_names() -> None:
    """Every public name exists, and the list is in order."""
    assert all(hasattr(haltwise, name) for name in haltwise.__all__)
    assert haltwise.__all__ == sorted(haltwise.__all__)


def test_importing_loads_nothing_heavy(run_python: Run) -> None:
    """``import haltwise`` needs the standard library only."""
    heavy = "{'numpy', 'scipy', 'msgspec', 'pyarrow', 'rich', 'click', 'asyncio', 'ssl', 'difflib'}"
    assert run_python(f"import sys, haltwise; print(sorted({heavy} & set(sys.modules)))") == "[]\n"


def test_importing_is_quick(run_python: Run) -> None:
    """It costs nine tenths of ``import asyncio`` at most, side by side: 60 ms where that takes 66.

    A bound in milliseconds would be one of the machine, and of what else it has to do.
    """

    def cpu(code: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run_python(code)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    codes = ("pass", "import haltwise", "import asyncio")
    nothing, ours, theirs = map(
        min, zip(*([cpu(code) for code in codes] for _ in range(7)), strict=True)
    )
    assert ours - nothing < 0.9 * (theirs - nothing)
