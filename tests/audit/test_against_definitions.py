"""The fast audit equals the definitions, on any episodes, and does not depend on shards."""

from __future__ import annotations

import random
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit import slow_audit
from audit.episodes import episode as made
from audit.episodes import tally_of
from haltwise.audit.contrast import contrast
from haltwise.audit.counterfactual import counterfactual
from haltwise.audit.document import document
from haltwise.audit.hazard import cells as hazard_cells
from haltwise.audit.hazard import pairs
from haltwise.audit.result import audit
from haltwise.audit.tally import Tally
from haltwise.audit.trajectories import Trajectories
from haltwise.core.belief import run_length
from haltwise.core.events import Verdict
from haltwise.core.expression import parse_policy
from haltwise.core.observation import SearchObservation
from haltwise.record import SearchEpisode
from haltwise.record.outline import CODES, Outline, Outlines
from haltwise.testing import stop_step
from haltwise.testing.strategies import search_episodes, verdicts

BUDGET = 8
many = st.lists(search_episodes(max_size=9), min_size=1, max_size=8)


@settings(max_examples=40)
@given(many)
def test_strata_of_the_contrast(episodes: list[SearchEpisode]) -> None:
    """n1, x1, n0, x0 at every decision point, over the regimes of the contrast."""
    found = contrast(tally_of(episodes).sample(BUDGET), level=0.9, replicates=5, seed=0)
    inside = ("persistent", "recover_after_1", "recover_after_2", "recover_after_3")
    used = [e for e in episodes if e.regime in (None, *inside, "late_onset_from_3")]
    if not used:
        used = [e for e in episodes if e.regime != "clean"]
    rows = [(s.t, s.n1, s.x1, s.n0, s.x0) for s in found.strata]
    assert rows == slow_audit.strata(used, BUDGET)


@settings(max_examples=40)
@given(many)
def test_cells_of_the_hazard(episodes: list[SearchEpisode]) -> None:
    """Decisions and answers by (t, r), and nothing outside them."""
    sample = tally_of(episodes).sample(BUDGET)
    totals = sample.total(sample.values(lambda rows: hazard_cells(rows, BUDGET)))
    n, y = np.split(totals, 2)
    found = {pair: [int(a), int(b)] for pair, a, b in zip(pairs(BUDGET), n, y, strict=True) if a}
    assert found == slow_audit.hazard_cells(episodes, BUDGET)


@settings(max_examples=40)
@given(many)
def test_counts_of_the_tables(episodes: list[SearchEpisode]) -> None:
    """Answered after a run, waste, calls, answers and grades, each counted by hand."""
    done = audit(tally_of(episodes), k=3, budget=BUDGET, replicates=5)
    for k in range(1, BUDGET):
        row = done.after(k)
        assert row is not None
        assert (row.at_risk, row.answered) == slow_audit.after_run(episodes, k)
        waste = done.waste[k - 1]
        after, total = slow_audit.wasted(episodes, k)
        assert waste.calls == after
        assert waste.estimate.n == (total if slow_audit.judged(episodes) else 0)
    calls = [sum(step.action != "answer" for step in e.steps) for e in episodes]
    assert np.isclose(done.calls.value, np.mean(calls))
    assert done.right == sum(e.outcome.success is True for e in episodes)
    uncut = [e for e in episodes if not e.outcome.censored]
    silent = [all(step.action != "answer" for step in e.steps) for e in uncut]
    assert done.unanswered.n == len(uncut)
    assert not uncut or np.isclose(done.unanswered.value, np.mean(silent))
    assert done.clusters == len({e.cluster_id for e in episodes})


@settings(max_examples=40)
@given(many)
def test_rules_fire_where_the_policies_do(episodes: list[SearchEpisode]) -> None:
    """Every counterfactual row equals the policy itself stepped through the recorded verdicts."""
    rows = counterfactual(tally_of(episodes).sample(BUDGET), k=3)
    assert [row.policy for row in rows[-2:]] == ["deadline(8)", "streak(3) | deadline(8)"]
    for row in rows:
        if "streak" in row.policy and not slow_audit.judged(episodes):
            assert (row.fired, row.calls_saved, row.answers_at_risk) == (None, None, None)
            assert row.note == "no result was judged"
            continue
        fired = saved = risked = 0
        for episode in episodes:
            points = slow_audit.decisions(episode)
            observations = [SearchObservation(d.verdict) for d in points]
            step = stop_step(parse_policy(row.policy), observations)
            if step is None:
                continue
            fired += 1
            point = points[step - 1]
            saved += sum(s.action != "answer" for s in episode.steps[point.t :])
            risked += episode.outcome.success is True and not point.answers
        assert (row.fired, row.calls_saved, row.answers_at_risk) == (fired, saved, risked)


@settings(max_examples=25)
@given(many, st.integers(1, 4), st.randoms(use_true_random=False))
def test_any_sharding_gives_the_same_document(
    episodes: list[SearchEpisode], shards: int, chance: random.Random
) -> None:
    """Counting shards apart and merging them in any order changes no digit, intervals included."""
    whole = document(audit(tally_of(episodes), k=3, budget=BUDGET, replicates=40))
    parts: list[list[SearchEpisode]] = [[] for _ in range(shards)]
    for episode in episodes:
        chance.choice(parts).append(episode)
    chance.shuffle(parts)
    merged = Tally()
    for part in parts:
        merged.merge(tally_of(part))
    assert document(audit(merged, k=3, budget=BUDGET, replicates=40)) == whole


@given(st.lists(verdicts(max_size=12), max_size=6))
def test_runs_are_those_of_the_core(sequences: list[list[Verdict]]) -> None:
    """The run after every observation is that of `haltwise.core.belief.run_length`."""
    outlines = [
        Outline(None, None, None, None, bytes(len(row)), bytes([CODES[v] for v in row]), None)
        for row in sequences
    ]
    columns = Trajectories.of(outlines, BUDGET)
    for i, row in enumerate(sequences):
        runs = list(accumulate(row, run_length, initial=0))[1:]
        assert columns.run[i, : len(row)].tolist() == runs


def test_long_and_short_outlines_share_no_block() -> None:
    """One episode of 5,000 steps beside many short ones changes no sum, and pads few of them."""
    short = [Outline(None, None, None, None, b"\0" * n, b"\0" * n, None) for n in range(1, 9)]
    long = Outline(None, None, None, None, b"\0" * 5000, b"\0" * 5000, None)
    lengths = [len(outline.actions) for outline in (*short, long)]
    tally = Tally()
    tally.add(
        Outlines(
            [long, *short],
            np.arange(9, dtype=np.int32),
            np.arange(9, dtype=np.uint64),
            np.arange(9, dtype=np.uint64),
            np.arange(9),
        )
    )
    sample = tally.sample(BUDGET)
    assert sample.total(sample.values(lambda rows: rows.call.sum(axis=1)[:, None])) == sum(lengths)
    rows, counts = sample.pooled(sample.values(lambda rows: rows.length[:, None]))
    assert sorted(zip(rows[:, 0].tolist(), counts.tolist(), strict=True)) == [
        (length, 1) for length in sorted(lengths)
    ]


def test_adding_up_equal_pairs_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tally that is compacted after every batch gives the same document, and holds less."""
    episodes = [made("UUHU.", f"q{i % 3}", success=i % 2 == 0) for i in range(60)]
    whole = document(audit(tally_of(episodes), k=3, budget=BUDGET, replicates=40))
    monkeypatch.setattr("haltwise.audit.tally._PENDING", 0)
    tally = Tally()
    for start in range(0, 60, 10):
        tally.merge(tally_of(episodes[start : start + 10]))
    assert tally.episodes == 60
    assert sum(map(len, tally._held)) == 6  # 3 questions x 2 outlines
    assert document(audit(tally, k=3, budget=BUDGET, replicates=40)) == whole
