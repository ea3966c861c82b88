"""Rows of a data set, from a local file or from the data hub. Ignorant of what the rows mean."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..core.errors import InputError

Row = Mapping[str, Any]


def file_rows(path: Path) -> list[Row]:
    """Return the objects of a JSON array or of a JSONL file.

    Raises:
        InputError: the file cannot be read, is not JSON, or holds something else than objects.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: {reason}; name a JSON or JSONL file") from error
    try:
        rows = json.loads(text)
    except json.JSONDecodeError:
        rows = _lines(path, text)
    rows = rows if isinstance(rows, list) else [rows]
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise InputError(f"{path}, row {number}: expected an object, got {row!r:.60}")
    return rows


def _lines(path: Path, text: str) -> list[Any]:
    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                rows.append(json.loads(line))
            except json.JSONDecodeError as error:
                raise InputError(f"{path}, line {number}: not JSON ({error.msg})") from error
    return rows


def hub_rows(name: str, configuration: str | None, split: str, *, remedy: str) -> Iterable[Row]:
    """Return the rows of a data set on the data hub (extra ``hub``).

    Args:
        name: owner and name of the data set.
        configuration: its configuration, or None for the only one.
        split: which part of it.
        remedy: what to type instead where the hub cannot be reached.

    Raises:
        InputError: the extra is missing, or the hub did not give the data.
    """
    try:
        from datasets import load_dataset
    except ImportError as error:
        raise InputError(
            f"{name} is downloaded from the data hub; type: pip install 'haltwise[hub]', "
            f"or {remedy}"
        ) from error
    try:
        data: Iterable[Row] = load_dataset(name, configuration, split=split)
    except Exception as error:  # the library raises dozens of kinds; all mean "no data"
        raise InputError(
            f"the data hub did not give {name} ({type(error).__name__}); go online, or {remedy}"
        ) from error
    return data
