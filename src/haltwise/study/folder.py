"""The folder of a study: its plan, its episodes and what was checked before it began.

``study.json`` (plan and digest), ``episodes.jsonl`` (one finished episode a line, appended),
``.inspect`` (Inspect's own logs) and what a kind of study adds. The file of episodes is the truth:
an episode that stands in it is never run again. Knows nothing of what a plan says.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from .. import __version__
from ..core.errors import InputError
from ..record.episode import AnyEpisode, Key, identity
from ..record.jsonl import decoder, encode


class StudyPlan(Protocol):
    """What every kind of plan is: a frozen dataclass with a digest."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def digest(self) -> str:
        """Twelve hexadecimal digits that change with anything in the plan."""
        ...


P = TypeVar("P", bound=StudyPlan)
E = TypeVar("E", bound=AnyEpisode)


class StudyFolder(Generic[P, E]):
    """Reads and writes the folder of one study; a kind of study subclasses it.

    Attributes:
        path: the folder.
        schema: value of ``schema`` in ``study.json``.
        kind: the word of the kind: "search" or "repair".
        episode: the class of its episodes.
    """

    schema: ClassVar[str]
    kind: ClassVar[str]
    episode: type[E]

    def __init__(self, path: Path) -> None:
        self.path = path

    def parse(self, document: dict[str, Any]) -> P:
        """Rebuild a plan from ``study.json``."""
        raise NotImplementedError

    @property
    def episodes_file(self) -> Path:
        """The file of finished episodes."""
        return self.path / "episodes.jsonl"

    @property
    def logs(self) -> Path:
        """The folder of Inspect's logs; hidden, since ``haltwise audit DIR`` reads the episodes."""
        return self.path / ".inspect"

    def begin(self, plan: P, command: str) -> None:
        """Write the plan, or check that it is the one that the folder was begun with.

        Raises:
            InputError: the folder holds another study.
        """
        if (self.path / "study.json").exists():
            begun = self.plan()
            if begun.digest != plan.digest:
                changed = [
                    name for name, value in asdict(plan).items() if asdict(begun)[name] != value
                ]
                raise InputError(
                    f"{self.path} holds a study with another plan (changed: {', '.join(changed)}); "
                    "give the same options to go on with it, or another --out"
                )
            return
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"{self.path}: no folder can be made there ({error.strerror}); name another --out"
            ) from None
        document = {
            "schema": self.schema,
            "digest": plan.digest,
            "haltwise": __version__,
            "command": command,
            "plan": asdict(plan),
        }
        self.write("study.json", document)

    def plan(self) -> P:
        """Return the plan.

        Raises:
            InputError: the folder holds no study, or one that was changed afterwards.
        """
        document = self.read("study.json")
        if document is None or document.get("schema") != self.schema:
            raise InputError(
                f"{self.path} holds no {self.kind} study; "
                f"type: haltwise study {self.kind} --out {self.path}"
            )
        plan = self.parse(document["plan"])
        if plan.digest != document["digest"]:
            raise InputError(
                f"{self.path / 'study.json'} was changed after the study had begun: its digest is "
                f"{document['digest']}, its plan has {plan.digest}"
            )
        return plan

    def read(self, name: str) -> dict[str, Any] | None:
        """Return a JSON file of the folder, or None where it is absent."""
        try:
            document: dict[str, Any] = json.loads((self.path / name).read_text("utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except ValueError as error:
            raise InputError(f"{self.path / name}: not JSON ({error})") from error
        return document

    def write(self, name: str, document: dict[str, Any]) -> None:
        """Write a JSON file of the folder; it is whole or not there."""
        partial = self.path / f".{name}.{os.getpid()}"
        partial.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", "utf-8")
        partial.replace(self.path / name)

    def append(self, episode: E) -> None:
        """Add a finished episode: one write of one line, flushed to the disk.

        Lines of several processes do not mix, since each is a single write in append mode.
        """
        line = encode(episode) + b"\n"
        handle = os.open(self.episodes_file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(handle, line)
            os.fsync(handle)
        finally:
            os.close(handle)

    def mend(self) -> None:
        """Cut a line that a killed process left half written."""
        try:
            with self.episodes_file.open("r+b") as file:
                content = file.read()
                file.truncate(content.rfind(b"\n") + 1)
        except FileNotFoundError:
            return

    def episodes(self) -> Iterator[E]:
        """Yield every finished episode once.

        Raises:
            InputError: a line is not an episode.
        """
        seen: set[Key] = set()
        try:
            file = self.episodes_file.open("rb")
        except FileNotFoundError:
            return
        with file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    return  # being written right now
                try:
                    episode = decoder.decode(line)
                except ValueError as error:
                    raise InputError(f"{self.episodes_file}, line {number}: {error}") from error
                if isinstance(episode, self.episode) and identity(episode) not in seen:
                    seen.add(identity(episode))
                    yield episode

    def count(self) -> int:
        """Return the number of lines, without reading what they say."""
        try:
            with self.episodes_file.open("rb") as file:
                return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
        except FileNotFoundError:
            return 0
