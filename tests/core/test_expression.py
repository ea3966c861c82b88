"""Policies as text: what is printed is what is parsed, and what cannot be read says where."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haltwise import AllOf, AnyOf, ExpressionError, ParameterError, Policy, parse_policy
from haltwise.core.noise import NoiseModel
from haltwise.core.policies import RULES, Deadline, RandomStop, UselessStreak
from haltwise.core.policy import print_value

from .test_search_policies import policies


@given(policies)
def test_printing_and_parsing_are_inverse(policy: Policy) -> None:
    """Any policy prints to text that reads back to an equal policy."""
    assert parse_policy(str(policy)) == policy


@given(st.text(max_size=60) | st.text(alphabet="streakdln(58)|&, =.[]\"'", max_size=40))
def test_any_text_gives_a_policy_or_a_located_error(text: str) -> None:
    """Whatever is typed, the outcome is a policy or an ExpressionError inside the text."""
    try:
        assert isinstance(parse_policy(text), Policy)
    except ExpressionError as error:
        assert 0 <= error.position <= len(text)
        assert error.text == text


def test_and_binds_tighter_than_or() -> None:
    """``a | b & c`` is a or (b and c)."""
    policy = parse_policy("streak(5) | streak(2) & deadline(8)")
    assert isinstance(policy, AnyOf)
    assert policy.parts == (UselessStreak(5), AllOf((UselessStreak(2), Deadline(8))))


def test_chains_are_flat() -> None:
    """``a | b | c`` has three parts, in text as in code."""
    policy = parse_policy("streak(5) | deadline(8) | calls(9)")
    assert isinstance(policy, AnyOf)
    assert len(policy.parts) == 3
    assert policy == parse_policy("streak(5)") | parse_policy("deadline(8)") | parse_policy(
        "calls(9)"
    )


def test_arguments_by_name_and_by_position() -> None:
    """Both forms give the same policy, trailing commas and blanks do not matter."""
    assert parse_policy("random(.25, 3)") == parse_policy(" random( seed = 3 , rate=0.25, ) ")
    assert parse_policy("random(1e-3)") == RandomStop(0.001)


def test_constants() -> None:
    """true, false and none are written in lower case."""
    assert parse_policy("streak(5, count_errors=true)") == UselessStreak(5, count_errors=True)
    assert str(UselessStreak(5, count_errors=True)) == "streak(5, true)"


def test_defaults_fill_what_the_expression_leaves_out() -> None:
    """A default by parameter name is taken by the rules that have it and name no own."""
    defaults = {"budget": 6, "k": 3}
    assert parse_policy("deadline | streak(4)", defaults=defaults) == Deadline(6) | UselessStreak(4)


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("", 0, "expected a rule such as streak(5)"),
        ("strek(5)", 0, "there is no rule 'strek'; did you mean streak?"),
        ("zzz", 0, "there is no rule 'zzz'; known:"),
        ("streak(5) |", 11, "expected a rule such as streak(5)"),
        ("streak(5) deadline(8)", 10, "expected | or & or the end, got 'deadline'"),
        ("streak(5", 8, "expected ')'"),
        ("streak(0)", 0, "streak: k is a whole number of at least 1; got 0"),
        ("streak()", 0, "streak needs k"),
        ("streak(5, 1, 2)", 13, "streak takes at most 2 arguments"),
        ("streak(5, k=4)", 10, "streak got k twice"),
        ("streak(n=4)", 7, "streak has no parameter 'n'; its parameters: k, count_errors"),
        ("streak($)", 7, "cannot read '$' here"),
        ("(" * 60, 51, "more than 50 levels of nesting"),
    ],
)
def test_errors_name_the_place_and_the_remedy(text: str, position: int, message: str) -> None:
    """Each mistake is answered with one sentence and an arrow under the place."""
    with pytest.raises(ExpressionError) as caught:
        parse_policy(text)
    assert message in str(caught.value)
    assert caught.value.position == position


def test_every_rule_is_found_by_its_word() -> None:
    """The table of rules and the rules' own words agree."""
    assert all(rule.name == word for word, rule in RULES.items())


def test_a_noise_model_prints_as_a_value() -> None:
    """Fitted parameters can stand inside an expression, so that it is complete by itself."""
    model = NoiseModel(0.3, 0.2, 0.25, 0.1, 0.6, icc=0.1, alpha_by_round=(0.4, 0.2))
    assert str(model) == (
        "noise(rho0=0.3, rho1=0.2, alpha=0.25, beta=0.1, valid=0.6, icc=0.1, "
        "alpha_by_round=[0.4, 0.2])"
    )
    assert NoiseModel.from_json(model.to_json()) == model


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_survive_printing(number: float) -> None:
    """Numbers are printed with all their digits."""
    assert float(print_value(number)) == number


@pytest.mark.parametrize("text", [None, 5, b"streak(5)", []])
def test_text_is_wanted(text: Any) -> None:
    """Anything but text is refused with a line to type, not with a TypeError of re."""
    with pytest.raises(ParameterError, match="a policy is an expression"):
        parse_policy(text)
