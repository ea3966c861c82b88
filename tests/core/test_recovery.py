"""The recovery model: its checks, its documents and its backward induction."""

from __future__ import annotations

import json
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haltwise.core.errors import ParameterError
from haltwise.core.expression import parse_policy
from haltwise.core.recovery import RecoveryModel

PROBABILITY = st.floats(0, 1, allow_nan=False)


@st.composite
def models(draw: st.DrawFn) -> RecoveryModel:
    """Draw a model with any budget up to 9."""
    budget = draw(st.integers(2, 9))
    row = st.lists(PROBABILITY, min_size=budget - 2, max_size=budget - 2)
    values = st.lists(st.floats(-1, 1), min_size=budget - 2, max_size=budget - 2)
    return RecoveryModel(
        budget=budget,
        hazard=(tuple(draw(row)), tuple(draw(row))),
        answer_now=(draw(PROBABILITY), draw(PROBABILITY)),
        useful_value=tuple(sorted(draw(values))),
        price=draw(st.sampled_from([0.0, 0.02, 0.05, 0.3])),
    )


def value_of(model: RecoveryModel, run: int, left: int, plan: dict[tuple[int, int], bool]) -> float:
    """Return what a fixed plan (stop or not by run and actions left) is worth from a state."""
    row = int(run != model.budget - left)
    if left == 1 or plan[run, left]:
        return model.answer_now[row]
    hazard = model.hazard[row][run - 1]
    ahead = value_of(model, run + 1, left - 1, plan)
    return hazard * model.useful_value[left - 2] + (1 - hazard) * ahead - model.price


@given(models())
def test_stopping_table_beats_every_fixed_plan(model: RecoveryModel) -> None:
    """From the first useless result, no run length at which to stop is worth more than the table.

    Oracle: enumeration of every plan from (r, m) = (1, B - 1), which moves along one path.
    """
    if model.budget == 2:
        assert model.stop == ((0, 1),)
        return
    path = [(run, model.budget - run) for run in range(1, model.budget - 1)]
    fitted = {(run, left): run in model.stop[left - 1] for run, left in path}
    ours = value_of(model, 1, model.budget - 1, fitted)
    for choice in product([False, True], repeat=len(path)):
        plan = dict(zip(path, choice, strict=True))
        assert value_of(model, 1, model.budget - 1, plan) <= ours + 1e-9


@given(models())
def test_json_and_expression_return_the_same_model(model: RecoveryModel) -> None:
    """A model survives its JSON document and its text inside an expression."""
    assert RecoveryModel.from_json(json.loads(json.dumps(model.to_json()))) == model
    policy = parse_policy(f"recovery({model}, trust=0.5)")
    assert policy.recovery == model  # type: ignore[attr-defined]
    assert parse_policy(str(policy)) == policy


def test_hand_worked_table() -> None:
    """Backward induction worked by hand for B = 4.

    q = .2, u = (.5, .6), h = (.5, .1), c = .1, fresh throughout.
    (r, m) = (2, 2): -.1 + .1 x .5 + .9 x .2 = .13 < .2: stop, V = .2.
    (1, 2), not fresh: -.1 + .5 x .5 + .5 x .2 = .25 > .2: search on.
    (1, 3): -.1 + .5 x .6 + .5 x .2 = .30 > .2: search on.
    """
    model = RecoveryModel(4, ((0.5, 0.1), (0.5, 0.1)), (0.2, 0.2), (0.5, 0.6), price=0.1)
    assert model.stop[1] == (2,)
    assert model.stop[2] == ()


def test_at_price_0_nothing_is_given_up_where_recovery_was_never_seen() -> None:
    """A tie goes to searching on: with no price and no recorded recovery only m = 1 stops."""
    model = RecoveryModel(8, ((0.0,) * 6,) * 2, (0.15, 0.15), (0.0,) * 6)
    assert model.stop == (tuple(range(8)), *[()] * 6)


def test_gain_averages_the_expected_recoveries() -> None:
    """G = sum of P(recovery after r) u(B - r - 1) / P(recovery) - q.

    By hand, B = 4: P(after 1) = .5 with m = 2 (u = .6); P(after 2) = .25 with m = 1 (u = .3);
    mean u = (.3 + .075) / .75 = .5; q = .2.
    """
    model = RecoveryModel(4, ((0.5, 0.5), (0, 0)), (0.2, 0.9), (0.3, 0.6))
    assert model.gain == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"budget": 1}, "budget is a whole number of at least 2; got 1"),
        ({"hazard": [[0.1]]}, "hazard is two lists"),
        ({"hazard": [[0.1, 0.2], [0.1]]}, "hazard holds lists of 2 finite numbers; got [0.1]"),
        ({"hazard": [[0.1, 1.2], [0.1, 0]]}, "probabilities from 0 to 1; got 1.2"),
        ({"answer_now": [0.1, float("nan")]}, "answer_now holds lists of 2 finite numbers"),
        ({"useful_value": [0.5, 0.4]}, "useful_value never falls with the actions left"),
        ({"price": -0.1}, "price is at least 0; got -0.1"),
        ({"speed": 3}, "unknown parameter 'speed'; known: budget"),
        ({"stop": [[0]]}, "stop does not follow from the other values"),
    ],
)
def test_bad_documents_are_refused(change: dict[str, object], message: str) -> None:
    """Each value out of range is named, with what came."""
    document: dict[str, object] = {
        "budget": 4,
        "hazard": [[0.5, 0.1], [0.5, 0.1]],
        "answer_now": [0.2, 0.2],
        "useful_value": [0.5, 0.6],
    }
    with pytest.raises(ParameterError) as caught:
        RecoveryModel.from_json(document | change)
    assert message in str(caught.value)


def test_missing_values_are_named() -> None:
    """A document without its tables says which."""
    with pytest.raises(ParameterError, match="recovery: hazard, answer_now missing"):
        RecoveryModel.from_json({"budget": 4, "useful_value": [0.1, 0.2]})
