"""The loops that passed, as episodes that `haltwise audit` reads.

A request carries its whole history, so the request that ends a loop holds the loop. A loop that
is never seen to end is written as censored when it has been silent for long, or at shutdown.
Without ``content`` an episode holds tool names, verdicts and decisions, and no text of anybody;
a question is then a digest.
"""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from hashlib import blake2b
from pathlib import Path
from typing import IO

from ..core.errors import InputError
from ..core.events import Usage
from ..enforce import Assessment, Step
from ..record.episode import Call, Outcome, SearchEpisode, SearchStep
from ..record.jsonl import encode

SILENT = 900.0
"""Seconds after which a loop that brings no further request counts as cut off."""
_MOST_OPEN = 10_000


class EpisodeLog:
    """Appends episodes to one file of its own. One per process."""

    def __init__(self, folder: Path, *, source: str, arm: str, content: bool) -> None:
        """Open ``folder/gateway-<time>-<process>.jsonl``, readable for its owner only.

        Args:
            folder: is created where it is missing.
            source: name of the signal, as the source of the verdicts.
            arm: what the gateway does: its policy, or that it only watches.
            content: whether texts are kept.

        Raises:
            InputError: the folder cannot be written to.
        """
        name = f"gateway-{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}.jsonl"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            handle = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        except OSError as error:
            raise InputError(
                f"--log {folder}: cannot be written to: {error.strerror}; name another folder"
            ) from None
        self.path = folder / name
        self._file: IO[bytes] = os.fdopen(handle, "ab", buffering=0)
        self._source, self._arm, self._content = source, arm, content
        self._open: OrderedDict[bytes, tuple[float, Assessment, str | None]] = OrderedDict()
        self._count = 0

    def saw(
        self, assessment: Assessment, model: str | None, answer: str | None, now: float
    ) -> None:
        """Take one request with its outcome.

        Args:
            assessment: the loop so far and the decision on it.
            model: the model that was asked.
            answer: the final answer; None where the reply calls tools, so that the loop goes on.
            now: a monotonic clock, in seconds.
        """
        if not assessment.loop.steps:
            return
        key = _key(assessment, model)
        self._open.pop(key, None)
        if answer is not None:
            self._write(assessment, model, answer)
        else:
            self._open[key] = (now, assessment, model)
        while self._open and (
            len(self._open) > _MOST_OPEN or next(iter(self._open.values()))[0] < now - SILENT
        ):
            _, (_, cut, whose) = self._open.popitem(last=False)
            self._write(cut, whose, None)

    def close(self) -> None:
        """Write the loops that are still open as censored, and close the file."""
        while self._open:
            _, (_, cut, whose) = self._open.popitem(last=False)
            self._write(cut, whose, None)
        self._file.close()

    def _write(self, assessment: Assessment, model: str | None, answer: str | None) -> None:
        self._count += 1
        loop = assessment.loop
        question = loop.question if self._content else _digest(loop.question)
        steps = [
            self._step(t, step, verdict)
            for t, (step, verdict) in enumerate(
                zip(loop.steps, assessment.verdicts, strict=True), 1
            )
        ]
        if answer is not None:
            steps.append(SearchStep(t=len(steps) + 1, action="answer"))
        ended = assessment.decision
        notes = [] if loop.trimmed is None else [f"history incomplete: {loop.trimmed}"]
        episode = SearchEpisode(
            episode_id=f"{self.path.stem}-{self._count}",
            cluster_id=question,
            question_id=question,
            model=model,
            arm=self._arm,
            seed=time.time_ns(),
            steps=steps,
            outcome=Outcome(
                answer=answer if self._content else None,
                censored=answer is None,
                reason=ended.reason if ended.stops else None,
            ),
            usage=Usage(calls=len(steps)),
            notes=notes,
        )
        self._file.write(encode(episode) + b"\n")

    def _step(self, t: int, step: Step, verdict: object) -> SearchStep:
        calls = [
            Call(
                action=result.call.name if result.call else "unknown",
                arguments=result.call.arguments if result.call and self._content else None,
                result=result.text if self._content else None,
            )
            for result in step.results
        ]
        one = len(calls) == 1
        return SearchStep(
            t=t,
            action="+".join(call.action for call in calls),
            arguments=calls[0].arguments if one else None,
            result=calls[0].result if one else None,
            verdicts={self._source: verdict},  # type: ignore[dict-item]
            parallel=[] if one else calls,
        )


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _key(assessment: Assessment, model: str | None) -> bytes:
    """Name a loop by its question and its first results: their call ids tell runs apart."""
    first = assessment.loop.steps[0]
    ids = [result.call.id if result.call else None for result in first.results]
    text = repr((model, assessment.loop.question, ids, [r.text for r in first.results]))
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
