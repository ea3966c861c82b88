"""The part of ``haltwise demo`` that runs the embedded model while a person watches.

The same questions, with the same failing source, once as the agent is and once under a rule. What
happens here is shown as it happens and is not mixed with the recording.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .terminal import say

if TYPE_CHECKING:
    from ..record.episode import SearchEpisode
    from ..study.recording import Recording
    from ..study.search.conversation import Request
    from ..study.search.protocols import Response

WATCHED = "policy: streak(8)"
"""Judges every result while it searches, as the enforced arm does, and cannot fire in 8 actions."""
ENFORCED = "enforced_rule"
TITLES = {WATCHED: "nobody stops it", ENFORCED: "stopped at 5 useless results in a row"}
REGIMES = ("persistent", "clean", "recover_after_2")


@dataclass(frozen=True, slots=True)
class Live:
    """One episode that was run."""

    question: str
    regime: str
    arm: str
    calls: int
    """Searches and lookups."""
    right: bool
    answered: bool
    seconds: float


def run_live(
    recording: Recording[SearchEpisode], *, questions: int, regimes: int, seconds: float
) -> list[Live]:
    """Run the embedded model on questions of the recording and show every step.

    Args:
        recording: where the questions come from, and the judge's wording and threshold.
        questions: how many.
        regimes: how many of `REGIMES`.
        seconds: no episode is begun after that long.
    """
    from ..study.runner import get_study_model
    from ..study.search.chat import Chat
    from ..study.search.judge_check import judge_of
    from ..study.search.plan import Plan
    from ..study.search.protocols import PROTOCOLS
    from ..study.search.regimes import world
    from ..study.search.tasks import load_task

    task = load_task("bundled")
    plan = Plan(
        "haltwise/embedded", "bundled", tuple(TITLES), REGIMES, split=None, max_tokens=120, seed=1
    )
    model, judge = get_study_model(plan.model, {}), judge_of(recording.header["judge_check"])
    begun = time.monotonic()
    done: list[Live] = []
    for name in _searched_on(recording)[:questions]:
        question = next(item for item in task.questions if item.question_id == name)
        for regime in REGIMES[:regimes]:
            for arm in TITLES:
                if time.monotonic() - begun > seconds:
                    say("The time of the demo is up: the other episodes are left out.")
                    return done
                say(f"\n{question.text}\n  [source: {regime}; {TITLES[arm]}]")
                protocol = PROTOCOLS[plan.protocol]
                chat = Chat(model, protocol)
                where = world(question, regime, task.questions, seed=plan.seed)
                setting = plan.setting(arm, task, plan.seed, judge)
                done.append(_episode(where, setting, chat.ask))
    return done


def _searched_on(recording: Recording[SearchEpisode]) -> list[str]:
    """Return the recorded questions; first those on which a dead source was searched most."""
    calls = {
        episode.question_id: sum(step.action != "answer" for step in episode.steps)
        for episode in recording.episodes
        if episode.regime == "persistent"
    }
    return sorted(calls, key=lambda name: -calls[name])


def _episode(where: Any, setting: Any, ask: Any) -> Live:
    from ..study.search.agent import play
    from ..study.search.conversation import Role

    begun, step = time.monotonic(), 0

    async def watched(request: Request) -> Response:
        nonlocal step
        response: Response = await ask(request)
        if request.role is Role.JUDGE:
            say(f"       it judges the result {setting.judge.verdict(response).value}")
            return response
        turn = setting.protocol.read(response)
        step += 1
        if not request.tools:
            say(f"    {step}  [haltwise] the tools are gone: answer")
            say(f"       -> {setting.protocol.forced(response) or '(nothing)'}")
        elif turn.answer is not None:
            say(f"    {step}  answers: {turn.answer}")
        else:
            for tool, argument in turn.actions:
                say(f"    {step}  {tool}[{argument}]")
        return response

    episode = asyncio.run(play(where, setting, watched)).episode
    right, answered = bool(episode.outcome.success), episode.outcome.answer is not None
    calls = sum(item.action != "answer" for item in episode.steps)
    seconds = time.monotonic() - begun
    verdict = "right" if right else "wrong" if answered else "no answer"
    say(f"  {verdict} after {calls} calls, {seconds:.0f} s")
    return Live(episode.question_id, str(episode.regime), setting.arm.name, calls, right,
                answered, seconds)  # fmt: skip
