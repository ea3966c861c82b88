"""A history read once is what it would be if every span's were read by itself."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from haltwise.record.chat import read_messages
from haltwise.record.history import History

text = st.sampled_from(["", "a", "b", "Observation: c"])
call = st.fixed_dictionaries(
    {"name": text, "arguments": text}, optional={"id": text, "type": st.just("function")}
)
message = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "system", "tool", "human", "function", "x"])},
    optional={
        "content": text,
        "tool_call_id": text,
        "name": text,
        "id": text,
        "tool_calls": st.lists(call, min_size=1, max_size=2),
    },
)
histories = st.lists(st.lists(message, max_size=5), max_size=5)


def spelled(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Return messages as OpenInference spells them out, and a reply."""
    attributes: dict[str, Any] = {"llm.model_name": "m"}
    for number, one in enumerate(messages):
        place = f"llm.input_messages.{number}.message"
        for key, value in one.items():
            if key != "tool_calls":
                attributes[f"{place}.{key}"] = value
        for at, fields in enumerate(one.get("tool_calls", [])):
            for key, value in fields.items():
                attributes[f"{place}.tool_calls.{at}.tool_call.function.{key}"] = value
    attributes["llm.output_messages.0.message.role"] = "assistant"
    attributes["llm.output_messages.0.message.content"] = str(len(messages))
    return attributes


@given(histories)
def test_lists_of_messages(sent: list[list[dict[str, Any]]]) -> None:
    """Whatever came before, a list of messages is read as it stands."""
    history = History()
    for messages in sent:
        assert history.read(messages) == read_messages(messages)


@given(
    st.lists(
        st.lists(message | st.integers() | st.lists(text), max_size=4), min_size=1, max_size=4
    ),
    st.sampled_from([None, 1]),
    st.sampled_from([",", ", "]),
)
def test_texts_that_go_on(parts: list[list[Any]], indent: int | None, comma: str) -> None:
    """A JSON text that goes on, shrinks or begins anew is what it is when it is decoded whole."""
    history = History()
    sent: list[Any] = []
    for part in [*parts, [], *parts[:1]]:
        sent = [*sent, *part] if len(part) != 1 else part
        written = json.dumps(sent, indent=indent, separators=(comma, ": "))
        assert history.decoded(written) == sent
        assert history.decoded(f"{written} ") == sent


@given(st.lists(st.sampled_from([*'[]{},:1" ', '"a"', '{"a": 1}', "[1, 2", ", 3]"]), max_size=9))
def test_texts_that_are_no_list(pieces: list[str]) -> None:
    """After a list, a text that JSON does not know as a list is None, whatever it begins with."""
    history = History()
    history.decoded("[1, 2]")
    written = "".join(["[1, 2", *pieces])
    try:
        expected = json.loads(written)
    except ValueError:
        expected = None
    assert history.decoded(written) == expected
    written = "".join(pieces)
    try:
        expected = json.loads(written)
    except ValueError:
        expected = None
    assert history.decoded(written) == (
        expected if isinstance(expected, list) and written[:1] == "[" else None
    )


@given(histories)
def test_numbered_attributes(sent: list[list[dict[str, Any]]]) -> None:
    """Histories that grow, shrink and change are spelled out as they stand in each span."""
    history = History()
    for messages in sent:
        given, replied = history.spelled(spelled(messages))
        assert given == read_messages(messages)
        reply = {"role": "assistant", "content": str(len(messages))}
        assert replied == read_messages([reply])


def test_a_nested_attribute_that_goes_is_gone() -> None:
    """What one span nests and the next leaves out is not carried over into the next."""
    history = History()
    sent = {"role": "user", "content": ["a"]}
    history.spelled(spelled([sent]))
    given, _ = history.spelled(spelled([{"role": "user"}]))
    assert given == read_messages([{"role": "user"}])
