"""Search replay: the same stops as the online loop, and the outcomes that METHODS defines."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from haltwise.core.decision import Action, Decision
from haltwise.core.expression import parse_policy
from haltwise.core.loop import SearchLoop
from haltwise.core.policy import AnyOf, Policy, State
from haltwise.record.episode import AnswerNow, Outcome, SearchEpisode, SearchStep
from haltwise.record.outline import choose_source
from haltwise.replay.answer_now import AnswerNowTable
from haltwise.replay.firing import NEVER
from haltwise.replay.outcome import search_outcomes
from haltwise.replay.search import needs_fingerprints, search_firing, search_table

from .loops import search_episodes, search_policies


def online(policy: Policy, episode: SearchEpisode) -> int:
    """Return the position of the tool step at which the online loop stops, or `NEVER`.

    A new user turn begins a new loop.
    """
    loop = SearchLoop(policy)
    source = choose_source(episode.steps)
    for position, step in enumerate(s for s in episode.steps if s.action != "answer"):
        if step.asked:
            loop = SearchLoop(policy)
        if step.result is None:
            call = None
        elif step.parallel:
            call = [[c.action, c.arguments] for c in step.parallel]
        else:
            call = [step.action, step.arguments]
        result = [c.result for c in step.parallel] if step.parallel else step.result
        verdict = step.verdicts.get(source or "", "unjudged")
        if loop.observe(verdict, call=call, result=result).stops:
            return position
    return int(NEVER)


@given(search_episodes(), search_policies())
def test_replay_stops_where_the_online_loop_stops(
    episodes: list[SearchEpisode], policy: Policy
) -> None:
    """Every rule, with and without a fast path, in every combination, fires at the same step."""
    table = search_table(episodes, fingerprints=needs_fingerprints([policy]))
    expected = [online(policy, episode) for episode in episodes]
    assert search_firing(policy, table).step.tolist() == expected


def by_hand(
    episode: SearchEpisode, stop: int, table: AnswerNowTable, price: float
) -> tuple[float, int, float, float]:
    """Return success, calls, miss and regret of one loop, spelled out from METHODS section 1."""
    steps = episode.steps
    calls, seen = 0, -1
    options: list[tuple[float, int]] = []  # (success, calls) of every way to end this loop
    chosen: tuple[float, int] | None = None
    for position, step in enumerate(steps):
        if step.action == "answer":
            continue
        calls += len(step.parallel) or 1
        seen += 1
        decision_point = position + 1 < len(steps)
        if decision_point and steps[position + 1].action != "answer":
            branch = step.answer_now.success if step.answer_now else None
            worth = table.get(episode.question_id, step.t) if branch is None else float(branch)
            options.append((worth, calls))
            if seen == stop:
                chosen = (worth, calls)
    recorded = math.nan if episode.outcome.success is None else float(episode.outcome.success)
    options.append((recorded, calls))
    success, made = chosen or (recorded, calls)
    known = [option for option in options if not math.isnan(option[0])]
    if math.isnan(success):
        return success, made, math.nan, math.nan
    miss = max(s for s, _ in known) > success
    return success, made, miss, max(s - price * c for s, c in known) - (success - price * made)


@given(search_episodes(), search_policies(), st.sampled_from([0.0, 0.05]))
def test_outcomes_are_those_of_the_definition(
    episodes: list[SearchEpisode], policy: Policy, price: float
) -> None:
    """Branch where the rule fires, recorded outcome elsewhere; unknown is NaN, never 0."""
    answers = AnswerNowTable({("c0", None): True, ("c1", 2): False, ("c1", None): None})
    table = search_table(episodes, answers, fingerprints=needs_fingerprints([policy]))
    firing = search_firing(policy, table)
    found = search_outcomes(table, firing, price)
    expected = [
        by_hand(episode, stop, answers, price)
        for episode, stop in zip(episodes, firing.step.tolist(), strict=True)
    ]
    columns = np.array(expected, float).reshape(-1, 4).T
    for ours, theirs in zip(
        (found.success, found.steps, found.miss, found.regret), columns, strict=True
    ):
        np.testing.assert_allclose(ours, theirs)
    np.testing.assert_allclose(found.utility, columns[0] - price * columns[1])
    assert found.unknown_stops + found.unknown_ends == np.isnan(columns[0]).sum()
    assert np.isnan(found.votes).all()


def loop(verdicts: str, *, ends: str = "", success: bool = True) -> SearchEpisode:
    """Return a loop from one letter a verdict (x useless, o useful); ``ends`` "a": it answers."""
    words = {"x": "useless", "o": "useful"}
    steps = [
        SearchStep(
            t=t,
            action="search",
            verdicts={"recorded": words[v]},
            answer_now=AnswerNow(success=False),
        )
        for t, v in enumerate(verdicts, start=1)
    ]
    if ends:
        steps.append(SearchStep(t=len(steps) + 1, action="answer"))
    return SearchEpisode(
        episode_id="e",
        cluster_id="q",
        question_id="q",
        steps=steps,
        outcome=Outcome(success=success),
    )


@pytest.mark.parametrize(
    ("verdicts", "ends", "success", "calls"),
    [
        ("xxxo", "a", 0, 2),  # fires at 2 and a search was next: the branch
        ("xx", "a", 1, 2),  # fires at 2 but the agent answers next: the recorded outcome
        ("xx", "", 1, 2),  # fires after the last action: no decision is left
        ("xox", "a", 1, 3),  # never fires
    ],
)
def test_outcome_at_each_kind_of_stop(verdicts: str, ends: str, success: int, calls: int) -> None:
    """The four cases of prefix replay, for streak(2)."""
    table = search_table([loop(verdicts, ends=ends)])
    found = search_outcomes(table, search_firing(parse_policy("streak(2)"), table), 0)
    assert (found.success.item(), found.steps.item()) == (success, calls)


def test_the_stronger_action_wins_in_a_combination() -> None:
    """Of two parts that fire at one step the stronger action counts, as online."""

    class Escalate(Policy):
        """Ask a person at the first step."""

        name = "escalate"
        kind = "search"

        def initial(self) -> State:
            return ()

        def advance(self, state: State, observation: object) -> tuple[State, Decision | None]:
            return state, Decision(Action.ESCALATE, "test")

    policy = AnyOf((parse_policy("streak(1)"), Escalate()))
    table = search_table([loop("xx")], fingerprints=True)
    assert search_firing(policy, table).strength.tolist() == [Action.ESCALATE.strength]


def test_a_branch_in_the_record_wins_over_the_table() -> None:
    """The table by question is for steps whose own branch was not recorded."""
    table = search_table([loop("xxx")], AnswerNowTable({("q", None): True}))
    assert table.answer_now.tolist() == [[0, 0, 0]]


def test_no_loops_and_loops_without_steps() -> None:
    """Nothing to replay is no error here; a loop without tool calls keeps its outcome."""
    policy = parse_policy("streak(2) | repeat(2)")
    assert len(search_firing(policy, search_table([], fingerprints=True))) == 0
    table = search_table([loop("", ends="a")], fingerprints=True)
    found = search_outcomes(table, search_firing(policy, table), 0.05)
    assert (found.success.item(), found.steps.item(), found.regret.item()) == (1, 0, 0)


@pytest.mark.parametrize(
    ("policy", "success", "calls"),
    [
        ("never", 0.4167, 5.14),
        ("streak(5)", 0.4567, 4.27),
        ("streak(5) | deadline(8)", 0.4600, 4.20),
        ("deadline(8)", 0.4600, 4.76),
    ],
)
def test_published_episodes(
    policy: str, success: float, calls: float, published: tuple[object, object]
) -> None:
    """METHODS section 1: success and calls of four rules on the published unaided episodes."""
    table, _ = published
    found = search_outcomes(table, search_firing(parse_policy(policy), table), 0)  # type: ignore[arg-type]
    assert found.success.mean().round(4) == success
    assert found.steps.mean().round(2) == calls
