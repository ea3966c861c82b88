"""Recordings that come with haltwise: a real small model, with nothing stopped.

``make recording`` makes them. One gzipped file each: a header line (model, hash of its weights,
date, commands, plans), then one episode a line. Reading one asks no model.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Generic, TypeVar

from ..core.errors import InputError
from ..record.episode import Episode
from ..record.jsonl import decoder

E = TypeVar("E", bound=Episode)
FILE = "data/recording.jsonl.gz"


@dataclass(frozen=True)
class Recording(Generic[E]):
    """Recorded episodes and where they come from."""

    header: dict[str, Any]
    episodes: list[E]


def bundled_recording(package: str) -> Path | None:
    """Return the recording in a package of this installation, or None where there is none.

    Args:
        package: ``haltwise.study.search`` or ``haltwise.study.repair``.
    """
    path = Path(str(resources.files(package).joinpath(FILE)))
    return path if path.is_file() else None


def read_recording(path: Path, kind: type[E]) -> Recording[E]:
    """Read a recording of one kind of episode.

    Raises:
        InputError: the file is none.
    """
    try:
        first, *rest = gzip.decompress(path.read_bytes()).splitlines()
        header = json.loads(first)
        episodes = [decoder.decode(line) for line in rest]
    except (OSError, ValueError, EOFError) as error:
        raise InputError(f"{path}: not a recording ({error}); type: make recording") from error
    return Recording(header, [e for e in episodes if isinstance(e, kind)])
