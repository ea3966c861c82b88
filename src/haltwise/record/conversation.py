"""From a recorded conversation with what stands around it to an episode.

Knows under which names trace formats keep task, run, trial, model and outcome. The conversation
itself is read by `haltwise.record.turns`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from hashlib import sha1
from typing import Any

from ..core.events import Usage
from .chat import Message
from .episode import Outcome, SearchEpisode
from .turns import loop_of

TASK = ("task_id", "question_id", "instance_id", "problem_id", "example_id", "sample_id")
RUN = ("run_id", "trace_id", "session_id", "sessionId", "conversation_id", "thread_id", "id")
TRIAL = ("trial", "trial_index", "seed", "epoch", "attempt")
OUTCOME = ("success", "reward", "score", "resolved", "correct", "is_correct", "em", "passed")
MODEL = ("model", "model_name", "model_name_or_path", "agent_model")


def first_of(record: Mapping[str, Any], keys: Iterable[str]) -> Any:
    """Return the first value under ``keys`` that is there and not null."""
    if record:
        for key in keys:
            if key in record and (value := record[key]) is not None:
                return value
    return None


def success_of(value: Any) -> bool | None:
    """Return a recorded outcome as true or false; None for what is neither 0 nor 1."""
    if isinstance(value, bool):
        return value
    if isinstance(value, (int, float)) and math.isfinite(value):
        return bool(value) if value in (0, 1) else None
    return None


def name_of(value: Any) -> str | None:
    """Return an id as text; None for what is no id."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return None


def digest(text: str | bytes | memoryview) -> str:
    """Return a short name made of a text.

    SHA-1, for it is the fastest of the standard library's on whole records; not for security.
    """
    if isinstance(text, str):
        text = text.encode("utf-8", "surrogatepass")
    return sha1(text, usedforsecurity=False).hexdigest()[:16]


def episode_of(
    messages: Iterable[Message],
    record: Mapping[str, Any],
    raw: bytes | memoryview,
    *,
    task: str | None = None,
    run: str | None = None,
    trial: int | None = None,
    model: str | None = None,
    question: str | None = None,
    success: bool | None = None,
    reason: str | None = None,
    usage: Usage | None = None,
    censored: bool | None = None,
    keep_run: bool = False,
    notes: Iterable[str] = (),
) -> SearchEpisode:
    """Return the episode of one conversation.

    Args:
        messages: the conversation.
        record: what stands around it; searched for whatever is not given by name.
        raw: the bytes of the record, which tell it apart where nothing else does.
        task: names the question.
        run: names the run.
        trial: numbers the run.
        model: the model that acted.
        question: the question's text, where it is not the first user message.
        success: whether the outcome was right.
        reason: why it ended.
        usage: what it cost.
        censored: whether it was cut off from outside; None judges by its last message.
        keep_run: whether ``run`` tells it apart even where task and trial are numbered.
        notes: what a reader must know.
    """
    loop = loop_of(messages)
    notes = loop.notes if notes == () else [*notes, *loop.notes]
    question = question if question is not None else loop.question
    task = task or name_of(first_of(record, TASK))
    run = run or name_of(first_of(record, RUN))
    if trial is None and isinstance(given := first_of(record, TRIAL), int):
        trial = int(given)
    if trial is None or task is None:
        run = run or digest(raw)
    if success is None and (value := first_of(record, OUTCOME)) is not None:
        success = success_of(value)
        if success is None:
            notes.append(f"the outcome {str(value)[:40]!r} is neither right (1) nor wrong (0)")
    named = task or (digest(question) if question else run or digest(raw))
    model = model or name_of(first_of(record, MODEL))
    regime = record.get("regime")
    arm = first_of(record, ("arm", "condition"))
    split = record.get("split")
    named_run = named if trial is None else f"{named}/{trial}"
    return SearchEpisode(
        episode_id=f"{named_run}/{run}" if run else named_run,
        cluster_id=named,
        question_id=named,
        question=question,
        regime=regime if isinstance(regime, str) else None,
        model=model,
        arm=arm if isinstance(arm, str) else None,
        seed=trial,
        run=run if keep_run or trial is None or task is None else None,
        labels={"split": split} if isinstance(split, str) else {},
        outcome=Outcome(
            success, loop.answer, loop.censored if censored is None else censored, reason
        ),
        usage=usage,
        notes=notes,
        steps=loop.steps,
    )


_CACHED = ("cache_creation_input_tokens", "cache_read_input_tokens")


def usage_of(record: Any) -> Usage | None:
    """Return a usage object of any dialect; None where there is none."""
    if not isinstance(record, dict):
        return None
    read = _count(record, ("input_tokens", "prompt_tokens"))
    written = _count(record, ("output_tokens", "completion_tokens"))
    if read is None and written is None:
        return None
    for key in _CACHED:
        if key in record and (cached := _count(record, (key,))) is not None:
            read = (read or 0) + cached
    return Usage(None, read, written)


def add_usage(first: Usage | None, second: Usage | None) -> Usage | None:
    """Return the sum of two usages, each None where it is not known."""
    if first is None or second is None:
        return first or second
    return Usage(
        *(
            None if a is None and b is None else (a or 0) + (b or 0)
            for a, b in (
                (first.calls, second.calls),
                (first.input_tokens, second.input_tokens),
                (first.output_tokens, second.output_tokens),
            )
        )
    )


def _count(record: Mapping[str, Any], keys: Iterable[str]) -> int | None:
    for key in keys:
        if key in record and (value := record[key]) is not None:
            counted = isinstance(value, int) and not isinstance(value, bool) and value >= 0
            return value if counted else None
    return None
