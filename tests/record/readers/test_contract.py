"""Every reader keeps the contract, on hand-made traces and on whatever breaks in them."""

from __future__ import annotations

import json

import pytest

from haltwise.record.readers.base import readers
from haltwise.testing.reader import check_reader
from record.readers.dialects import DIALECTS

OTHERS: dict[str, bytes] = {
    "haltwise": b'{"kind":"search","episode_id":"e","cluster_id":"q","question_id":"q"}\n'
    b'{"kind":"repair","episode_id":"f","cluster_id":"q","question_id":"q","steps":[{"round":0}]}\n',
    "judged-useless": b"".join(
        json.dumps(
            {
                "question_id": f"q{n % 7}",
                "regime": "clean",
                "actions": ["search", "finish"],
                "judgments": ["USELESS"],
                "success": n % 2 == 0,
            }
        ).encode()
        + b"\n"
        for n in range(30)
    ),
    "repair": b'{"task_id": "t", "rounds": [{"accepts": 5, "votes": 8, "valid": true}]}\n' * 2,
    "error-series": b'{"errors": [3.0, 1000000.0, 0.0], "target_error": 0.0, "failed_iters": [2], '
    b'"prompt_id": [1], "trial_id": "c-seed3"}\n',
    "votes": b'{"id": 1, "verdicts": {"a": "SUPPORTS", "b": "REFUTES"}, "expected": "SUPPORTS"}\n',
    "react-text": b"Question: Who?\nThought 1: hm\nAction 1: Search[x]\nObservation 1: a\nb\n\n"
    b"Thought 2: so\nAction 2: Finish[y]\nObservation 2: Answer is INCORRECT\n"
    b"Correct answer: z\n\nQuestion: What?\nThought: hm\nAction: Search\nAction Input: q\n"
    b"Observation: none\nFinal Answer: nothing\n",
    "react-steps": b'{"question": "Who?", "em": 1, "steps": [{"thought": "hm", "action": '
    b'"Search[x]", "observation": "a"}, {"thought": "so", "action": "Finish[y]", '
    b'"observation": "done"}]}\n',
}
SAMPLES = [*OTHERS.items(), *((reader, make()) for reader, make in DIALECTS.values())]


@pytest.mark.parametrize(("name", "sample"), SAMPLES, ids=[*OTHERS, *DIALECTS])
def test_the_contract(name: str, sample: bytes) -> None:
    """A reader knows its format, repeats itself, and breaks on nothing."""
    check_reader(readers()[name], sample, mutations=30)


def test_every_reader_has_a_sample() -> None:
    """A new reader cannot stay untested; Parquet has its tests beside its writer."""
    assert {name for name, _ in SAMPLES} | {"parquet"} == set(readers())
