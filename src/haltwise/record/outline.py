"""The outline of a search episode: all that an audit counts, and nothing else.

A million episodes repeat a few thousand outlines, so reading and counting are split:

- An `Outline` is a small hashable tuple without names: regime, model, arm, budget, one byte for
  each step's action and verdict, the outcome, and what its error texts are. Whoever counts turns
  it into sufficient statistics **once** and remembers them by the outline.
- `Outlines` is a batch: the distinct outlines of the batch, and for each episode the index of its
  outline and the 8-byte digest of its cluster (what is resampled as one). Everything per episode is
  a numpy array; no Python object is made for it.
- `haltwise.record.read_outlines` yields such batches, with every record that gave none as a
  `Skip`; duplicates are already taken out. Batches are bounded, so memory does not grow.

Readers may make outlines straight from bytes (`judged_useless` does); `outline_of` derives one from
an `Episode`, and both ways must agree. Ignorant of statistics and of policies.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from ..core.events import Verdict
from .digest import Digests, digest_bytes, mix
from .episode import Episode, SearchEpisode, SearchStep

VERDICTS: tuple[Verdict, ...] = tuple(Verdict)
"""The verdict of each code in `Outline.verdicts`: code i stands for ``VERDICTS[i]``."""

CODES: dict[Verdict, int] = {verdict: code for code, verdict in enumerate(VERDICTS)}
"""The code of each verdict, 0 to 4."""

CALL = 0
"""Action code of a tool call (or of several made side by side in one turn)."""
ANSWER = 1
"""Action code of the final answer."""
RENEWED = 2
"""Action code of a tool call before which the user spoke again: a new search, a run of 0."""

SOURCES = ("recorded", "side_channel", "stated", "semantic", "lexical", "random")
"""Verdict sources in order of preference, where an episode carries several."""


class Outline(NamedTuple):
    """What an audit counts of one search episode; equal outlines have equal statistics."""

    regime: str | None
    """Fault condition; None outside experiments."""
    model: str | None
    """The model that acted."""
    arm: str | None
    """What the harness added."""
    budget: int | None
    """Actions allowed, the answer included; None where the source does not say."""
    actions: bytes
    """One byte for each step: `CALL`, `RENEWED` or `ANSWER`. Its length is T.

    An episode of 0 steps that has an answer (a trace without tool calls) counts as one answer.
    """
    verdicts: bytes
    """One byte for each step, a code of `VERDICTS`; ``UNJUDGED`` for an answer."""
    success: bool | None
    """Whether the outcome was right; None when not graded."""
    censored: bool = False
    """Whether the loop was cut off from outside."""
    source: str | None = None
    """Where the verdicts come from; None when the episode carries none."""
    calls: int = 0
    """Tool calls made, side-by-side ones counted one by one."""
    results: int = 0
    """Results that the source kept, the final answer's text included."""
    error_results: int = 0
    """How many of them look like the error text of a tool or an API."""
    error_text: str | None = None
    """The commonest of these, cut to 100 characters, digits masked; None when there is none."""


@dataclass(frozen=True, slots=True, eq=False)
class Outlines:
    """A batch of episodes in columns; n episodes, m distinct outlines."""

    table: list[Outline]
    """The m distinct outlines of this batch."""
    index: NDArray[np.int32]
    """(n,): position in ``table`` of each episode's outline."""
    clusters: Digests
    """(n,): digest of each episode's ``cluster_id``; equal for equal ids in every process."""
    identities: Digests
    """(n,): digest of each episode's `identity`, for finding duplicates across shards."""
    lines: NDArray[np.int64]
    """(n,): line of each episode in its file; for a document, its position in it, from 1."""

    def __len__(self) -> int:
        return len(self.index)

    def select(self, keep: NDArray[np.bool_]) -> Outlines:
        """Return the batch of the episodes where ``keep`` is true; the table stays whole."""
        return Outlines(
            self.table,
            self.index[keep],
            self.clusters[keep],
            self.identities[keep],
            self.lines[keep],
        )


def choose_source(steps: Iterable[SearchStep]) -> str | None:
    """Return the verdict source to use: the first of `SOURCES` found, else by name, else None."""
    found = {name for step in steps for name in step.verdicts}
    return next((name for name in SOURCES if name in found), min(found, default=None))


def outline_of(episode: SearchEpisode, source: str | None = None) -> Outline:
    """Return the outline of ``episode`` with the verdicts of ``source``.

    Args:
        episode: the episode.
        source: name of a verdict source; None takes `choose_source`. A step without a verdict of
            this source is unjudged.
    """
    steps = episode.steps
    source = choose_source(steps) if source is None else source
    verdicts = bytearray()
    actions = bytearray()
    calls = results = 0
    errors: Counter[str] = Counter()
    for step in steps:
        answer = step.action == "answer"
        actions.append(ANSWER if answer else RENEWED if step.asked else CALL)
        verdict = Verdict.UNJUDGED
        if not answer:
            calls += len(step.parallel) or 1
            if source is not None:
                verdict = step.verdicts.get(source, verdict)
        verdicts.append(CODES[verdict])
        texts = [c.result for c in step.parallel] if step.parallel else [step.result]
        for text in texts:
            results += text is not None
            if text is not None and (error := error_text(text)) is not None:
                errors[error] += 1
    if episode.outcome.answer is not None:
        if not steps:
            actions.append(ANSWER)
            verdicts.append(CODES[Verdict.UNJUDGED])
        results += 1
        if (error := error_text(episode.outcome.answer)) is not None:
            errors[error] += 1
    commonest = errors.most_common(1)
    return Outline(
        episode.regime,
        episode.model,
        episode.arm,
        episode.budget,
        bytes(actions),
        bytes(verdicts),
        episode.outcome.success,
        episode.outcome.censored,
        source,
        calls,
        results,
        sum(errors.values()),
        commonest[0][0] if commonest else None,
    )


_ERROR = re.compile(
    r"""\s*\W{0,3}(?:
        [\w.]{0,40}(?:error|exception)\b\s*[:(\[>]
      | (?:api|internal|unknown|unexpected|fatal)\s+error\b | error\s+code\b
      | traceback\s\(most\srecent\scall\slast\)
      | (?:http|status)[\s/](?:[\w.:]+\s){0,2}[45]\d\d\b
      | [45]\d\d\s(?:client|server|bad|not|too|internal|service|gateway|forbidden|unauthorized)\b
      | rate\slimit | (?:request\s|connection\s)?timed\sout
      | connection\s(?:refused|reset|error) | service\sunavailable | internal\sserver\serror
      | bad\sgateway | gateway\stime-?out | too\smany\srequests | an?\serror\soccurred
      | failed\sto\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_DIGITS = re.compile(r"\d+")


def error_text(text: str) -> str | None:
    """Return the masked beginning of ``text`` if it looks like an error text, else None.

    Looks at the beginning only: an article that mentions an error is no error. Runs of digits
    become ``#``, so that two request numbers or times make one text.
    """
    head = text[:200]
    if _ERROR.match(head) is None:
        return None
    return _DIGITS.sub("#", " ".join(head.split()))[:100]


_encode = msgspec.json.Encoder().encode


def cluster_digest(name: str) -> bytes:
    """Return the 8-byte digest of a cluster or question id."""
    return digest_bytes(name.encode("utf-8", "surrogatepass"))


def context_digest(
    model: str | None, arm: str | None, regime: str | None, seed: int | None, run: str | None
) -> bytes:
    """Return the 8-byte digest of everything in an episode's identity but its question."""
    return digest_bytes(_encode((model, arm, regime, seed, run)))


def batch(episodes: Iterable[tuple[int, Episode, Outline]]) -> Outlines:
    """Make a batch of (line, episode, outline), in order."""
    table: dict[Outline, int] = {}
    index: list[int] = []
    clusters = bytearray()
    questions = bytearray()
    contexts = bytearray()
    lines: list[int] = []
    for line, episode, outline in episodes:
        lines.append(line)
        index.append(table.setdefault(outline, len(table)))
        clusters += cluster_digest(episode.cluster_id)
        questions += cluster_digest(episode.question_id)
        contexts += context_digest(
            episode.model, episode.arm, episode.regime, episode.seed, episode.run
        )
    identities = mix(np.frombuffer(questions, "<u8"), np.frombuffer(contexts, "<u8"))
    return Outlines(
        list(table),
        np.array(index, np.int32),
        np.frombuffer(clusters, "<u8"),
        identities,
        np.array(lines, np.int64),
    )
