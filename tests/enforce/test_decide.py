"""Decisions recomputed from messages: the laws first, then the cases of the field."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haltwise.core.events import Verdict
from haltwise.core.expression import parse_policy
from haltwise.enforce import (
    DIALECTS,
    NOTE,
    Message,
    VerdictMemory,
    assess,
    decide,
    mark,
    read_loop,
)
from haltwise.enforce.messages import NOT_RUN, Call
from haltwise.signals import Lexical, RateMatched, Stated
from haltwise.testing.conversations import (
    QUESTION,
    USEFUL,
    USELESS,
    answers,
    assistant,
    conversation,
)

STREAK = parse_policy("streak(5)")
ALL = sorted(DIALECTS)
RESULTS = st.lists(st.sampled_from([USELESS, USEFUL, "Error: timeout", ""]), max_size=12)


def _run(dialect, body, policy=STREAK, signal=None, **options):
    return assess(DIALECTS[dialect].read(body), policy, signal or Lexical(), **options)


# ---------------------------------------------------------------- laws


@given(results=RESULTS, dialect=st.sampled_from(ALL), parallel=st.integers(1, 3))
def test_every_dialect_reads_the_same_loop(results, dialect, parallel):
    """The decision depends on what happened, not on how an API writes it down."""
    ours = _run(dialect, conversation(dialect, results, parallel=parallel))
    chat = _run("chat", conversation("chat", results, parallel=parallel))
    assert (ours.decision, ours.run, ours.verdicts) == (chat.decision, chat.run, chat.verdicts)
    assert len(ours.verdicts) == len(results)
    assert ours.trimmed is None


@given(results=RESULTS, dialect=st.sampled_from(ALL), pending=st.integers(1, 3))
def test_pending_calls_neither_count_nor_reset(results, dialect, pending):
    """Case C: an assistant turn without results changes nothing."""
    before = _run(dialect, conversation(dialect, results))
    after = _run(dialect, conversation(dialect, results, pending=pending))
    assert (after.decision, after.run) == (before.decision, before.run)
    assert len(after.loop.pending) == pending


@given(results=st.lists(st.sampled_from([USELESS, USEFUL]), max_size=12))
def test_parallel_calls_of_one_turn_are_one_step(results):
    """Case C: three calls side by side are a single step."""
    assert _run("chat", conversation("chat", results, parallel=3)).verdicts == (
        _run("chat", conversation("chat", results)).verdicts
    )


@given(results=RESULTS, extra=RESULTS)
def test_a_stop_is_sticky_whatever_is_appended(results, extra):
    """Case B20: once the loop has stopped, no further result opens it again."""
    if _run("chat", conversation("chat", results)).decision.stops:
        assert _run("chat", conversation("chat", [*results, *extra])).decision.stops


@given(results=RESULTS, k=st.integers(1, 6))
def test_more_patience_never_stops_earlier(results, k):
    """streak(k + 1) stops only where streak(k) has stopped."""
    body = conversation("chat", results)
    if _run("chat", body, parse_policy(f"streak({k + 1})")).decision.stops:
        assert _run("chat", body, parse_policy(f"streak({k})")).decision.stops


@given(histories=st.lists(RESULTS, max_size=6), size=st.integers(2, 20))
def test_the_memory_changes_speed_alone(histories, size):
    """With a memory of any size every assessment is what it is without one."""
    policy = parse_policy("streak(3) | repeat(4) | deadline(9)")
    for signal in (Lexical(), Stated(), RateMatched(0.5)):
        memory = VerdictMemory(size)
        for results in [*histories, *histories]:
            body = conversation("chat", results, thought="That is not helpful.")
            assert _run("chat", body, policy, signal, memory=memory) == (
                _run("chat", body, policy, signal)
            )
            assert len(memory) <= size


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
))  # fmt: skip
def test_any_json_as_content_is_read(value):
    """Whatever stands in a content field, the reader does not break on it."""
    for name, dialect in DIALECTS.items():
        body = conversation(name, [USELESS])
        for item in body["input" if name == "responses" else "messages"]:
            for field in ("content", "output"):
                if field in item:
                    item[field] = value
        assess(dialect.read(body), STREAK, Lexical())


# ---------------------------------------------------------------- A: stopping decisions


@pytest.mark.parametrize("dialect", ALL)
def test_case_a1_a_search_that_finds_nothing_is_stopped_at_k(dialect):
    """Case A1: the fifth useless result fires the rule, the fourth does not."""
    assert not _run(dialect, conversation(dialect, [USELESS] * 4)).decision.stops
    decision = _run(dialect, conversation(dialect, [USELESS] * 5)).decision
    assert decision.stops
    assert decision.reason == "5 useless results in a row (threshold 5)"


def test_case_a2_reformulated_searches_count_though_no_argument_repeats():
    """Case A2: uselessness drives the run; every query of this history is different."""
    body = conversation("chat", [USELESS] * 19)
    arguments = [
        c["function"]["arguments"] for m in body["messages"] for c in m.get("tool_calls", ())
    ]
    assert len(set(arguments)) == 19
    assert _run("chat", body).run == 19


def test_case_a3_low_relevance_counts_as_useless():
    """Case A3: results about something else lengthen the run."""
    assert _run("chat", conversation("chat", ["Bananas are rich in potassium."] * 5)).decision.stops


def test_case_a4_cycles_across_tools_are_seen():
    """Case A4: search / fetch / search / fetch with the same results is a repetition."""
    messages = [Message("user", QUESTION)]
    for t in range(10):
        call = Call(f"c{t}", "search" if t % 2 == 0 else "fetch", '{"query": "x"}')
        messages += [Message("assistant", "", (call,)), Message("tool", USEFUL, (), f"c{t}")]
    assert decide(messages, parse_policy("repeat(4)"), Lexical()).stops
    assert not decide(messages[:-6], parse_policy("repeat(4)"), Lexical()).stops
    useless = [m._replace(text=USELESS) if m.role == "tool" else m for m in messages]
    assert decide(useless, parse_policy("repeat(4)"), Lexical()).stops


def test_case_a5_new_results_of_the_same_tool_are_no_loop():
    """Case A5: progress is not a loop, however often the tool is called."""
    body = conversation("chat", [f"{USEFUL} Part {t}." for t in range(40)])
    assert not _run("chat", body, parse_policy("streak(3) | repeat(3)")).decision.stops


def test_case_a6_polling_can_be_exempted():
    """Case A6: calls of an exempt tool neither count nor reset."""
    messages = [Message("user", QUESTION)]
    for t in range(12):
        name = "poll" if t % 3 else "search"
        messages += [
            Message("assistant", "", (Call(f"c{t}", name, "{}"),)),
            Message("tool", "still running" if t % 3 else USELESS, (), f"c{t}"),
        ]
    result = assess(messages, STREAK, Lexical(), exempt=frozenset({"poll"}))
    assert (len(result.verdicts), result.run) == (4, 4)


@pytest.mark.parametrize("dialect", ALL)
def test_case_a7_a_useful_result_or_a_new_user_turn_resets(dialect):
    """Case A7: the run does not survive a find, nor the next question."""
    assert _run(dialect, conversation(dialect, [*[USELESS] * 4, USEFUL])).run == 0
    body = conversation(dialect, [USELESS] * 7)
    key = "input" if dialect == "responses" else "messages"
    body[key] += [
        {"role": "assistant", "content": "Nothing found."},
        {"role": "user", "content": QUESTION},
    ]
    result = _run(dialect, body)
    assert (result.decision.stops, result.run, result.verdicts) == (False, 0, ())


def test_case_a8_the_whole_batch_is_read_and_the_strongest_decision_wins():
    """Case A8: a rule that fires in the middle of a batch does not hide the ones behind it."""
    policy = parse_policy("calls(3) | streak(5)")
    decision = _run("chat", conversation("chat", [USELESS] * 5), policy).decision
    assert decision.stops
    assert decision.policy == "calls(3) | streak(5)"


@pytest.mark.parametrize("error", [
    "Error: 503 Service Unavailable", "Tool execution failed: connection reset",
    "An error occurred while running the tool. Please try again.", "Request timed out",
    "HTTP 502 Bad Gateway", "Traceback (most recent call last):\n  File", "TimeoutError: 30 s",
    "Execution error in search: boom", '{"error": "rate limited"}', "Internal Server Error",
])  # fmt: skip
def test_case_a9_a_failed_source_is_a_verdict_of_its_own(error):
    """Case A9: an infrastructure error leaves the run, unless the policy counts errors."""
    body = conversation("chat", [USELESS] * 4 + [error])
    result = _run("chat", body)
    assert (result.verdicts[-1], result.run) == (Verdict.SOURCE_ERROR, 4)
    assert _run("chat", body, parse_policy("streak(5, count_errors=true)")).decision.stops


def test_case_a9_anthropic_marks_a_failed_call_itself():
    """Case A9: ``is_error`` is believed whatever the text says."""
    body = conversation("anthropic", [USEFUL])
    body["messages"][-1]["content"][0]["is_error"] = True
    assert _run("anthropic", body).verdicts == (Verdict.SOURCE_ERROR,)


def test_case_a15_every_threshold_is_a_parameter_and_shown():
    """Case A15: the reason carries the observed value and the threshold."""
    decision = _run("chat", conversation("chat", [USELESS] * 3), parse_policy("streak(3)")).decision
    assert decision.evidence == {"run": 3, "threshold": 3}
    assert "threshold 3" in decision.reason


# ---------------------------------------------------------------- B, C: what comes back


@pytest.mark.parametrize("refusal", [
    "Error: search is not a valid tool, try one of [answer].", "Unknown tool name: 'search'.",
    "Tool search not found", "Tool 'search' is disabled", "tools disabled", NOT_RUN,
    "No tool named search", "Error: unknown function search", "The tool search is not available.",
])  # fmt: skip
def test_case_c_a_refusal_counts_as_useless_and_never_resets(refusal):
    """Case C: a framework that refuses a call must not open the tools again."""
    result = _run("chat", conversation("chat", [*[USELESS] * 4, refusal]))
    assert result.verdicts[-1] is Verdict.USELESS
    assert result.decision.stops


@pytest.mark.parametrize("dialect", ALL)
def test_case_c_our_own_note_is_ignored_when_it_was_stored(dialect):
    """Case C: a persisted note is no user turn; the run goes on through it."""
    key = "input" if dialect == "responses" else "messages"
    body = conversation(dialect, [USELESS] * 5)
    body[key] += [{"role": "user", "content": NOTE}]
    body[key] += assistant(dialect, ["x"], "again") + answers(dialect, ["x"], USELESS)
    result = _run(dialect, body)
    assert (result.run, result.decision.stops) == (6, True)


def test_case_b22_a_forced_sub_answer_is_useless_upstream():
    """Case B22: marked, or remembered by whoever forced it, it counts as useless."""
    answer = f"{USEFUL}\n\n{mark('5 useless results in a row (threshold 5)')}"
    assert _run("chat", conversation("chat", [answer] * 5)).decision.stops
    plain = conversation("chat", [USEFUL] * 5)
    assert not _run("chat", plain).decision.stops
    assert _run("chat", plain, is_forced=lambda text: text == USEFUL).decision.stops


@pytest.mark.parametrize("dialect", ALL)
def test_case_c_trimmed_history_is_detected_and_said(dialect):
    """Case C: a missing first turn, a result without a call, a call without a result."""
    key = "input" if dialect == "responses" else "messages"
    whole = conversation(dialect, [USELESS] * 3)
    assert _run(dialect, whole).trimmed is None
    headless = {**whole, key: whole[key][1:]}
    assert _run(dialect, headless).trimmed == "the history begins without a user turn"
    orphan = {**whole, key: [whole[key][0], *whole[key][2:]]}
    assert _run(dialect, orphan).trimmed == "a result has no call"
    lost = {**whole, key: [*whole[key][:2], *whole[key][3:]]}
    assert _run(dialect, lost).trimmed is not None


def test_case_c_text_beside_results_is_no_new_turn():
    """Case C: Anthropic clients put reminders beside tool results."""
    body = conversation("anthropic", [USELESS] * 5)
    for message in body["messages"][2::2]:
        message["content"].append({"type": "text", "text": "Remember the plan."})
    assert _run("anthropic", body).run == 5


@pytest.mark.parametrize("call", [
    "Thought: hm\nAction: Search[x {t}]", "Action: search\nAction Input: x {t}",
    "Calling tools:\n[{{'id': '1', 'function': {{'name': 'search', 'arguments': '{t}'}}}}]",
])  # fmt: skip
def test_case_d_text_agents_send_observations_as_user_texts(call):
    """Case D: smolagents and ReAct text; "Observation: ..." is a result, not a user turn."""
    messages = [{"role": "user", "content": QUESTION}]
    for t in range(5):
        messages += [
            {"role": "assistant", "content": call.format(t=t)},
            {"role": "user", "content": [{"type": "text", "text": f"Observation:\n{USELESS}"}]},
        ]
    result = _run("chat", {"messages": messages})
    assert (result.run, result.loop.written, result.trimmed) == (5, True, None)
    assert {r.call.name.lower() for step in result.loop.steps for r in step.results} == {"search"}


def test_case_d_responses_siblings_are_one_turn():
    """Case D: function_call items side by side belong to one assistant turn."""
    body = conversation("responses", [USELESS], parallel=3)
    assert [item.get("type") for item in body["input"][1:4]] == ["function_call"] * 3
    assert len(_run("responses", body).verdicts) == 1


def test_responses_with_interleaved_calls_and_outputs_are_turns_of_their_own():
    """Call, output, call, output is two steps, as agents resend it."""
    assert len(_run("responses", conversation("responses", [USELESS] * 2)).verdicts) == 2


def test_legacy_functions_are_read():
    """``function_call`` and role "function" are a call and its result."""
    messages = [{"role": "user", "content": QUESTION}]
    for t in range(5):
        call = {"name": "search", "arguments": json.dumps({"q": t})}
        messages += [
            {"role": "assistant", "content": None, "function_call": call},
            {"role": "function", "name": "search", "content": USELESS},
        ]
    assert _run("chat", {"messages": messages}).run == 5


def test_the_question_is_the_user_turn_that_opened_the_loop():
    """Several user texts in a row are one question; earlier turns do not count."""
    messages = [
        Message("system", "s"),
        Message("user", "old"),
        Message("assistant", "answer"),
        Message("user", "context"),
        Message("user", "new"),
    ]
    assert read_loop(messages).question == "context\nnew"


def test_the_stated_signal_needs_the_next_turn():
    """The verdict on the newest result is open until the agent has written again."""
    body = conversation("chat", [USEFUL] * 6, thought="That was not helpful.")
    result = _run("chat", body, signal=Stated())
    assert result.verdicts == (*[Verdict.USELESS] * 5, Verdict.UNJUDGED)
    assert result.run == 5
