"""Short notation for episodes: "UUH." is two useless results, a useful one, and an answer."""

from __future__ import annotations

from haltwise.audit.result import Audit, audit
from haltwise.audit.tally import Tally
from haltwise.core.events import Verdict
from haltwise.record import Outcome, SearchEpisode, SearchStep, outline_of
from haltwise.record.outline import batch

WORDS = {
    "U": Verdict.USELESS,
    "H": Verdict.USEFUL,
    "?": Verdict.UNKNOWN,
    "-": Verdict.UNJUDGED,
    "E": Verdict.SOURCE_ERROR,
}


def episode(
    text: str, question: str = "q", *, result: str | None = None, **rest: object
) -> SearchEpisode:
    """Return the episode that ``text`` describes; "." at the end is the answer."""
    steps = [
        SearchStep(t=t, action="search", verdicts={"recorded": WORDS[letter]}, result=result)
        for t, letter in enumerate(text.rstrip("."), start=1)
    ]
    if text.endswith("."):
        steps.append(SearchStep(t=len(steps) + 1, action="answer"))
    success = rest.pop("success", None)
    censored = bool(rest.pop("censored", False))
    assert success is None or isinstance(success, bool)
    return SearchEpisode(
        episode_id=question,
        cluster_id=question,
        question_id=question,
        steps=steps,
        outcome=Outcome(success=success, censored=censored),
        **rest,  # type: ignore[arg-type]
    )


def tally_of(episodes: list[SearchEpisode]) -> Tally:
    """Count episodes the way the reader does, duplicates included."""
    tally = Tally()
    tally.add(batch([(i, e, outline_of(e)) for i, e in enumerate(episodes, start=1)]))
    return tally


def audited(episodes: list[SearchEpisode], k: int = 5, budget: int | None = 8) -> Audit:
    """Return the audit of ``episodes`` with few resamples."""
    return audit(tally_of(episodes), k=k, budget=budget, replicates=200)


def repeated(text: str, count: int, first: int = 0, **rest: object) -> list[SearchEpisode]:
    """Return ``count`` equal episodes of different questions."""
    return [episode(text, f"q{i}", **dict(rest)) for i in range(first, first + count)]
