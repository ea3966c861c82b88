"""Streams after the stop: calls vanish, numbering closes up, the answer is never empty."""

from __future__ import annotations

import pytest

from haltwise.enforce import DIALECTS

CALL = {"name": "search", "arguments": '{"query": "x"}'}


def _feed(dialect, events, keep=(), fallback="FALLBACK", tail=""):
    scrubber = DIALECTS[dialect].scrubber(frozenset(keep), fallback, tail)
    return [out for event in events for out in scrubber.feed(event)], scrubber


def _chat(*deltas, finish="tool_calls"):
    chunks = [{"id": "c", "choices": [{"index": 0, "delta": d}]} for d in deltas]
    chunks.append({"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    chunks.append({"id": "c", "choices": [], "usage": {"total_tokens": 3}})
    return [(None, chunk) for chunk in chunks]


def _chat_text(events):
    choices = [c for _, chunk in events for c in chunk["choices"]]
    return "".join(c["delta"].get("content") or "" for c in choices), choices


CHAT_CALL = [
    {"role": "assistant", "content": None, "tool_calls": [
        {"index": 0, "id": "x", "type": "function", "function": {"name": "search", "arguments": ""}}
    ]},
    {"tool_calls": [{"index": 0, "function": {"arguments": '{"query"'}}]},
    {"tool_calls": [{"index": 0, "function": {"arguments": ': "x"}'}}]},
]  # fmt: skip


def test_chat_a_rogue_call_in_pieces_becomes_the_fallback():
    """All pieces of the call are swallowed; the finish reason is "stop"; usage passes."""
    events, scrubber = _feed("chat", _chat(*CHAT_CALL))
    text, choices = _chat_text(events)
    assert text == scrubber.text == "FALLBACK"
    assert not any(c["delta"].get("tool_calls") for c in choices)
    assert [c.get("finish_reason") for c in choices if c.get("finish_reason")] == ["stop"]
    assert events[-1][1]["usage"] == {"total_tokens": 3}


def test_chat_text_beside_a_rogue_call_is_the_answer():
    """The text passes at once, the call behind it does not; the tail follows."""
    events, _ = _feed("chat", _chat({"content": "The "}, {"content": "Po"}, *CHAT_CALL), tail=".")
    assert _chat_text(events)[0] == "The Po."


def test_chat_the_call_of_an_answer_tool_passes_in_all_its_pieces():
    """A kept tool's call is the answer: no fallback, and the finish reason stays."""
    source = _chat(*CHAT_CALL)
    events, _ = _feed("chat", source, keep=["search"], tail="TAIL")
    assert events == source


def test_chat_a_plain_stream_passes_unchanged():
    """Nothing to scrub, nothing changed."""
    source = _chat({"role": "assistant", "content": ""}, {"content": "Po"}, finish="stop")
    assert _feed("chat", source)[0] == source


def _anthropic(*blocks, stop="tool_use"):
    events = [{"type": "message_start", "message": {"content": []}}, {"type": "ping"}]
    for index, block in enumerate(blocks):
        if isinstance(block, str):
            start, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block}
        else:
            start = {"type": "tool_use", "id": "x", "name": block["name"], "input": {}}
            delta = {"type": "input_json_delta", "partial_json": "{}"}
        events += [
            {"type": "content_block_start", "index": index, "content_block": start},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    events += [
        {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 3}},
        {"type": "message_stop"},
    ]
    return [(event["type"], event) for event in events]


def _anthropic_text(events):
    return "".join(e.get("delta", {}).get("text", "") for _, e in events)


def test_anthropic_a_rogue_block_vanishes_and_the_rest_closes_up():
    """Blocks are numbered without gaps, and the message ends its turn."""
    events, _ = _feed("anthropic", _anthropic(CALL, "The Po"))
    starts = [e for _, e in events if e["type"] == "content_block_start"]
    assert [(e["index"], e["content_block"]["type"]) for e in starts] == [(0, "text")]
    assert _anthropic_text(events) == "The Po"
    assert [e["delta"]["stop_reason"] for _, e in events if e["type"] == "message_delta"] == [
        "end_turn"
    ]


@pytest.mark.parametrize("blocks", [(), (CALL,), (CALL, CALL)])
def test_anthropic_an_empty_stream_brings_the_fallback(blocks):
    """A block of our own is opened, filled and closed before the message ends."""
    events, scrubber = _feed("anthropic", _anthropic(*blocks))
    assert _anthropic_text(events) == scrubber.text == "FALLBACK"
    kinds = [e["type"] for _, e in events]
    assert kinds[2:] == [
        "content_block_start", "content_block_delta", "content_block_stop", "message_delta",
        "message_stop",
    ]  # fmt: skip


def test_anthropic_kept_calls_and_plain_streams_pass():
    """An answer tool's block stays; a stream without calls is unchanged."""
    kept = _anthropic("hm", CALL)
    assert _feed("anthropic", kept, keep=["search"], tail="TAIL")[0] == kept
    plain = _anthropic("The Po", stop="end_turn")
    assert _feed("anthropic", plain)[0] == plain


def _responses(*items):
    output, events = [], [{"type": "response.created", "response": {"output": []}}]
    for index, item in enumerate(items):
        where = {"output_index": index, "item_id": f"i{index}"}
        if isinstance(item, str):
            part = {"type": "output_text", "text": item, "annotations": []}
            whole = {"type": "message", "id": f"i{index}", "role": "assistant", "content": [part]}
            inner = [{"type": "response.output_text.delta", **where, "delta": item}]
        else:
            whole = {"type": "function_call", "id": f"i{index}", "call_id": "x", **item}
            inner = [{"type": "response.function_call_arguments.delta", **where, "delta": "{}"}]
        events += [
            {"type": "response.output_item.added", "output_index": index, "item": whole},
            *inner,
            {"type": "response.output_item.done", "output_index": index, "item": whole},
        ]
        output.append(whole)
    events.append({"type": "response.completed", "response": {"output": output}})
    return [(e["type"], {**e, "sequence_number": n}) for n, e in enumerate(events)]


def test_responses_a_rogue_item_vanishes_everywhere():
    """Neither its events nor the completed response hold it; numbers close up."""
    events, _ = _feed("responses", _responses(CALL, "The Po"))
    assert all("function_call" not in str(event) for event in events)
    assert [e["sequence_number"] for _, e in events] == list(range(len(events)))
    added = [e["output_index"] for _, e in events if e["type"] == "response.output_item.added"]
    assert added == [0]
    assert len(events[-1][1]["response"]["output"]) == 1


def test_responses_an_empty_stream_brings_the_fallback():
    """The fallback is a whole message item, in its own events and in the completed response."""
    events, scrubber = _feed("responses", _responses(CALL))
    deltas = [e["delta"] for _, e in events if e["type"] == "response.output_text.delta"]
    assert deltas == ["FALLBACK"]
    assert scrubber.text == "FALLBACK"
    final = events[-1][1]["response"]
    assert DIALECTS["responses"].reply(final) == ("FALLBACK", ())
    assert [e["sequence_number"] for _, e in events] == list(range(len(events)))


def test_responses_kept_calls_and_plain_streams_pass():
    """An answer tool's item stays; a stream without calls is unchanged."""
    kept = _responses("hm", CALL)
    assert _feed("responses", kept, keep=["search"], tail="TAIL")[0] == kept
    plain = _responses("The Po")
    assert _feed("responses", plain)[0] == plain
