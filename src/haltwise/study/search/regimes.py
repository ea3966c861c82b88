"""Fault regimes: which observations of an episode fail, and what stands in their place. Pure.

METHODS section 1, "Fault regimes". A regime acts on the index of an observation, search and lookup
alike. The source itself goes on working underneath: a search whose observation is replaced still
opens its page, so that a source that has recovered has recovered for lookups too. Observations of
the backup tool never fail.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from ...core.errors import ParameterError
from . import environment
from .environment import Found
from .question import Page, Question, hashed

MEAN6 = (
    "clean",
    "persistent",
    "recover_after_1",
    "recover_after_2",
    "recover_after_3",
    "late_onset_from_3",
)
"""The regimes over which mean6 is taken."""
DELTA = tuple(name for name in MEAN6 if name != "clean")
"""The regimes over which the time-matched contrast is taken."""
REGIMES = (*MEAN6, "recover_after_4", "recover_after_5", "plausible", "answerless", "backup_tool")
"""Every regime of the study, in the order in which reports show them."""
BACKUP = "backup_search"
"""Name of the second, working tool in the regime backup_tool."""

_NUMBERED = re.compile(r"(recover_after|late_onset_from)_([1-9]\d*)")


class Origin(StrEnum):
    """Where an observation really came from; what a judge's verdict is compared with."""

    FAILED = "failed"
    """A page of another question, put in the place of the result."""
    SUPPORTING = "supporting"
    """A page, or a sentence, that supports the answer."""
    DISTRACTOR = "distractor"
    """Something else from the question's own pages."""
    NOTHING = "nothing"
    """The action brought nothing: no page open, or no sentence with the text."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What the agent reads after an action, and where it really came from."""

    text: str
    origin: Origin
    title: str | None
    """Title of the page that is shown; None where none is."""


@dataclass(frozen=True, slots=True)
class World:
    """A question under a regime: takes actions, returns observations. An immutable value."""

    question: Question
    regime: str
    misleading: tuple[Page, ...]
    """The pages that stand in for failed observations, by index."""
    opened: str | None = None
    """Title of the page that lies open underneath."""
    taken: int = 0
    """Observations made so far."""

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools that the agent may call in this regime."""
        return (
            ("search", "lookup", BACKUP) if self.regime == "backup_tool" else ("search", "lookup")
        )

    def act(self, tool: str, argument: str) -> tuple[World, Observation]:
        """Take one action and return the world after it, with the observation.

        Raises:
            ParameterError: there is no such tool in this regime.
        """
        if tool not in self.tools:
            raise ParameterError(f"there is no tool {tool!r} here; there are {self.tools}")
        pages = answerless(self.question) if self.regime == "answerless" else self.question.pages
        if tool == "lookup":
            found = environment.lookup(pages, self.opened, argument)
            opened = self.opened
        else:
            found = environment.search(pages, argument)
            opened = found.title
        after = replace(self, opened=opened, taken=self.taken + 1)
        if tool != BACKUP and fails(self.regime, after.taken):
            page = self.misleading[self.taken % len(self.misleading)]
            return after, Observation(f"{page.title}: {page.text}", Origin.FAILED, page.title)
        if self.regime == "plausible":
            page = _distractor(self.question, self.misleading, self.taken)
            return after, Observation(f"{page.title}: {page.text}", Origin.DISTRACTOR, page.title)
        return after, Observation(found.text, self._origin(found), found.title)

    def _origin(self, found: Found) -> Origin:
        if found.title is None:
            return Origin.NOTHING
        if self.regime == "answerless":
            return Origin.DISTRACTOR
        supporting = self.question.supporting
        if found.sentence is None:
            helps = found.title in self.question.supporting_titles
        else:
            helps = (found.title, found.sentence) in supporting
        return Origin.SUPPORTING if helps else Origin.DISTRACTOR


def fails(regime: str, index: int) -> bool:
    """Return whether observation ``index`` (from 1) is replaced by a foreign page.

    Raises:
        ParameterError: there is no such regime.
    """
    if regime in ("clean", "plausible", "answerless"):
        return False
    if regime in ("persistent", "backup_tool"):
        return True
    match = _NUMBERED.fullmatch(regime)
    if match is None:
        raise ParameterError(
            f"there is no fault regime {regime!r}; there are {', '.join(REGIMES)}, and "
            "recover_after_K and late_onset_from_K for other K"
        )
    k = int(match[2])
    return index <= k if match[1] == "recover_after" else index >= k


def world(
    question: Question, regime: str, pool: Sequence[Question], *, seed: int, length: int = 16
) -> World:
    """Return a question under a regime, before the first action.

    The misleading pages come from other questions of ``pool`` by a hash of (seed, question id):
    the i-th failed place shows the same page in every regime. No title of the question's own
    library is among them, and none comes twice.

    Args:
        question: the question.
        regime: one of `REGIMES`, or recover_after_K, late_onset_from_K.
        pool: the whole task, whatever part of it is run, so that a limit changes no episode.
        seed: seed of the study.
        length: observations that the episode may make.

    Raises:
        ParameterError: there is no such regime, or the pool has no foreign page.
    """
    fails(regime, 1)  # an unknown name is an error before the episode begins
    return World(question, regime, _misleading(question, pool, seed, length))


def answerless(question: Question) -> tuple[Page, ...]:
    """Return the question's pages without the sentences that support the answer."""
    return tuple(
        Page(
            page.title,
            tuple(
                sentence
                for place, sentence in enumerate(page.sentences)
                if (page.title, place) not in question.supporting
            ),
        )
        for page in question.pages
    )


def _misleading(
    question: Question, pool: Sequence[Question], seed: int, length: int
) -> tuple[Page, ...]:
    taken = {page.title for page in question.pages}
    pages: list[Page] = []
    draw = 0
    while pool and len(pages) < length and draw < 50 * length:
        other = pool[hashed(seed, question.question_id, draw) % len(pool)]
        page = other.pages[hashed(seed, question.question_id, draw, "page") % len(other.pages)]
        draw += 1
        if page.title not in taken:
            taken.add(page.title)
            pages.append(page)
    if not pages:
        raise ParameterError(
            f"question {question.question_id}: the task has no page of another question that "
            "could stand in for a failed result; load more questions"
        )
    return tuple(pages)


def _distractor(question: Question, misleading: tuple[Page, ...], index: int) -> Page:
    helpful = question.supporting_titles
    own = [page for page in question.pages if page.title not in helpful] or list(misleading)
    own.sort(key=lambda page: hashed(question.question_id, page.title))
    return own[index % len(own)]
