"""The side channel asks once, remembers, and never lets a failure through."""

from __future__ import annotations

import asyncio

import pytest

from haltwise.core.errors import ParameterError
from haltwise.core.events import Verdict
from haltwise.signals import SideChannel, SignalStep
from haltwise.signals.side_channel import PROMPT, verdict_of

STEP = SignalStep("who?", ("No results.",), ("search(x)",))


class _Model:
    def __init__(self, reply: str = "no") -> None:
        self.reply, self.seen = reply, []

    async def __call__(self, prompt: str) -> str:
        self.seen.append(prompt)
        await asyncio.sleep(0)
        return self.reply


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ("yes", Verdict.USEFUL),
        ("No.", Verdict.USELESS),
        ("**Yes**, it names him", Verdict.USEFUL),
        ("<think>well, yes or no</think>\nno", Verdict.USELESS),
        ("Answer: yes", Verdict.USEFUL),
        ("", Verdict.UNKNOWN),
        ("Nothing I can say", Verdict.UNKNOWN),
        ("I do not know", Verdict.UNKNOWN),
    ],
)
def test_the_reply_is_read_as_one_word(reply, verdict):
    """Yes is useful, no is useless, a judge that says neither is unknown."""
    assert verdict_of(reply) is verdict


def test_a_step_is_asked_about_once_and_remembered():
    """The second look comes from memory; `judge` alone never asks."""
    channel, model = SideChannel(), _Model()
    assert channel.judge(STEP) is Verdict.UNJUDGED
    assert asyncio.run(channel.ask(STEP, model)) is Verdict.USELESS
    assert asyncio.run(channel.ask(STEP, model)) is Verdict.USELESS
    assert channel.judge(STEP) is Verdict.USELESS
    assert model.seen == [PROMPT]


def test_the_same_content_at_another_position_is_the_same_step():
    """The memory is by content: position and later thoughts do not matter."""
    channel, model = SideChannel(), _Model()
    asyncio.run(channel.ask(STEP, model))
    assert channel.judge(STEP._replace(t=7, thought="hm")) is Verdict.USELESS
    assert channel.judge(STEP._replace(results=("Found.",))) is Verdict.UNJUDGED


def test_simultaneous_requests_share_one_question():
    """Ten requests with the same history cost one call."""
    channel, model = SideChannel(), _Model("yes")

    async def ten() -> list[Verdict]:
        return await asyncio.gather(*[channel.ask(STEP, model) for _ in range(10)])

    assert asyncio.run(ten()) == [Verdict.USEFUL] * 10
    assert len(model.seen) == 1


def test_a_failure_is_unjudged_counted_and_not_remembered():
    """Case A10 for searches: a judge that crashed gave no verdict; the next look asks again."""
    channel = SideChannel()

    async def broken(prompt: str) -> str:
        raise ConnectionError("upstream gone")

    assert asyncio.run(channel.ask(STEP, broken)) is Verdict.UNJUDGED
    assert (channel.asked, channel.failed) == (1, 1)
    assert asyncio.run(channel.ask(STEP, _Model())) is Verdict.USELESS


def test_a_slow_judge_is_unjudged():
    """The timeout is kept, and nothing is raised."""
    channel = SideChannel(timeout=0.01)

    async def slow(prompt: str) -> str:
        await asyncio.Event().wait()
        return "no"

    assert asyncio.run(channel.ask(STEP, slow)) is Verdict.UNJUDGED


def test_a_spent_budget_asks_no_more_but_still_remembers():
    """Beyond the budget a new step is unjudged; a known one keeps its verdict."""
    channel, model = SideChannel(budget=1), _Model()
    asyncio.run(channel.ask(STEP, model))
    other = STEP._replace(question="when?")
    assert asyncio.run(channel.ask(other, model)) is Verdict.UNJUDGED
    assert asyncio.run(channel.ask(STEP, model)) is Verdict.USELESS
    assert len(model.seen) == 1


def test_the_memory_forgets_the_least_recently_used_step():
    """A bounded memory: the third step pushes out the one that was not looked at."""
    channel, model = SideChannel(size=2), _Model()
    steps = [STEP._replace(question=q) for q in "abc"]
    asyncio.run(channel.ask(steps[0], model))
    asyncio.run(channel.ask(steps[1], model))
    channel.judge(steps[0])
    asyncio.run(channel.ask(steps[2], model))
    assert [channel.judge(step) for step in steps] == [
        Verdict.USELESS,
        Verdict.UNJUDGED,
        Verdict.USELESS,
    ]


@pytest.mark.parametrize("bad", [{"timeout": 0}, {"budget": -1}, {"size": 0}])
def test_parameters_out_of_range_are_refused(bad):
    """One sentence names the parameter and its range."""
    with pytest.raises(ParameterError, match="side channel: "):
        SideChannel(**bad)


def test_an_earlier_step_is_named_by_its_calls():
    """On a copy that has gone on since, the question says which result is meant."""
    channel, model = SideChannel(), _Model()
    asyncio.run(channel.ask(STEP, model, newest=False))
    assert "what search(x) returned" in model.seen[0]
