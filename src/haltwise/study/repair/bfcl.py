"""Function-calling problems of the Berkeley leaderboard, read out of its wheel.

The package is never installed (it pins old numerics and pulls in training frameworks): the wheel
is downloaded, checked by its SHA-256, and two JSON files are read out of it.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from ...core.errors import InputError
from ...judges.weights import Download, cache_folder, pip_download
from ..rows import Row

PACKAGE, VERSION = "bfcl-eval", "2026.3.23"
SHA256 = "3bb6dfa5f0c68ad403c9ec50b00db2bb3b4cc9b38ab1ff33f48fe30d853d3a0a"
FILES = {"simple": "simple_python", "multiple": "multiple", "parallel": "parallel"}
"""Name of the data file by category."""


def bfcl_rows(
    category: str, wheel: Path | None = None, *, download: Download = pip_download
) -> Iterator[Row]:
    """Yield the problems of a category: id, text, functions, acceptable calls.

    Args:
        category: "simple", "multiple" or "parallel".
        wheel: a local copy of the wheel; without it the cache folder, then the package index.
        download: fetches the wheel; replaced in tests.

    Raises:
        InputError: the category is unknown, or the wheel is not the one with the known hash.
    """
    if category not in FILES:
        raise InputError(f"there is no BFCL category {category!r}; known: {', '.join(FILES)}")
    path = wheel or _cached(download)
    data = path.read_bytes() if path.exists() else b""
    if hashlib.sha256(data).hexdigest() != SHA256:
        raise InputError(f"{path}: not the wheel {PACKAGE}=={VERSION}; its hash differs")
    with zipfile.ZipFile(path) as archive:
        name = f"BFCL_v4_{FILES[category]}.json"
        problems = _lines(archive, f"bfcl_eval/data/{name}")
        answers = _lines(archive, f"bfcl_eval/data/possible_answer/{name}")
    acceptable = {row["id"]: row["ground_truth"] for row in answers}
    for row in problems:
        yield {
            "id": row["id"],
            "text": "\n".join(turn["content"] for turn in row["question"][0]),
            "functions": row["function"],
            "acceptable": acceptable[row["id"]],
        }


def _cached(download: Download) -> Path:
    target = cache_folder() / f"{PACKAGE}-{VERSION}.whl"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
            download(PACKAGE, VERSION, Path(scratch)).replace(target)
    return target


def _lines(archive: zipfile.ZipFile, name: str) -> list[Row]:
    return [json.loads(line) for line in archive.read(name).decode("utf-8").splitlines()]
