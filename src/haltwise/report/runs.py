"""What lies in a folder of runs: studies and files of traces, each under a name that is no path.

Names in addresses are digests of what was found here, so an address can reach nothing else. Knows
files; ignorant of what is in them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SUFFIXES = (
    ".jsonl",
    ".jsonl.gz",
    ".jsonl.zst",
    ".ndjson",
    ".json",
    ".parquet",
    ".eval",
    ".traj",
)
"""Ends of names that count as files of traces."""
MOST = 500
"""Runs that are listed."""


@dataclass(frozen=True)
class Run:
    """One thing to report on."""

    path: Path
    """The study's folder, or the file."""
    name: str
    """Its path within the folder that is viewed."""
    study: bool
    """Whether it is a study."""

    @property
    def id(self) -> str:
        """How addresses name it: 16 hexadecimal digits."""
        return hashlib.sha256(self.name.encode("utf-8", "surrogateescape")).hexdigest()[:16]

    def stamp(self) -> str:
        """Return what changes when a file of the run does; empty where it is gone."""
        digest = hashlib.sha256()
        for path in sorted(self._files()):
            try:
                found = path.stat()
            except OSError:
                continue
            digest.update(
                f"{path}\0{found.st_size}\0{found.st_mtime_ns}\n".encode(errors="replace")
            )
        return digest.hexdigest()[:16] if self.path.exists() else ""

    def changed(self) -> float:
        """Return when a file of the run last changed, in seconds since 1970; 0 where it is gone."""
        times = []
        for path in self._files():
            try:
                times.append(path.stat().st_mtime)
            except OSError:
                continue
        return max(times, default=0.0)

    def _files(self) -> Iterator[Path]:
        if self.study:
            yield from (path for path in self.path.rglob("*") if path.is_file())
        else:
            yield self.path


def runs_in(folder: Path) -> list[Run]:
    """Return the runs of a folder, by name: the folder itself if it is a study.

    Hidden files, links that lead out of the folder, and files inside studies are left out.
    """
    if (folder / "study.json").is_file():
        return [Run(folder, folder.resolve().name, True)]
    found = list(_below(folder, folder.resolve(), folder))
    return sorted(found, key=lambda run: run.name)[:MOST]


def _below(folder: Path, root: Path, here: Path) -> Iterator[Run]:
    try:
        entries = sorted(here.iterdir())
    except OSError:
        return
    for path in entries:
        if path.name.startswith(".") or not path.resolve().is_relative_to(root):
            continue
        name = path.relative_to(folder).as_posix()
        if path.is_dir():
            if path.is_symlink():
                continue
            if (path / "study.json").is_file():
                yield Run(path, name, True)
            else:
                yield from _below(folder, root, path)
        elif path.name.lower().endswith(SUFFIXES) and path.is_file():
            yield Run(path, name, False)
