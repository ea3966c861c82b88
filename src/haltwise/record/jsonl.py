"""Our own format: one episode a JSON line, with the version of its schema.

Writing is atomic: a file under its final name is whole. Old versions stay readable; the golden
files of each version in the tests see to it.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import msgspec

from ..core.errors import InputError
from ..core.observation import MOST_VOTES
from .episode import SCHEMA_VERSION, AnyEpisode, RepairEpisode, RepairStep, SearchEpisode

LAST_ROUND = 10_000
"""Rounds beyond this are taken for a mistake."""

_encoder = msgspec.json.Encoder()

decoder: msgspec.json.Decoder[AnyEpisode] = msgspec.json.Decoder(AnyEpisode)
"""Decodes one line."""


def encode(episode: AnyEpisode) -> bytes:
    """Return ``episode`` as one line without its line end. What is not known is left out."""
    return _encoder.encode(episode)


def check(episode: AnyEpisode) -> str | None:
    """Return what makes a decoded episode unusable, or None."""
    if episode.schema_version > SCHEMA_VERSION:
        return (
            f"is written in version {episode.schema_version} of the episode format, this haltwise "
            f"reads up to {SCHEMA_VERSION}; type: pip install -U haltwise"
        )
    if isinstance(episode, SearchEpisode):
        return _search_problem(episode)
    if isinstance(episode, RepairEpisode):
        if not episode.steps:
            return "is a repair loop without rounds; the initial plan is round 0"
        seen: set[int] = set()
        for step in episode.steps:
            if step.round in seen:
                return f"round {step.round} comes twice"
            if not 0 <= step.round <= LAST_ROUND:
                return f"round lies between 0 and {LAST_ROUND}; got {step.round}"
            seen.add(step.round)
            if problem := votes_problem(step.accepts, step.votes) or _judged_problem(step):
                return f"round {step.round}: {problem}"
    return None


def _search_problem(episode: SearchEpisode) -> str | None:
    before = 0
    for step in episode.steps:
        if step.t <= before:
            return f"t counts steps from 1 and rises; got {step.t} after {before}"
        before = step.t
        if step.time is not None and step.time < 0:
            return f"step {step.t}: time is 0 or more seconds; got {step.time}"
    return None


def _judged_problem(step: RepairStep) -> str | None:
    for name, (accepts, votes) in step.views.items():
        if problem := votes_problem(accepts, votes):
            return f"view {name!r}: {problem}"
    chance = step.accept_probability
    if chance is not None and not 0 <= chance <= 1:
        return f"accept_probability lies between 0 and 1; got {chance}"
    if step.errors is not None and step.errors < 0:
        return f"errors is 0 or more; got {step.errors}"
    if step.time is not None and step.time < 0:
        return f"time is 0 or more seconds; got {step.time}"
    return None


def votes_problem(accepts: int | None, votes: int | None) -> str | None:
    """Return what is wrong with a vote count, or None."""
    if votes is not None and votes < 0:
        return f"votes is 0 or more; got {votes}"
    if votes is not None and votes > MOST_VOTES:
        return f"votes is at most {MOST_VOTES}; got {votes}"
    if accepts is not None and accepts < 0:
        return f"accepts is 0 or more; got {accepts}"
    if accepts is not None and votes is None:
        return f"accepts is {accepts}, but votes is missing"
    if accepts is not None and votes is not None and accepts > votes:
        return f"accepts ({accepts}) is more than votes ({votes})"
    return None


def write_episodes(path: str | os.PathLike[str], episodes: Iterable[AnyEpisode]) -> int:
    """Write ``episodes`` to ``path`` and return how many there were.

    Compressed by the ending ``.gz`` or ``.zst``. The file appears under its name when it is whole;
    whatever had that name is replaced.

    Raises:
        InputError: the file cannot be written, or ``.zst`` without the extra that it needs.
    """
    count = 0
    with atomic(path) as raw, compressed(raw, Path(path).suffix) as stream:
        lines: list[bytes] = []
        for episode in episodes:
            lines.append(encode(episode))
            count += 1
            if len(lines) == 1024:
                stream.write(b"\n".join(lines) + b"\n")
                lines.clear()
        if lines:
            stream.write(b"\n".join(lines) + b"\n")
    return count


@contextmanager
def atomic(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a temporary file beside ``path`` that takes its name once it is whole and on disk.

    Raises:
        InputError: the file cannot be written there.
    """
    target = Path(path)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror or error}") from error
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError):
            reason = error.strerror or error
            raise InputError(f"{target} cannot be written: {reason}") from error
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextmanager
def compressed(raw: IO[bytes], suffix: str) -> Iterator[Any]:
    """Return a stream that compresses into ``raw`` as ``suffix`` says; the same bytes every time.

    Raises:
        InputError: ``.zst`` without zstandard.
    """
    if suffix == ".gz":
        with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=raw, mtime=0) as stream:
            yield stream
    elif suffix == ".zst":
        with _zstd()(raw) as stream:
            yield stream
    else:
        yield raw


def _zstd() -> Callable[[IO[bytes]], Any]:
    try:
        import zstandard
    except ImportError:
        raise InputError(
            "zst output needs zstandard; type: pip install 'haltwise[remote]'"
        ) from None
    return lambda raw: zstandard.ZstdCompressor().stream_writer(raw, closefd=False)
