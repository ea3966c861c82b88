"""The shipped strategies draw what the rest of the package accepts."""

from __future__ import annotations

from hypothesis import given

from haltwise import Policy, parse_policy
from haltwise.core.observation import RepairObservation, SearchObservation
from haltwise.record import RepairEpisode, SearchEpisode, outline_of
from haltwise.testing import check_policy, strategies


@given(strategies.search_policies(), strategies.search_observations())
def test_policies_keep_the_laws_on_observations(
    policy: Policy, observations: list[SearchObservation]
) -> None:
    """Every drawn policy passes the policy contract on every drawn sequence."""
    check_policy(policy, observations)


@given(strategies.expressions())
def test_expressions_parse_and_print_back(text: str) -> None:
    """Every drawn expression is read, and printed as it was."""
    assert str(parse_policy(text)) == text


@given(strategies.search_episodes(max_size=5))
def test_search_episodes_have_outlines(episode: SearchEpisode) -> None:
    """Every drawn search episode has an outline of its length, answers only at the end."""
    outline = outline_of(episode)
    assert len(outline.actions) == len(outline.verdicts) == len(episode.steps) <= 6
    assert all(step.action != "answer" for step in episode.steps[:-1])


@given(strategies.repair_episodes(), strategies.repair_observations())
def test_votes_are_possible(episode: RepairEpisode, observations: list[RepairObservation]) -> None:
    """Accepts never exceed votes, in episodes and in observations."""
    assert episode.steps
    for seen in [*episode.steps, *observations]:
        assert seen.accepts is not None and seen.votes is not None
        assert 0 <= seen.accepts <= seen.votes
