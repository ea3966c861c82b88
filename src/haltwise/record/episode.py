"""The shape of a recorded episode: one loop from the question to its end.

One JSON line each; `haltwise.record.jsonl` reads and writes them. What a source did not record is
None, never 0. Knows nothing of policies; the words for verdicts are those of `haltwise.core`.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ..core.events import Usage, Verdict

SCHEMA_VERSION = 1
"""Version of the episode format that this package writes; older ones are read."""


class AnswerNow(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What the agent answered when an answer was forced on a copy of the conversation."""

    answer: str | None = None
    """The forced answer; None when only its grade was kept."""
    success: bool | None = None
    """Whether it was right; None when it was not graded."""


class Beliefs(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What the agent said of itself on a copy of the conversation."""

    answer_now: float | None = None
    """Its probability of a right answer if it answered now, in [0, 1]."""
    search_on: float | None = None
    """Its probability of a right answer if it searched on, in [0, 1]."""
    usefulness: int | None = None
    """How useful it found the last result, from 1 (not at all) to 5."""


class Call(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One of several tool calls that an agent made side by side in one turn."""

    action: str
    """The tool's name."""
    arguments: Any = None
    """The call's arguments as they were recorded: text or JSON."""
    result: str | None = None
    """What the tool returned; None where no result was recorded for this call."""


class SearchStep(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One action of a search loop: a tool call with its result, or the final answer."""

    t: int
    """Position in the episode, from 1."""
    action: str
    """The tool's name ("search+lookup" for calls made side by side), or "answer"."""
    arguments: Any = None
    """The call's arguments as they were recorded: text or JSON; None for `parallel` calls."""
    result: str | None = None
    """What the tool returned (all `parallel` results joined); None for an answer or if not kept."""
    verdicts: dict[str, Verdict] = {}
    """The judgement of the result by each source: "recorded", "side_channel", "lexical", ..."""
    beliefs: Beliefs | None = None
    """Belief probe at this decision point, if one was made."""
    answer_now: AnswerNow | None = None
    """Answer-now branch at this decision point, if one was recorded."""
    time: float | None = None
    """Seconds since the start of the episode."""
    usage: Usage | None = None
    """What the step cost."""
    parallel: list[Call] = []
    """The calls one by one where one turn made several: together they are one step."""
    thought: str | None = None
    """What the agent said in the turn that took this action; None when nothing was kept."""
    asked: str | None = None
    """What the user said between the step before and this one; None where the user was silent."""


class RepairStep(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One round of a verify-repair loop: a candidate and the votes on it."""

    round: int
    """0 for the initial plan, k for the plan after k repairs."""
    candidate: str | None = None
    """The plan itself; None where it was not kept."""
    accepts: int | None = None
    """Votes that accept it; None where the votes were not recorded."""
    votes: int | None = None
    """Votes that were given; 0 when the verifier failed."""
    valid: bool | None = None
    """Whether it is really valid; None where the truth is not known."""
    time: float | None = None
    """Seconds since the start of the episode."""
    usage: Usage | None = None
    """What the round cost."""
    errors: float | None = None
    """Failed checks of the candidate, where the source counts them (lower is better)."""
    views: dict[str, tuple[int, int]] = {}
    """(accepts, votes) by verifier where several judged the candidate; else empty."""
    accept_probability: float | None = None
    """Exact probability that a vote accepts, in [0, 1], where the verifier could tell it: its own,
    at temperature 1; votes drawn at another temperature accept at another rate."""


class Outcome(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """How an episode ended."""

    success: bool | None = None
    """Whether the final answer or plan was right; None when not graded."""
    answer: str | None = None
    """The final answer; None when there was none or it was not kept."""
    censored: bool = False
    """Whether the loop was cut off from outside, so that its own end is not known."""
    reason: str | None = None
    """Why it ended, in the source's words or those of a `Decision`."""


def _current() -> int:
    return SCHEMA_VERSION


class Episode(
    msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False, tag_field="kind"
):
    """What both kinds of loop have in common; use `SearchEpisode` or `RepairEpisode`."""

    schema_version: int = msgspec.field(default_factory=_current)
    """Version of this format; always written, even where other defaults are left out."""
    episode_id: str
    """Names the episode; unique within a file."""
    cluster_id: str
    """What is resampled as one in intervals: usually the question."""
    question_id: str
    """Names the question or task."""
    question: str | None = None
    """The question's text; None where it was not kept."""
    regime: str | None = None
    """Fault condition of the source; None outside experiments."""
    model: str | None = None
    """The model that acted."""
    arm: str | None = None
    """What the harness added."""
    seed: int | None = None
    """Seed or trial number; tells repetitions of one question apart."""
    run: str | None = None
    """Where a format does not number its trials: session or trace id, else digest of the record."""
    labels: dict[str, str] = {}
    """What else the source says of the episode, such as ``split``; for filters only."""
    outcome: Outcome = Outcome()
    usage: Usage | None = None
    """What the whole episode cost, all roles together."""
    usage_by_role: dict[str, Usage] = {}
    """The same by role (agent, judge, probe, branch, regeneration), where a study kept it."""
    plan: str | None = None
    """Digest of the study plan under which it was run; None outside studies."""
    notes: list[str] = []
    """What a reader of this episode must know, such as what its format did not carry."""


class SearchEpisode(Episode, frozen=True, omit_defaults=True, kw_only=True, gc=False, tag="search"):
    """A search loop."""

    budget: int | None = None
    """Actions allowed, the final answer included."""
    steps: list[SearchStep] = []


class RepairEpisode(Episode, frozen=True, omit_defaults=True, kw_only=True, gc=False, tag="repair"):
    """A verify-repair loop."""

    budget: int | None = None
    """Repairs allowed."""
    gated: bool | None = None
    """Whether the truth ended the loop (it stops when right): beta cannot be estimated then."""
    steps: list[RepairStep] = []


AnyEpisode = SearchEpisode | RepairEpisode
"""What a reader yields."""

Key = tuple[str | None, str | None, str | None, str, int | None, str | None]


def identity(episode: Episode) -> Key:
    """Return (model, arm, regime, question_id, seed, run): episodes equal in it are duplicates.

    ``run`` is None in every format that numbers its trials.
    """
    return (
        episode.model,
        episode.arm,
        episode.regime,
        episode.question_id,
        episode.seed,
        episode.run,
    )


MEAN6 = (
    "clean",
    "persistent",
    "recover_after_1",
    "recover_after_2",
    "recover_after_3",
    "late_onset_from_3",
)
"""The six regimes that mean6 averages with equal weight (METHODS section 1)."""

REGIMES = (
    *MEAN6,
    "recover_after_4",
    "recover_after_5",
    "plausible",
    "answerless",
    "backup_tool",
)
"""Every fault regime of the study; any other is kept and named in a note."""
