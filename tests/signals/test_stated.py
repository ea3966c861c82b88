"""The stated signal: explicit judgements in the first two sentences, and nothing else."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from haltwise.core.events import Verdict
from haltwise.signals import SignalStep, Stated
from haltwise.signals.stated import verdict_in

USELESS = [
    "The search results are not helpful. I will try another query.",
    "This is irrelevant to the question.",
    "The page does not mention the director. I should look elsewhere.",
    "I could not find anything about the film.",
    "The results don't contain any information about her birthplace.",
    "That didn't help. Let me rephrase.",
    "No relevant information was returned.",
    "Thought: The observation is unrelated to the question, so I need to search again.",
    "There is no mention of the award here.",
    "The tool failed to return the page.",
    "I cannot find the person.",
    "The result isn't relevant. Searching again.",
    "This article is about a different person.",
    "Hmm. Nothing useful in there.",
]
USEFUL = [
    "The observation says that the band is from Franklin, so the claim is false.",
    "This result is very helpful. Next I need the birth year.",
    "I found the director: it was Ang Lee.",
    "The page confirms the date. Now the second person.",
    "Now I know who wrote it; next I look up the birthplace.",
    "According to the passage, she was born in 1952.",
    "Great, that is the right article.",
]
UNJUDGED = [
    "",
    "I need to search for the director of the film.",
    "Let me look for relevant information about her.",
    "I should find a page that mentions the director.",
    "Is this useful?",
    "Searching for the birthplace next. Then the year. The last result was useless.",
    "The Cretaceous ended 66 million years ago.",
]


@pytest.mark.parametrize("thought", USELESS)
def test_a_complaint_is_useless(thought):
    """What the agent calls of no use is useless."""
    assert verdict_in(thought) is Verdict.USELESS


@pytest.mark.parametrize("thought", USEFUL)
def test_a_finding_is_useful(thought):
    """What the agent says it learned is useful."""
    assert verdict_in(thought) is Verdict.USEFUL


@pytest.mark.parametrize("thought", UNJUDGED)
def test_plans_questions_and_late_remarks_are_unjudged(thought):
    """No explicit judgement in the first two sentences means unjudged."""
    assert verdict_in(thought) is Verdict.UNJUDGED


def test_the_earliest_judgement_wins():
    """A denial after a finding does not undo it, and the other way round."""
    assert verdict_in("The page says he is Danish. It does not mention when.") is Verdict.USEFUL
    assert verdict_in("This is not helpful. I found another name though.") is Verdict.USELESS


def test_a_step_without_a_thought_yet_is_unjudged():
    """The newest result has no statement before the agent writes again."""
    assert Stated().judge(SignalStep("q", ("r",))) is Verdict.UNJUDGED


def test_real_thoughts_after_an_empty_result_are_never_called_useful(shared_data):
    """In 250 recorded ReAct episodes no thought that follows "No more results." is useful."""
    useless = judged = 0
    with shared_data("trajectories/react_fever_250.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            steps = json.loads(line)["steps"]
            for step, following in pairwise(steps):
                verdict = verdict_in(following["thought"])
                judged += verdict is not Verdict.UNJUDGED
                if step["observation"].startswith("No more results"):
                    assert verdict is not Verdict.USEFUL, following["thought"]
                    useless += verdict is Verdict.USELESS
    assert useless >= 15
    assert judged >= 200
