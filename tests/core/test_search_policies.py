"""The search rules: first the laws that every rule keeps, then where each of them stops."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haltwise import (
    CallBudget,
    Deadline,
    Never,
    ParameterError,
    Policy,
    RandomStop,
    Repetition,
    SearchObservation,
    UselessStreak,
    Verdict,
    parse_policy,
)
from haltwise.core.policies.repeat import MEMORY
from haltwise.testing import check_combination, check_monotone, check_policy, stop_step

observation_lists = st.lists(
    st.builds(
        SearchObservation,
        st.sampled_from(Verdict),
        st.none() | st.sampled_from(["a1", "b2", "c3"]),
    ),
    max_size=25,
)
rules = st.one_of(
    st.builds(UselessStreak, st.integers(1, 8), st.booleans()),
    st.builds(Deadline, st.integers(2, 12)),
    st.builds(CallBudget, st.integers(1, 12)),
    st.builds(Repetition, st.integers(2, 4)),
    st.builds(RandomStop, st.floats(0, 1), st.integers(0, 2**32)),
    st.just(Never()),
)
policies = st.recursive(
    rules,
    lambda inner: st.builds(Policy.__or__, inner, inner) | st.builds(Policy.__and__, inner, inner),
)


def of(words: str) -> list[SearchObservation]:
    """Return observations from letters: u(seless), g(ood), ? unknown, - unjudged, e(rror)."""
    table = {
        "u": Verdict.USELESS,
        "g": Verdict.USEFUL,
        "?": Verdict.UNKNOWN,
        "-": Verdict.UNJUDGED,
        "e": Verdict.SOURCE_ERROR,
    }
    return [SearchObservation(table[letter]) for letter in words]


def marks(text: str, verdict: Verdict = Verdict.USELESS) -> list[SearchObservation]:
    """Return observations whose fingerprints are the letters of ``text``."""
    return [SearchObservation(verdict, letter) for letter in text]


@given(policies, observation_lists)
def test_every_policy_keeps_the_laws(policy: Policy, observations: list[SearchObservation]) -> None:
    """Purity, resuming, stickiness, evidence and printing hold for any rule on any sequence."""
    check_policy(policy, observations)


@given(policies, policies, observation_lists)
def test_combinations_stop_at_the_earliest_and_the_latest_part(
    left: Policy, right: Policy, observations: list[SearchObservation]
) -> None:
    """``|`` stops at the earlier part and ``&`` at the later, whatever the order."""
    check_combination(left, right, observations)


@given(st.booleans(), observation_lists)
def test_a_longer_streak_never_stops_earlier(
    count_errors: bool, observations: list[SearchObservation]
) -> None:
    """More patience in k never stops earlier."""
    check_monotone(lambda k: UselessStreak(k, count_errors), range(1, 9), observations)


@given(observation_lists)
def test_more_budget_never_stops_earlier(observations: list[SearchObservation]) -> None:
    """More patience in the budget, the cap, the repetitions or the rate never stops earlier."""
    check_monotone(Deadline, range(2, 12), observations)
    check_monotone(CallBudget, range(1, 12), observations)
    check_monotone(Repetition, range(2, 6), observations)
    check_monotone(RandomStop, [1.0, 0.7, 0.4, 0.1, 0.0], observations)


@pytest.mark.parametrize(
    ("words", "k", "step"),
    [
        ("uuuuu", 5, 5),
        ("uuuugu", 5, None),
        ("uuguuuu", 4, 7),
        ("uu-uu", 4, 5),
        ("uu?uu", 4, None),
        ("uueuu", 4, 5),
        ("eeee", 2, None),
        ("u", 1, 1),
    ],
)
def test_streak_counts_consecutive_useless_verdicts(words: str, k: int, step: int | None) -> None:
    """useless adds one, useful and unknown reset, unjudged and source errors leave the run."""
    assert stop_step(UselessStreak(k), of(words)) == step


def test_streak_counts_errors_when_told_to() -> None:
    """With count_errors a failed source lengthens the run: the fourth step is the fourth."""
    assert stop_step(UselessStreak(4, count_errors=True), of("uueu")) == 4


def test_nineteen_reformulations_are_one_run() -> None:
    """Uselessness drives the streak, not sameness: nineteen different queries stop at the fifth."""
    queries = [SearchObservation(Verdict.USELESS, f"{i:016x}") for i in range(19)]
    assert stop_step(UselessStreak(5), queries) == 5
    assert stop_step(Repetition(2), queries) is None


def test_deadline_keeps_the_last_action_for_the_answer() -> None:
    """With a budget of 8 the answer is demanded after the 7th step: action 8 is the answer."""
    assert stop_step(Deadline(8), of("g" * 10)) == 7
    assert stop_step(Deadline(2), of("g")) == 1


def test_calls_stops_after_n_steps() -> None:
    """A cap of 3 stops at the third step, useful or not."""
    assert stop_step(CallBudget(3), of("gugu")) == 3


def test_repetition_sees_cycles_across_tools() -> None:
    """search / fetch / search / fetch with equal results is a loop: the third search fires."""
    assert stop_step(Repetition(3), marks("sfsfsf")) == 5


def test_new_results_are_progress() -> None:
    """The same tool with a new result each time is no loop."""
    assert stop_step(Repetition(2), marks("abcdefghij")) is None


def test_a_new_useful_result_forgets_earlier_repetitions() -> None:
    """After a useful result not seen before, the count begins again."""
    sequence = [*marks("aa"), *marks("n", Verdict.USEFUL), *marks("aa")]
    assert stop_step(Repetition(3), sequence) is None


def test_useful_results_in_turn_are_a_cycle() -> None:
    """A signal that praises both results of a cycle does not hide it (deer-flow 2590)."""
    assert stop_step(Repetition(3), marks("sfsfsfsfsf", Verdict.USEFUL)) == 6


def test_an_old_result_called_useful_again_is_still_a_repetition() -> None:
    """A judge that praises the same result each time does not hide the loop."""
    assert stop_step(Repetition(3), marks("aaa", Verdict.USEFUL)) == 3


def test_repetition_remembers_a_bounded_number_of_steps() -> None:
    """The state does not grow beyond `MEMORY`, however long the session."""
    state = Repetition(2).initial()
    for i in range(3 * MEMORY):
        state, _ = Repetition(2).step(state, SearchObservation(Verdict.USELESS, str(i)))
    assert len(state) == MEMORY


def test_random_stops_at_its_rate() -> None:
    """Over 4,000 seeds the share that stops at the first step is the rate, within 4 s.e."""
    n, rate = 4000, 0.3
    stopped = sum(stop_step(RandomStop(rate, seed), of("u")) == 1 for seed in range(n))
    assert abs(stopped / n - rate) < 4 * (rate * (1 - rate) / n) ** 0.5


def test_random_ignores_the_content() -> None:
    """The control stops at the same step whatever the verdicts are."""
    assert stop_step(RandomStop(0.2, 7), of("u" * 30)) == stop_step(
        RandomStop(0.2, 7), of("g" * 30)
    )


def test_early_failure_alone_does_not_stop_a_patient_policy() -> None:
    """`[bad, bad, good]`: streak(3) lives through two bad results and sees the good one."""
    assert stop_step(UselessStreak(3), of("uuguu")) is None


def test_a_stateful_part_on_the_right_sees_every_observation() -> None:
    """In ``never | streak(4)`` the right side is not starved: it fires at the fourth result."""
    assert stop_step(Never() | UselessStreak(4), of("uuuu")) == 4


def test_a_combined_decision_names_every_part_that_fired() -> None:
    """At step 7 both parts of the rule fire, and both stand in the evidence with their numbers."""
    policy = parse_policy("streak(7) | deadline(8)")
    state = policy.initial()
    for observation in of("u" * 7):
        state, decision = policy.step(state, observation)
    assert [part.policy for part in decision.because] == ["streak(7)", "deadline(8)"]
    assert decision.because[0].evidence == {"run": 7, "threshold": 7}
    assert decision.because[1].evidence == {"steps": 7, "budget": 8}
    assert decision.reason == (
        "7 useless results in a row (threshold 7); "
        "7 of 8 actions taken, the last one is for the answer"
    )
    assert decision.policy == "streak(7) | deadline(8)"


@pytest.mark.parametrize(
    "make",
    [
        lambda: UselessStreak(0),
        lambda: UselessStreak(True),
        lambda: UselessStreak(2.0),  # type: ignore[arg-type]
        lambda: Deadline(1),
        lambda: CallBudget(0),
        lambda: Repetition(1),
        lambda: RandomStop(1.5),
        lambda: RandomStop(float("nan")),
        lambda: RandomStop(0.5, -1),
    ],
)
def test_parameters_out_of_range_are_refused(make: object) -> None:
    """Every threshold is checked when the policy is made, and the message names it."""
    with pytest.raises(ParameterError, match=r"^(streak|deadline|calls|repeat|random): \w+ is "):
        make()  # type: ignore[operator]
