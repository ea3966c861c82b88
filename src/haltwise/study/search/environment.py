"""What an agent's actions bring: search and lookup in the pages of one question. Pure.

METHODS section 1, "Environment". Knows nothing of faults (`regimes`) or models. The state is a
value: the title of the page that lies open.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from .question import Page

SIMILAR = 0.3
"""A title must resemble the search text by more than this ratio to be taken for it."""
NO_PAGE = "No page is open. Search for a page first."
NO_RESULT = "No results."

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Found:
    """What an action brought."""

    text: str
    """What the agent reads."""
    title: str | None
    """The page it comes from; None where nothing was found."""
    sentence: int | None = None
    """Index of the sentence, for a lookup; None for a whole page."""


def search(pages: Sequence[Page], query: str) -> Found:
    """Return a page: the exact title, else the most similar one, else the one with most overlap.

    Titles are compared without regard to case. Similar means a sequence-match ratio above
    `SIMILAR`; ties go to the earlier page. A library without pages has no results.
    """
    if not pages:
        return Found(NO_RESULT, None)
    wanted = query.strip().casefold()
    for page in pages:
        if page.title.casefold() == wanted:
            return _shown(page)
    ratios = [SequenceMatcher(None, wanted, page.title.casefold()).ratio() for page in pages]
    best = max(ratios)
    if best > SIMILAR:
        return _shown(pages[ratios.index(best)])
    words = set(_WORD.findall(wanted))
    overlaps = [
        len(words & set(_WORD.findall(f"{page.title} {page.text}".casefold()))) for page in pages
    ]
    return _shown(pages[overlaps.index(max(overlaps))])


def lookup(pages: Sequence[Page], title: str | None, text: str) -> Found:
    """Return the first sentence of the open page that contains ``text``, in any case."""
    page = next((page for page in pages if page.title == title), None)
    if page is None:
        return Found(NO_PAGE, None)
    wanted = text.strip().casefold()
    for place, sentence in enumerate(page.sentences):
        if wanted in sentence.casefold():
            return Found(sentence.strip(), page.title, place)
    return Found(NO_RESULT, None)


def _shown(page: Page) -> Found:
    return Found(f"{page.title}: {page.text}", page.title)
