"""The drift monitor: silent while the calibration holds, quick when it does not."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from haltwise.calibrate.chain import Chain, ChainModel
from haltwise.calibrate.drift import CHANGES, Alarm, DriftMonitor, State
from haltwise.calibrate.em import logit
from haltwise.calibrate.fit import fit_noise
from haltwise.core.errors import ObservationError, ParameterError
from haltwise.core.noise import NoiseModel
from haltwise.core.policy import state_from_json, state_to_json
from haltwise.record.repair_table import UNKNOWN, RepairTable
from haltwise.simulated.repair import simulate_repair

CALIBRATED = NoiseModel(0.3, 0.2, 0.25, 0.1, 0.6)


def histories(
    noise: NoiseModel, n: int, *, rounds: int = 2, seed: int = 0
) -> list[list[tuple[int, int]]]:
    """Votes of ``n`` simulated loops, eight a plan."""
    runs = simulate_repair(noise, n, rounds=rounds, seed=seed)
    return [[(a, 8) for a in row] for row in runs.accepts.tolist()]


def follow(monitor: DriftMonitor, loops: list[list[tuple[int, int]]]) -> Alarm | None:
    """Return the first alarm of a stream of loops."""
    state = monitor.initial()
    for history in loops:
        state, alarm = monitor.step(state, history)
        if alarm is not None:
            return alarm
    return None


def test_false_alarms_are_as_rare_as_promised() -> None:
    """P(false alarm within n loops) <= n / loops: at most .25 over 250 loops, on 60 streams.

    .25 plus three binomial standard deviations is .42; the bound is loose, 60 streams give less.
    """
    monitor = DriftMonitor(CALIBRATED, loops=1000)
    alarms = [follow(monitor, histories(CALIBRATED, 250, seed=s)) is not None for s in range(60)]
    assert np.mean(alarms) <= 0.25


@pytest.mark.parametrize(
    ("drifted", "within", "looks_like"),
    [
        (NoiseModel(0.9, 0.02, 0.25, 0.1, 0.6), 10, "the verifier accepts more"),
        (NoiseModel(0.05, 0.9, 0.25, 0.1, 0.6), 10, "the verifier accepts less"),
        (NoiseModel(0.45, 0.45, 0.25, 0.1, 0.6), 30, "the verifier tells less"),
        (NoiseModel(0.1, 0.05, 0.25, 0.1, 0.6), 20, "the verifier tells more"),
        (NoiseModel(0.3, 0.2, 0.25, 0.1, 0.2), 60, "fewer initial plans are valid"),
        (NoiseModel(0.3, 0.2, 0.7, 0.1, 0.6), 60, "repair mends more"),
        (NoiseModel(0.3, 0.2, 0.25, 0.6, 0.6), 60, "repair breaks more"),
    ],
)
def test_changes_are_found_and_named(drifted: NoiseModel, within: int, looks_like: str) -> None:
    """A change raises the alarm within so many loops (median of 9 streams), and is named."""
    monitor = DriftMonitor(CALIBRATED)
    delays, names = [], []
    for seed in range(9):
        alarm = follow(monitor, histories(drifted, 400, seed=seed))
        assert alarm is not None
        delays.append(alarm.loop)
        names.append(alarm.looks_like)
    assert np.median(delays) <= within
    assert max(set(names), key=names.count) == looks_like


def test_estimated_noise_does_not_set_it_off() -> None:
    """With noise fitted to 60 labelled loops, 200 further loops raise an alarm in few streams."""
    alarms = []
    for seed in range(15):
        runs = simulate_repair(CALIBRATED, 60, seed=seed)
        table = RepairTable.from_arrays(runs.accepts, 8, runs.valid)
        monitor = DriftMonitor(fit_noise(table).noise)
        alarms.append(follow(monitor, histories(CALIBRATED, 200, seed=1000 + seed)) is not None)
    assert sum(alarms) <= 3


_pairs = st.integers(0, 5).flatmap(lambda votes: st.tuples(st.integers(0, votes), st.just(votes)))


@settings(max_examples=40)
@given(st.lists(st.lists(_pairs, max_size=4), max_size=12), st.integers(0, 12))
def test_resuming_equals_running_through(loops: list[list[tuple[int, int]]], cut: int) -> None:
    """A state stored as JSON and resumed gives the same states and alarms."""
    monitor = DriftMonitor(CALIBRATED, loops=5)
    through: State = monitor.initial()
    resumed: State = monitor.initial()
    for i, history in enumerate(loops):
        if i == cut:
            resumed = state_from_json(json.loads(json.dumps(state_to_json(resumed))))
        through, first = monitor.step(through, history)
        resumed, second = monitor.step(resumed, history)
        assert (through, first) == (resumed, second)


@settings(max_examples=40)
@given(st.lists(st.lists(_pairs, max_size=4), min_size=1, max_size=20))
def test_alarms_are_sticky_and_more_patience_never_alarms_earlier(
    loops: list[list[tuple[int, int]]],
) -> None:
    """After an alarm every step alarms; a larger ``loops`` alarms no earlier."""
    alarms = {}
    for patience in (3.0, 30.0):
        monitor = DriftMonitor(CALIBRATED, loops=patience)
        state, found = monitor.initial(), []
        for history in loops:
            state, alarm = monitor.step(state, history)
            found.append(alarm is not None)
        assert found == sorted(found)
        alarms[patience] = sum(found)
    assert alarms[30.0] <= alarms[3.0]


def test_ratio_is_that_of_the_chain() -> None:
    """The log likelihood ratio of a loop equals that of the forward pass over arrays."""
    history = [(3, 8), (0, 0), (7, 8)]
    state, _ = DriftMonitor(CALIBRATED).step(DriftMonitor(CALIBRATED).initial(), history)
    accepts, votes = np.array([[3, 0, 7]]), np.array([[8, 0, 8]])
    table = RepairTable(
        accepts,
        votes,
        np.full((1, 3), UNKNOWN, np.int8),
        np.array([3]),
        np.array([0]),
        np.zeros(1, bool),
    )
    start = logit([[0.3, 0.8, 0.6, 0.25, 0.1]])
    shifted = start + np.array([[1, 1, 0, 0, 0]])  # accepts more: rho0 up, 1 - rho1 up
    both = Chain(table).posterior(ChainModel(), np.concatenate([start, shifted])).log_likelihood
    assert state[2][0] == pytest.approx(float(both[1, 0] - both[0, 0]))


def test_no_votes_are_no_evidence() -> None:
    """A loop whose verifier failed throughout changes nothing but the count."""
    monitor = DriftMonitor(CALIBRATED)
    state, alarm = monitor.step(monitor.initial(), [(0, 0), (0, 0)])
    assert alarm is None and state[0] == 1
    np.testing.assert_allclose(state[2], 0, atol=1e-12)
    assert monitor.step(monitor.initial(), [])[0][2] == (0.0,) * len(CHANGES)


def test_impossible_votes_alarm() -> None:
    """A calibrated verifier that never errs, and then does: an alarm, not an infinity."""
    monitor = DriftMonitor(NoiseModel(0, 0, 0.2, 0, 1))
    alarm = follow(monitor, [[(4, 8)]] * 20)
    assert alarm is not None and math.isfinite(alarm.likelihood_ratio)
    assert "no longer fit the calibration" in alarm.reason and "calibrate again" in alarm.reason


def test_refusals() -> None:
    """Votes that make no sense leave the state alone; parameters out of range are refused."""
    monitor = DriftMonitor(CALIBRATED)
    with pytest.raises(ObservationError):
        monitor.step(monitor.initial(), [(9, 8)])
    for arguments in ({"loops": 1.0}, {"shift": 0.0}):
        with pytest.raises(ParameterError, match="drift: "):
            DriftMonitor(CALIBRATED, **arguments)
