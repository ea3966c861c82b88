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
    """The best of seven imports takes under 60 ms of CPU more than starting the interpreter."""

    def best(code: str) -> float:
        times = []
        for _ in range(7):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            run_python(code)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return min(times)

    assert best("import haltwise") - best("pass") < 0.060
