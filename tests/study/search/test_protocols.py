"""How turns are read, and what a probe's reply says."""

from __future__ import annotations

import pytest

from haltwise.study.search.probes import read_beliefs
from haltwise.study.search.protocols import PROTOCOLS, Response

REACT, NATIVE, TAGGED = (PROTOCOLS[name] for name in ("react", "native", "search-r1"))


@pytest.mark.parametrize(
    ("text", "actions", "answer"),
    [
        ("Thought: x\nAction: search[Ada Moor]", (("search", "Ada Moor"),), None),
        ("Thought: x\naction 2: Lookup[born]", (("lookup", "born"),), None),
        ("Thought: search[nothing] is no action here\nAction: finish[1901]", (), "1901"),
        ("<think>search[a]\nAction: search[b]</think>Action: finish[c]", (), "c"),
        ("Action: search[cut", (("search", "cut"),), None),
        ("nothing", (), None),
    ],
)
def test_react_turns(text: str, actions: tuple[tuple[str, str], ...], answer: str | None) -> None:
    """Actions stand on lines that begin with Action; thinking is not read."""
    turn = REACT.read(Response(text))
    assert (turn.actions, turn.answer) == (actions, answer)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Thought: so\nAction: finish[Ulm]", "Ulm"),
        ("Answer: Ulm", "Ulm"),
        ("Final answer: Ulm\nbecause", "Ulm"),
        ("Ulm", "Ulm"),
        ("Thought: I wonder\nUlm", "Ulm"),
        ("Action: search[Ulm]", ""),
        ("", ""),
    ],
)
def test_forced_react_answers(text: str, answer: str) -> None:
    """finish, a label or plain text; a search is no answer."""
    assert REACT.forced(Response(text)) == answer


def test_forced_answers_of_the_other_protocols() -> None:
    """Tags and plain text are read; a rogue search is no answer."""
    assert TAGGED.forced(Response("<think>a</think><answer>Ulm")) == "Ulm"
    assert TAGGED.forced(Response("<search>more</search>")) == ""
    assert NATIVE.forced(Response("<think>hm</think>Ulm")) == "Ulm"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("now=20 later=60 useful=3", (0.2, 0.6, 3)),
        ("Now = 0, later = 100.0, useful = 5", (0.0, 1.0, 5)),
        ("now=120 later=60 useful=3", None),
        ("now=20 later=60 useful=9", None),
        ("I am fairly sure", None),
    ],
)
def test_belief_replies(text: str, expected: tuple[float, float, int] | None) -> None:
    """Percent become probabilities; out of range or unreadable is None, never a number."""
    said = read_beliefs(text)
    read = None if said is None else (said.answer_now, said.search_on, said.usefulness)
    assert read == expected
