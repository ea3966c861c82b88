"""Search and lookup in the pages of one question (METHODS section 1, "Environment")."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from haltwise.study.search.environment import NO_PAGE, NO_RESULT, lookup, search
from haltwise.study.search.question import Page

PAGES = (
    Page("Harrow Bridge", ("It opened in 1901.", "Ada Moor designed it.")),
    Page("Ada Moor", ("She studied at Varnholt.", "She was born in 1870.")),
    Page("Zyx", ("Granite quarries supplied the pillars.",)),
)


@given(st.sampled_from(PAGES))
def test_every_page_is_found_by_its_title(page: Page) -> None:
    """The exact title wins, in any case and with spaces around it."""
    assert search(PAGES, f" {page.title.upper()} ").title == page.title


@given(st.text(max_size=30))
def test_a_search_always_shows_a_page(query: str) -> None:
    """Whatever is typed, one of the pages comes back with its title and its whole text."""
    found = search(PAGES, query)
    page = next(page for page in PAGES if page.title == found.title)
    assert found.text == f"{page.title}: {page.text}"


def test_a_similar_title_comes_before_word_overlap() -> None:
    """ "harow brige" resembles a title; its ratio is far above 0.3."""
    assert search(PAGES, "harow brige").title == "Harrow Bridge"


def test_without_a_similar_title_the_most_overlap_wins() -> None:
    """No title resembles the text (ratio 0.3 at most), two words occur in the third page."""
    assert search(PAGES, "quarries? pillars! supplied??").title == "Zyx"


def test_lookup_gives_the_first_sentence_with_the_text() -> None:
    """Both sentences hold "She"; the first one comes, with its index."""
    found = lookup(PAGES, "Ada Moor", "she")
    assert (found.text, found.sentence) == ("She studied at Varnholt.", 0)


def test_lookup_without_a_page_or_a_match_says_so() -> None:
    """No page open and no such text are two different messages, neither has a title."""
    assert lookup(PAGES, None, "x") == lookup(PAGES, "No such page", "x")
    assert lookup(PAGES, None, "x").text == NO_PAGE
    assert lookup(PAGES, "Zyx", "bassoon").text == NO_RESULT
    assert lookup(PAGES, "Zyx", "bassoon").title is None


def test_an_empty_library_has_no_results() -> None:
    """Nothing to search in is "No results.", not an exception."""
    assert search((), "anything").text == NO_RESULT
