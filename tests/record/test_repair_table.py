"""Recorded repair loops as arrays."""

from __future__ import annotations

import numpy as np
import pytest

from haltwise.core.errors import InputError
from haltwise.core.noise import NoiseModel
from haltwise.record.episode import RepairEpisode, RepairStep
from haltwise.record.repair_table import UNKNOWN, RepairTable
from haltwise.simulated.repair import simulate_repair


def loop(*steps: RepairStep, name: str = "a", cluster: str = "q") -> RepairEpisode:
    """A loop of the given steps."""
    return RepairEpisode(
        episode_id=name, cluster_id=cluster, question_id=cluster, steps=list(steps), gated=True
    )


def test_episodes_become_the_arrays_they_came_from() -> None:
    """Simulated loops written as episodes and read back are the simulated arrays."""
    runs = simulate_repair(NoiseModel(0.3, 0.2, 0.2, 0.1, 0.6), 40, votes=8, rounds=3, seed=1)
    table = RepairTable.from_episodes(runs.episodes())
    np.testing.assert_array_equal(table.accepts, runs.accepts)
    np.testing.assert_array_equal(table.valid, runs.valid)
    assert (table.votes == 8).all() and (table.length == 4).all() and not table.gated.any()
    assert len(set(table.cluster.tolist())) == len(table) == 40
    assert (RepairTable.from_episodes(runs.episodes(labelled=False)).valid == UNKNOWN).all()


def test_uneven_loops_are_padded() -> None:
    """Short loops, failed verifiers and missing rounds have no votes and no truth."""
    table = RepairTable.from_episodes(
        [
            loop(RepairStep(0, accepts=3, votes=5, valid=False), name="a"),
            loop(RepairStep(2, accepts=1, votes=5), RepairStep(0, valid=True, votes=5), name="b"),
            loop(RepairStep(0, accepts=0, votes=0), name="c", cluster="other"),
        ]
    )
    assert table.accepts.tolist() == [[3, 0, 0], [0, 0, 1], [0, 0, 0]]
    assert table.votes.tolist() == [[5, 0, 0], [0, 0, 5], [0, 0, 0]]
    assert table.valid.tolist() == [[0, -1, -1], [1, -1, -1], [-1, -1, -1]]
    assert table.length.tolist() == [1, 3, 1]
    assert table.cluster.tolist() == [0, 0, 1]
    assert table.gated.all()


def test_transitions_need_both_ends() -> None:
    """A transition counts when the truth before and after the repair is known."""
    table = RepairTable.from_arrays([[0, 0, 0]] * 2, 1, [[1, 0, UNKNOWN], [UNKNOWN, 0, 1]])
    assert table.transitions.tolist() == [[True, False], [False, True]]
    assert table.rows(np.array([1])).transitions.tolist() == [[False, True]]
    assert not table.relabelled(np.full((2, 3), UNKNOWN, np.int8)).transitions.any()


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([], "no rounds"),
        ([RepairStep(0), RepairStep(0)], "round 0 comes twice"),
        ([RepairStep(1), RepairStep(-1)], "round -1"),
        ([RepairStep(10**9)], "rounds up to 10000"),
        ([RepairStep(0, accepts=6, votes=5)], "round 0: 6 accepts of 5 votes"),
    ],
)
def test_bad_loops(steps: list[RepairStep], message: str) -> None:
    """A loop that makes no sense is refused by name."""
    with pytest.raises(InputError, match=f"loop a.*{message}"):
        RepairTable.from_episodes([loop(*steps)])


def test_bad_arrays() -> None:
    """Arrays of the wrong shape, and more accepts than votes, are refused."""
    with pytest.raises(InputError, match="shape"):
        RepairTable.from_arrays([1, 2], 8)
    with pytest.raises(InputError, match="between 0 and votes"):
        RepairTable.from_arrays([[9]], 8)
