"""Signals supply verdicts to traces that carry none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from haltwise.audit import audit, gather
from haltwise.audit.judging import JudgedBy
from haltwise.audit.trajectories import Trajectories
from haltwise.core.events import Verdict
from haltwise.record import Call, SearchEpisode, SearchStep, outline_of, write_episodes
from haltwise.signals import Lexical, Stated

QUESTION = "Which river flows through the capital of Hungary?"
GOOD = "Budapest is the capital of Hungary; the river Danube flows through it."
BAD = "A recipe for bread."


def episode(*steps: SearchStep, question: str | None = QUESTION) -> SearchEpisode:
    """Return an episode of these steps."""
    return SearchEpisode(
        episode_id="e", cluster_id="q", question_id="q", question=question, steps=list(steps)
    )


def verdicts(judged: SearchEpisode, name: str) -> list[Verdict | None]:
    """Return the verdict of a source on every step."""
    return [step.verdicts.get(name) for step in judged.steps]


def test_lexical_verdicts_on_results() -> None:
    """Results are judged against the question; answers and results that were not kept are not."""
    judged = JudgedBy(Lexical())(
        episode(
            SearchStep(t=1, action="search", result=BAD),
            SearchStep(t=2, action="search", result=GOOD),
            SearchStep(t=3, action="search"),
            SearchStep(t=4, action="answer", result=BAD),
        )
    )
    assert verdicts(judged, "lexical") == [Verdict.USELESS, Verdict.USEFUL, None, None]


def test_parallel_calls_are_one_step() -> None:
    """One useful result among parallel ones makes the step useful."""
    calls = [Call("search", result=BAD), Call("search", result=GOOD)]
    judged = JudgedBy(Lexical())(
        episode(SearchStep(t=1, action="search+search", result=BAD + GOOD, parallel=calls))
    )
    assert verdicts(judged, "lexical") == [Verdict.USEFUL]


def test_stated_verdicts_come_from_the_next_thought() -> None:
    """What the agent says of a result stands in the turn after it; the last result has none."""
    judged = JudgedBy(Stated())(
        episode(
            SearchStep(t=1, action="search", result=BAD, thought="I will search."),
            SearchStep(t=2, action="search", result=BAD, thought="The result is not helpful."),
        )
    )
    assert verdicts(judged, "stated") == [Verdict.USELESS, None]


def test_recorded_verdicts_stay() -> None:
    """A signal adds its verdict beside those that were recorded."""
    step = SearchStep(t=1, action="search", result=BAD, verdicts={"recorded": Verdict.USEFUL})
    judged = JudgedBy(Lexical())(episode(step))
    assert judged.steps[0].verdicts == {"recorded": Verdict.USEFUL, "lexical": Verdict.USELESS}


@pytest.mark.parametrize("workers", [1, 2])
def test_the_signal_s_verdicts_are_counted(tmp_path: Path, workers: int) -> None:
    """An audit with a signal counts its verdicts, and says that they are not the agents' own."""
    step = SearchStep(t=1, action="search", result=BAD, verdicts={"recorded": Verdict.USEFUL})
    write_episodes(tmp_path / "one.jsonl", [episode(step)])
    gathered = gather([str(tmp_path / "one.jsonl")], signal=Lexical(), workers=workers)
    done = audit(gathered.tally, replicates=10)
    assert done.useless_rate.value == 1
    assert done.mixture.sources == {"lexical": 1}
    assert any("not the agents' own" in note for note in done.notes)


def test_real_traces_without_verdicts(shared_data: Callable[[str], Path]) -> None:
    """ReAct logs carry no verdict: undefined at first, judged with the lexical signal."""
    path = str(shared_data("trajectories/reflexion_react_hotpotqa.txt"))
    bare = audit(gather([path]).tally, replicates=10)
    assert bare.contrast.estimate.note.startswith("no result was judged")
    assert bare.rule("streak(5)").calls_saved is None  # type: ignore[union-attr]
    done = audit(gather([path], signal=Lexical()).tally, replicates=10)
    assert done.contrast.estimate.defined
    assert 0.3 < done.useless_rate.value < 0.8


def test_results_are_judged_against_what_was_asked_last() -> None:
    """A new user turn is a new question: the same result is far from one and near to the other."""
    steps = (
        SearchStep(t=1, action="search", result=BAD),
        SearchStep(t=2, action="search", result=BAD, asked=BAD),
        SearchStep(t=3, action="search", result=BAD),
    )
    judged = JudgedBy(Lexical())(episode(*steps))
    assert verdicts(judged, "lexical") == [Verdict.USELESS, Verdict.USEFUL, Verdict.USEFUL]


def test_a_run_ends_where_the_user_speaks_again() -> None:
    """Four useless results, three of them after a new question: runs of one and of three."""
    useless = {"recorded": Verdict.USELESS}
    steps = [
        SearchStep(t=t, action="search", verdicts=useless, asked="And now?" if t == 2 else None)
        for t in (1, 2, 3, 4)
    ]
    made = episode(*steps)
    found = Trajectories.of([outline_of(made)], 8)
    assert found.run[0, :4].tolist() == [1, 1, 2, 3]
    assert found.calls_in_turn[0, :4].tolist() == [1, 1, 2, 3]
    assert found.call[0, :4].all() and found.length.tolist() == [4]
