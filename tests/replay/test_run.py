"""Batches: loops of any length and number give the outcomes that one table would."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from haltwise.core.errors import InputError
from haltwise.core.expression import parse_policy
from haltwise.core.policy import Policy
from haltwise.record.episode import SearchEpisode
from haltwise.replay import run
from haltwise.replay.outcome import search_outcomes
from haltwise.replay.run import replay_repair, replay_search
from haltwise.replay.search import search_firing, search_table

from .loops import search_episodes, search_policies


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(search_episodes(), search_policies())
def test_batches_change_nothing(
    monkeypatch: pytest.MonkeyPatch, episodes: list[SearchEpisode], policy: Policy
) -> None:
    """Cut into batches of two and by length, every loop keeps its outcome and its cluster."""
    monkeypatch.setattr(run, "BATCH", 2)
    table = search_table(episodes, fingerprints=True)
    whole = search_outcomes(table, search_firing(policy, table), 0.05)
    names: dict[str, int] = {}
    clusters = [names.setdefault(episode.cluster_id, len(names)) for episode in episodes]
    replayed = replay_search(episodes, [policy], price=0.05)
    (found,) = replayed.outcomes
    assert sorted(zip(np.nan_to_num(found.utility, nan=-9.0), found.steps, strict=True)) == sorted(
        zip(np.nan_to_num(whole.utility, nan=-9.0), whole.steps, strict=True)
    )
    sizes = np.bincount(np.array(clusters, int)).tolist()
    assert sorted(np.bincount(replayed.clusters).tolist()) == sorted(sizes)
    assert found.unknown_stops == whole.unknown_stops
    assert (found.options, found.known_options) == (whole.options, whole.known_options)


def test_rules_of_the_other_kind_are_refused() -> None:
    """A search rule over repair loops is an error that names the rule, and the other way round."""
    with pytest.raises(InputError, match=r"streak\(5\) is for search loops"):
        replay_repair([], [parse_policy("streak(5)")])
    with pytest.raises(InputError, match="majority is for repair loops"):
        replay_search([], [parse_policy("majority")])


def test_no_loops() -> None:
    """Nothing in, nothing out: for the caller to judge."""
    replayed = replay_search([], [parse_policy("never")])
    assert len(replayed.clusters) == 0 and len(replayed.outcomes[0].success) == 0
