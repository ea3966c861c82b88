"""Requests with their tools off, replies without calls: every dialect, every way."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haltwise.core.errors import InputError
from haltwise.core.expression import parse_policy
from haltwise.enforce import (
    DIALECTS,
    NOTE,
    OWN,
    How,
    assess,
    best_candidate,
    gate_request,
    gates,
    scrub_response,
)
from haltwise.enforce.messages import NOT_RUN
from haltwise.signals import Lexical
from haltwise.testing.conversations import USEFUL, USELESS, conversation

ALL = sorted(DIALECTS)
KEYS = {"chat": "messages", "responses": "input", "anthropic": "messages"}


def _assess(dialect, body):
    return assess(DIALECTS[dialect].read(body), parse_policy("streak(5)"), Lexical())


def _reply(dialect, text="", calls=()):
    if dialect == "chat":
        message = {"role": "assistant", "content": text or None}
        if calls:
            message["tool_calls"] = [
                {"id": f"r{i}", "type": "function", "function": {"name": n, "arguments": "{}"}}
                for i, n in enumerate(calls)
            ]
        finish = "tool_calls" if calls else "stop"
        return {"id": "c", "choices": [{"index": 0, "message": message, "finish_reason": finish}]}
    if dialect == "responses":
        part = {"type": "output_text", "text": text, "annotations": []}
        output = [{"type": "message", "role": "assistant", "content": [part]}] if text else []
        output += [
            {"type": "function_call", "call_id": f"r{i}", "name": n, "arguments": "{}"}
            for i, n in enumerate(calls)
        ]
        return {"id": "r", "status": "completed", "output": output}
    content = [{"type": "text", "text": text}] if text else []
    content += [
        {"type": "tool_use", "id": f"r{i}", "name": n, "input": {}} for i, n in enumerate(calls)
    ]
    return {"id": "m", "content": content, "stop_reason": "tool_use" if calls else "end_turn"}


# ---------------------------------------------------------------- requests


@given(
    dialect=st.sampled_from(ALL),
    how=st.sampled_from(list(How)),
    results=st.lists(st.sampled_from([USELESS, USEFUL]), max_size=6),
    parallel=st.integers(1, 3),
    pending=st.integers(0, 2),
)
def test_gating_leaves_the_request_as_it_came(dialect, how, results, parallel, pending):
    """The gated request is a new one, offers nothing, ends with the note, and gates once."""
    body = conversation(dialect, results, parallel=parallel, pending=pending)
    before = copy.deepcopy(body)
    gated = gate_request(body, DIALECTS[dialect], how=how)
    assert body == before
    assert DIALECTS[dialect].tools(gated) == []
    assert json.dumps(gated[KEYS[dialect]][-1]).count(OWN) >= 1
    assert gated["model"] == body["model"]
    loop = _assess(dialect, gated)
    assert not loop.loop.pending
    if how is not How.FLATTEN and not pending:
        assert loop == _assess(dialect, body)


def test_case_d_chat_strips_every_tool_field_and_never_sends_an_empty_list():
    """Case D, OpenAI chat: tools, choice, parallel flag and legacy functions go; stream stays."""
    body = conversation("chat", [USELESS] * 5, stream=True)
    body |= {
        "tool_choice": "auto",
        "parallel_tool_calls": True,
        "functions": [{"name": "search"}],
        "function_call": "auto",
    }
    gated = gate_request(body, DIALECTS["chat"])
    assert set(gated) == {"model", "stream", "messages"}
    assert gated["stream"] is True
    assert gated["messages"][-1] == {"role": "user", "content": NOTE}


def test_case_d_responses_keep_the_tools_and_choose_none():
    """Case D, Responses: the tools stay, the choice is "none"."""
    gated = gate_request(conversation("responses", [USELESS] * 5), DIALECTS["responses"])
    assert gated["tool_choice"] == "none"
    assert gated["tools"]


@pytest.mark.parametrize("field", ["previous_response_id", "conversation"])
def test_case_d_responses_with_history_on_the_server_are_opaque(field):
    """Case D, Responses: what cannot be read is passed through, with the reason."""
    body = {**conversation("responses"), field: "resp_1"}
    assert field in DIALECTS["responses"].opaque(body)


def test_case_d_anthropic_keeps_tools_and_puts_the_note_behind_the_results():
    """Case D, Anthropic: choice none, and the note in the same user turn, after its results."""
    body = conversation("anthropic", [USELESS] * 5)
    gated = gate_request(body, DIALECTS["anthropic"])
    assert gated["tools"] == body["tools"]
    assert gated["tool_choice"] == {"type": "none"}
    assert len(gated["messages"]) == len(body["messages"])
    assert [block["type"] for block in gated["messages"][-1]["content"]] == ["tool_result", "text"]


@pytest.mark.parametrize("dialect", ALL)
def test_case_d_flattening_leaves_no_tool_block_and_loses_no_text(dialect):
    """Case D: for a provider that rejects tool history without tools, calls become text."""
    body = conversation(dialect, [f"result {t}" for t in range(4)], parallel=2)
    text = json.dumps(gate_request(body, DIALECTS[dialect], how=How.FLATTEN))
    for word in ("tool_calls", "tool_call_id", "function_call", "tool_use", "tool_result"):
        assert f'"{word}"' not in text
    assert all(f"result {t}" in text and f"query {t}" in text for t in range(4))


@pytest.mark.parametrize("dialect", ALL)
def test_case_b18_unanswered_calls_are_answered(dialect):
    """Case B18: every call gets a result, parallel ones too, so that the next request is valid."""
    body = conversation(dialect, [USELESS] * 2, pending=2)
    gated = gate_request(body, DIALECTS[dialect])
    assert json.dumps(gated).count(NOT_RUN) == 2
    assert _assess(dialect, gated).trimmed is None


@pytest.mark.parametrize("dialect", ALL)
def test_case_b19_tools_that_deliver_the_answer_stay(dialect):
    """Case B19: an answer tool is the output format of its framework and is kept."""
    body = conversation(dialect, [USELESS] * 5, tools=("search", "final_answer"))
    gated = gate_request(body, DIALECTS[dialect], answer_tools=["final_answer"])
    if dialect == "chat":
        assert DIALECTS[dialect].tools(gated) == ["final_answer"]
    else:
        assert gated["tool_choice"]["name"] == "final_answer"


@pytest.mark.parametrize("dialect", ALL)
def test_case_b19_flattening_keeps_the_answer_tool_alone(dialect):
    """Case B19: a flattened request offers the answer tool and no other."""
    body = conversation(dialect, [USELESS] * 5, tools=("search", "final_answer"))
    gated = gate_request(body, DIALECTS[dialect], how=How.FLATTEN, answer_tools=["final_answer"])
    assert DIALECTS[dialect].tools(gated) == ["final_answer"]


@pytest.mark.parametrize("choice", ["auto", "required"])
def test_case_b19_the_choice_of_an_answer_tool_is_left_alone(choice):
    """A framework that requires a call gets one, of the only tool that is left."""
    body = conversation("chat", [USELESS] * 5, tools=("search", "final_answer"))
    body["tool_choice"] = choice
    gated = gate_request(body, DIALECTS["chat"], answer_tools=["final_answer"])
    assert gated["tool_choice"] == choice
    body["tool_choice"] = {"type": "function", "function": {"name": "search"}}
    gated = gate_request(body, DIALECTS["chat"], answer_tools=["final_answer"])
    assert gated["tool_choice"]["function"]["name"] == "final_answer"


@pytest.mark.parametrize("dialect", ALL)
def test_case_b19_the_answer_format_is_left_alone(dialect):
    """Case B19: the response format of the request reaches the model at the forced answer."""
    formats = {
        "chat": {"response_format": {"type": "json_schema", "json_schema": {"name": "a"}}},
        "responses": {"text": {"format": {"type": "json_schema", "name": "a"}}},
        "anthropic": {"output_config": {"format": {"type": "json_schema", "schema": {}}}},
    }[dialect]
    body = conversation(dialect, [USELESS] * 5) | formats
    assert DIALECTS[dialect].wants_json(body)
    assert not DIALECTS[dialect].wants_json(conversation(dialect))
    assert formats.items() <= gate_request(body, DIALECTS[dialect]).items()


@pytest.mark.parametrize("dialect", ALL)
def test_a_request_without_tools_is_not_gated(dialect):
    """A loop that cannot go on needs no stop; a text agent can always go on."""
    body = conversation(dialect, [USELESS] * 5, tools=())
    assessment = _assess(dialect, body)
    assert assessment.decision.stops
    assert not gates(assessment, DIALECTS[dialect].tools(body))
    assert gates(assessment, ["search"])


@pytest.mark.parametrize("dialect", ALL)
@pytest.mark.parametrize("value", [None, 3, "x", {"a": 1}, [1], [None]])
def test_a_malformed_history_is_one_clear_sentence(dialect, value):
    """What cannot be read raises `InputError`, which names the field."""
    if dialect == "responses" and value == "x":
        pytest.skip("a text is a valid input")
    body = {**conversation(dialect), KEYS[dialect]: value}
    with pytest.raises(InputError, match=KEYS[dialect]):
        DIALECTS[dialect].read(body)


def test_the_side_question_goes_to_a_copy_without_tools():
    """The judge's question never streams, offers no tool and leaves the request as it is."""
    for name, dialect in DIALECTS.items():
        body = conversation(name, [USELESS] * 2, stream=True)
        before = copy.deepcopy(body)
        asked = dialect.question(body, "Useful?")
        assert body == before
        assert not asked.get("stream")
        assert dialect.tools(asked) == []
        assert "Useful?" in json.dumps(asked)


# ---------------------------------------------------------------- replies


@pytest.mark.parametrize("dialect", ALL)
def test_case_c_a_rogue_call_is_scrubbed_and_its_text_is_the_answer(dialect):
    """Case C: a model that calls tools it was not offered gets no tool run."""
    response = _reply(dialect, "It is the Po.", ["search", "search"])
    before = copy.deepcopy(response)
    cleaned = scrub_response(response, DIALECTS[dialect], fallback="none")
    assert response == before
    assert DIALECTS[dialect].reply(cleaned) == ("It is the Po.", ())
    assert "tool_use" not in json.dumps(cleaned)
    assert "tool_calls" not in json.dumps(cleaned)


@pytest.mark.parametrize("dialect", ALL)
@pytest.mark.parametrize("calls", [(), ("search",)])
def test_case_b17_an_empty_answer_becomes_the_fallback(dialect, calls):
    """Case B17: never an empty answer at the stop."""
    cleaned = scrub_response(_reply(dialect, "", calls), DIALECTS[dialect], fallback="Best.")
    assert DIALECTS[dialect].reply(cleaned) == ("Best.", ())


@pytest.mark.parametrize("dialect", ALL)
def test_an_answer_is_passed_on_word_for_word(dialect):
    """Without calls there is nothing to scrub."""
    response = _reply(dialect, "It is the Po.")
    assert scrub_response(response, DIALECTS[dialect], fallback="x") == response


@pytest.mark.parametrize("dialect", ALL)
def test_case_b22_the_mark_is_added_below_the_answer(dialect):
    """Case B22: the tail stands below the answer, and only below a text answer."""
    cleaned = scrub_response(_reply(dialect, "Po."), DIALECTS[dialect], fallback="x", tail="\nMARK")
    assert DIALECTS[dialect].reply(cleaned).text == "Po.\nMARK"


@pytest.mark.parametrize("dialect", ALL)
def test_case_b19_the_call_of_an_answer_tool_passes(dialect):
    """Case B19: the call that carries the answer is the answer; the rogue one beside it goes."""
    response = _reply(dialect, "", ["search", "final_answer"])
    cleaned = scrub_response(
        response, DIALECTS[dialect], fallback="x", answer_tools=["final_answer"], tail="\nMARK"
    )
    assert DIALECTS[dialect].reply(cleaned) == ("", ("final_answer",))


# ---------------------------------------------------------------- best candidate


def test_case_b23_an_earlier_answer_beats_a_useful_result():
    """Case B23: what the agent has answered already is the best that there is."""
    body = conversation("chat", [USEFUL, *[USELESS] * 5])
    body["messages"].insert(3, {"role": "assistant", "content": "It is the Po."})
    assert best_candidate(_assess("chat", body)) == "It is the Po."


def test_case_b16_partial_results_are_not_lost():
    """Case B16: without an answer, the newest useful result is handed over."""
    body = conversation("chat", [USEFUL, *[USELESS] * 5])
    assert best_candidate(_assess("chat", body)) == USEFUL


def test_case_a1_the_last_resort_says_what_was_not_found():
    """Case A1: nothing found is said, with the reason and the last queries."""
    text = best_candidate(_assess("chat", conversation("chat", [USELESS] * 6)))
    assert "No answer was found: 5 useless results in a row (threshold 5)" in text
    assert "query 5" in text


def test_case_b19_a_json_contract_holds_at_the_last_resort():
    """Case B19: where JSON was asked for, the candidate is JSON; an earlier JSON answer wins."""
    body = conversation("chat", [USELESS] * 5)
    document = json.loads(best_candidate(_assess("chat", body), as_json=True))
    assert document["answer"] is None
    assert "useless" in document["reason"]
    body["messages"].insert(1, {"role": "assistant", "content": '{"river": "Po"}'})
    assert best_candidate(_assess("chat", body), as_json=True) == '{"river": "Po"}'


@given(results=st.lists(st.text(max_size=20), max_size=8), as_json=st.booleans())
def test_the_candidate_is_never_empty(results, as_json):
    """Whatever happened, there is something to say."""
    assessment = _assess("chat", conversation("chat", results))
    assert best_candidate(assessment, as_json=as_json).strip()
