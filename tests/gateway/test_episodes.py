"""The log: what passed, as episodes that the package reads back."""

from __future__ import annotations

import asyncio

import pytest

from gateway.serving import with_stub
from haltwise.core.events import Verdict
from haltwise.core.expression import parse_policy
from haltwise.enforce import CHAT, assess
from haltwise.gateway.episodes import SILENT, EpisodeLog
from haltwise.record import Skip, read
from haltwise.signals import Lexical, Stated
from haltwise.testing.adapters import Search
from haltwise.testing.agents import PATHS, run_agent
from haltwise.testing.conversations import QUESTION, USEFUL, USELESS, conversation
from haltwise.testing.stub_models import ANSWER


def _logged(folder):
    found = [record for path in sorted(folder.iterdir()) for record in read(path)]
    skips = [record for record in found if isinstance(record, Skip)]
    assert {skip.reason for skip in skips} <= {"is empty"}
    return [record for record in found if not isinstance(record, Skip)]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("dialect", sorted(PATHS))
def test_a_forced_loop_is_one_episode_with_all_its_steps(dialect, stream, tmp_path):
    """Five useless steps and the answer, the reason of the stop, no text."""

    async def main(client, stub):
        await run_agent(client.url, QUESTION, Search(), dialect=dialect, stream=stream)

    with_stub(main, log=tmp_path)
    (episode,) = _logged(tmp_path)
    assert [step.action for step in episode.steps] == ["search"] * 5 + ["answer"]
    assert [step.verdicts for step in episode.steps[:5]] == [{"lexical": Verdict.USELESS}] * 5
    assert episode.outcome.reason == "5 useless results in a row (threshold 5)"
    assert (episode.arm, episode.model) == ("gateway: streak(5)", "stub")
    assert not episode.outcome.censored
    assert episode.outcome.answer is None
    assert QUESTION not in repr(episode)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("dialect", sorted(PATHS))
def test_a_loop_that_ends_by_itself_is_logged_too(dialect, stream, tmp_path):
    """A reply without calls ends the loop; with content the texts are there."""

    async def main(client, stub):
        body = conversation(dialect, [USEFUL, USELESS], parallel=2, stream=stream)
        await client.post(PATHS[dialect], body)
        stub.mode = "obedient"
        body["tool_choice"] = {"type": "none"} if dialect == "anthropic" else "none"
        await client.post(PATHS[dialect], body)

    with_stub(main, log=tmp_path, log_content=True)
    (episode,) = _logged(tmp_path)
    assert [step.action for step in episode.steps] == ["search+search"] * 2 + ["answer"]
    assert episode.steps[0].parallel[1].result == USEFUL
    assert (episode.outcome.answer, episode.outcome.reason) == (ANSWER, None)
    assert episode.question_id == QUESTION


def test_a_loop_that_is_never_seen_to_end_is_censored(tmp_path):
    """At shutdown it is written with what is known of it, once."""

    async def main(client, stub):
        for n in (1, 2, 3):
            await client.post(PATHS["chat"], conversation("chat", [USELESS] * n))

    with_stub(main, log=tmp_path)
    (episode,) = _logged(tmp_path)
    assert len(episode.steps) == 3
    assert episode.outcome.censored


def test_a_silent_loop_is_written_while_the_gateway_runs(tmp_path):
    """After a quarter of an hour without a request it counts as cut off."""
    log = EpisodeLog(tmp_path, source="lexical", arm="a", content=False)

    def found(question):
        body = conversation("chat", [USELESS], question=question)
        return assess(CHAT.read(body), parse_policy("streak(5)"), Lexical())

    log.saw(found("one"), "m", None, 0.0)
    log.saw(found("two"), "m", None, SILENT / 2)
    assert _logged(tmp_path) == []
    log.saw(found("three"), "m", None, SILENT + 1)
    assert len(_logged(tmp_path)) == 1
    log.close()
    assert [e.outcome.censored for e in _logged(tmp_path)] == [True] * 3


def test_two_runs_of_one_question_are_no_duplicates(tmp_path):
    """The same question twice is two trials."""

    async def main(client, stub):
        await asyncio.gather(
            *[run_agent(client.url, QUESTION, Search(), dialect="chat") for _ in range(4)]
        )

    with_stub(main, log=tmp_path)
    episodes = _logged(tmp_path)
    assert len({episode.seed for episode in episodes}) == len(episodes) == 4


def test_watching_logs_the_loop_as_it_was_without_help(tmp_path):
    """The arm says that nothing was enforced; the verdicts are those of the signal."""

    async def main(client, stub):
        body = conversation("chat", [USELESS] * 6, thought="This is irrelevant.")
        await client.post(PATHS["chat"], body)

    with_stub(main, log=tmp_path, watch=True, signal=Stated())
    (episode,) = _logged(tmp_path)
    assert episode.arm == "watch: streak(5)"
    assert episode.steps[0].verdicts == {"stated": Verdict.USELESS}


def test_chats_without_tools_are_not_logged(tmp_path):
    """A loop has at least one step."""

    async def main(client, stub):
        await client.post(PATHS["chat"], conversation("chat", tools=()))

    with_stub(main, log=tmp_path)
    assert _logged(tmp_path) == []
