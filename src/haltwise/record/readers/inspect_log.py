"""Reader of Inspect AI logs: ``.eval`` archives and ``.json`` files, one sample an episode.

Long contents that Inspect moved aside (``attachment://``) are put back. A sample that ended in an
error is a named skip: its retry counts. A log superseded after a crash shares its task id with its
successor, so that its samples are duplicates. An archive is never unpacked: its members are read
one at a time, each up to a size.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import msgspec
from msgspec.structs import replace

from ..archive import read_member
from ..chat import Message, read_messages
from ..conversation import add_usage, digest, episode_of, name_of, usage_of
from ..episode import SearchEpisode
from ..skip import Skip
from ..source import Source, SourceError, is_url
from .base import Found
from .lines import DECODE_ERRORS, reason_of
from .sniffing import first_object_keys

RECORD = "an Inspect sample"

_SAMPLE = re.compile(r"samples/[^/]+\.json")
_ATTACHED = re.compile(r"attachment://([0-9a-zA-Z]+)|tc://([0-9a-f]{32})")
_HEADERS = ("header.json", "_journal/start.json")
_GRADES = {"C": True, "I": False, "N": False, "yes": True, "no": False, "true": True}
_MAX_EXPANDED = 1 << 28
"""Characters that the attachments of one sample may grow to."""

_decode = msgspec.json.Decoder().decode


class _Sample(msgspec.Struct, gc=False):
    """What is read of a sample; the decoder passes over the rest, such as its events."""

    id: Any = None
    epoch: Any = None
    input: Any = None
    messages: Any = None
    scores: Any = None
    attachments: Any = None
    model_usage: Any = None
    error: Any = None
    limit: Any = None


Told = tuple[_Sample, list[Message]]

_TOGETHER = 16
_TOGETHER_BYTES = 1 << 18


class _Log(msgspec.Struct, gc=False):
    """What is read of a log in one document."""

    eval: Any = None
    samples: list[msgspec.Raw] | None = None


_sample_in = msgspec.json.Decoder(_Sample).decode
_log_in = msgspec.json.Decoder(_Log).decode


class InspectLog:
    """Logs of Inspect AI evaluations."""

    name = "inspect"
    splits = False

    def sniff(self, head: bytes, path: str) -> float:
        """Sure of an archive with Inspect's members, or of a document with eval and plan."""
        if head.startswith(b"PK\x03\x04"):
            inside = b"_journal/" in head or b"samples/" in head or b"header.json" in head
            return 0.95 if inside or path.endswith(".eval") else 0.0
        keys = first_object_keys(head)
        return 0.9 if {"eval", "version"} <= keys or {"eval", "plan"} <= keys else 0.0

    def read(self, source: Source) -> Iterator[Found | Skip]:
        """Yield every sample as an episode or a skip."""
        if source.head.startswith(b"PK"):
            yield from _archive(source)
            return
        log = _log(source.whole())
        header = log.eval if isinstance(log.eval, dict) else {}
        for number, sample in enumerate(log.samples or (), 1):
            made = _episode(_told(memoryview(sample)), header)
            if isinstance(made, str):
                yield source.skip(None, f"sample {number} {made}")
            else:
                yield None, made


def _log(data: bytes) -> _Log:
    """Return the log in a document, which has a list of samples."""
    try:
        log = _log_in(data)
    except DECODE_ERRORS:
        try:
            whole = _decode(data)
        except DECODE_ERRORS as error:
            raise SourceError(reason_of(error, "an Inspect log")) from error
        if not isinstance(whole, dict):
            raise SourceError("is not an Inspect log: it is no object") from None
        log = _Log()
    if log.samples is None:
        raise SourceError("is an Inspect log without samples (a header only)")
    return log


def _archive(source: Source) -> Iterator[Found | Skip]:
    local = source.plain and not is_url(source.path) and Path(source.path).is_file()
    with Path(source.path).open("rb") if local else io.BytesIO(source.whole()) as file:
        try:
            archive = zipfile.ZipFile(file)
            members = {info.filename: info for info in archive.infolist()}
        except (zipfile.BadZipFile, OSError, ValueError, zlib.error) as error:
            raise SourceError(f"is not an archive that can be read: {error}") from error
        header = _header(file, members)
        names = sorted(name for name in members if _SAMPLE.fullmatch(name))
        if not names:
            raise SourceError("is an Inspect log without finished samples")
        for some in _groups(names, members):
            told = [(name, _member(file, members[name])) for name in some]
            for name, found in told:
                made = _episode(found, header)
                if isinstance(made, str):
                    yield source.skip(None, f"{name} {made}")
                else:
                    yield None, made


def _groups(names: list[str], members: dict[str, zipfile.ZipInfo]) -> Iterator[list[str]]:
    """Yield the names in lists of at most 16 members and about 256 KB.

    To read several, then to make their episodes, is quicker than to take turns (see `batches`).
    """
    group: list[str] = []
    size = 0
    for name in names:
        group.append(name)
        size += members[name].file_size
        if len(group) == _TOGETHER or size > _TOGETHER_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


def _member(file: IO[bytes], info: zipfile.ZipInfo) -> Told | str:
    try:
        return _told(read_member(file, info))
    except SourceError as error:
        return str(error)


def _header(file: IO[bytes], members: dict[str, zipfile.ZipInfo]) -> dict[str, Any]:
    for name in _HEADERS:
        if name in members:
            try:
                header = _decode(read_member(file, members[name]))
            except (SourceError, *DECODE_ERRORS):
                continue
            if isinstance(header, dict) and isinstance(header.get("eval"), dict):
                found: dict[str, Any] = header["eval"]
                return found
    return {}


def _told(data: bytes | memoryview) -> Told | str:
    """Return a sample and its messages, references as they are; or why there are none."""
    try:
        sample = _sample_in(data)
    except msgspec.ValidationError:
        return f"is not {RECORD}: it is no object"
    except DECODE_ERRORS as problem:
        return reason_of(problem, RECORD)
    error = sample.error
    if isinstance(error, dict):
        said = str(error.get("message", "unknown"))[:200]
        return f"ended in an error ({said}); a retry of it counts"
    messages = sample.messages
    if not isinstance(messages, list):
        return f"is not {RECORD}: messages is no list"
    return sample, read_messages(messages)


def _episode(told: Told | str, header: dict[str, Any]) -> SearchEpisode | str:
    """Return the episode of a sample, or why there is none."""
    if isinstance(told, str):
        return told
    sample, spoken = told
    attachments = sample.attachments
    if isinstance(attachments, dict) and attachments:
        store = _Attachments(attachments)
        spoken = store.into(spoken)
        if store.budget < 0:
            return f"grows beyond {_MAX_EXPANDED >> 20} MB with its attachments"
    task = name_of(header.get("task")) or "task"
    number = name_of(sample.id) or digest(repr(sample.input))
    epoch = sample.epoch
    given = sample.input
    question = given if isinstance(given, str) and "://" not in given[:14] else None
    usage = None
    models = sample.model_usage
    for part in models.values() if isinstance(models, dict) else ():
        spent = usage_of(part)
        usage = spent if usage is None else add_usage(usage, spent)
    success, note = _success(sample.scores)
    limit = sample.limit
    kind = limit.get("type") if isinstance(limit, dict) else None
    return episode_of(
        spoken,
        {},
        number.encode(),
        task=f"{task}/{number}",
        run=name_of(header.get("task_id")),
        trial=epoch if isinstance(epoch, int) else 1,
        keep_run=True,
        model=name_of(header.get("model")),
        question=question,
        success=success,
        reason=f"limit: {kind}" if isinstance(kind, str) else None,
        censored=True if isinstance(kind, str) else None,
        usage=usage,
        notes=[note] if note else [],
    )


def _success(scores: Any) -> tuple[bool | None, str | None]:
    """Return the outcome by the first score that says right or wrong, and a note on it."""
    if not isinstance(scores, dict):
        return None, None
    for name, score in scores.items():
        value = score.get("value") if isinstance(score, dict) else score
        grade = _GRADES.get(value) if isinstance(value, str) else None
        if isinstance(value, (bool, int, float)) and value in (0, 1):
            grade = bool(value)
        if grade is not None:
            several = len(scores) > 1
            return grade, f"outcome by the score {name!r} of {len(scores)}" if several else None
    return None, "no score says right or wrong" if scores else None


class _Attachments:
    """Puts long texts back where Inspect left a reference, up to a number of characters.

    A text is put in as it is: what it refers to itself is not followed.
    """

    def __init__(self, texts: dict[str, Any]) -> None:
        self._texts = texts
        self.budget = _MAX_EXPANDED

    def into(self, messages: list[Message]) -> list[Message]:
        """Return the messages with their references resolved."""
        made = []
        for message in messages:
            if message.text is not None and "://" in message.text:
                message = replace(message, text=self._text(message.text))
            if message.calls:
                message = self._calls(message)
            for result in message.results:
                if "://" in result.text:
                    found = [
                        replace(given, text=self._text(given.text)) for given in message.results
                    ]
                    message = replace(message, results=found)
                    break
            made.append(message)
        return made

    def _calls(self, message: Message) -> Message:
        calls = message.calls
        for number, call in enumerate(calls):
            arguments = self._value(call.arguments)
            if arguments is not call.arguments:
                calls = [*calls[:number], replace(call, arguments=arguments), *calls[number + 1 :]]
        return message if calls is message.calls else replace(message, calls=calls)

    def _text(self, text: str) -> str:
        return _ATTACHED.sub(self._fetch, text)

    def _fetch(self, match: re.Match[str]) -> str:
        found = self._texts.get(match.group(1) or match.group(2))
        if not isinstance(found, str):
            return match.group()
        self.budget -= len(found)
        return found if self.budget >= 0 else ""

    def _value(self, value: Any, depth: int = 0) -> Any:
        """Return a value with its texts put back; the value itself where nothing is."""
        if value.__class__ is str:
            return self._text(value) if "://" in value else value
        if depth > 50:
            return value
        if isinstance(value, list):
            made = [self._value(item, depth + 1) for item in value]
            return made if any(a is not b for a, b in zip(made, value, strict=True)) else value
        if value.__class__ is dict:
            changed = {}
            for key, item in value.items():
                if item.__class__ is str and "://" not in item:
                    continue
                if (found := self._value(item, depth + 1)) is not item:
                    changed[key] = found
            return {**value, **changed} if changed else value
        return value


reader = InspectLog()
