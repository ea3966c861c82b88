"""The episode browser: what happened step by step, and where each rule would have stopped.

Steps each rule through the recorded verdicts, so the reason and the evidence shown are those that
an enforced run would log. Texts are cut here and escaped by the page.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...core.belief import run_length
from ...core.decision import Decision
from ...core.events import Verdict
from ...core.observation import SearchObservation
from ...core.policy import Policy
from ...record.episode import SearchEpisode, SearchStep
from ...record.outline import choose_source
from ..page import Fragment
from ..words import percent
from .sample import Kind, Story

CUT = 280
"""Letters shown of a text from a trace."""
STEPS = 40
"""Steps shown of an episode: pages stay small whatever the traces hold."""
WORDS = {
    Verdict.USELESS: "useless",
    Verdict.USEFUL: "useful",
    Verdict.UNKNOWN: "neither",
    Verdict.UNJUDGED: "not judged",
    Verdict.SOURCE_ERROR: "source failed",
}


@dataclass(frozen=True)
class Stop:
    """Where a rule stops an episode."""

    policy: str
    """The rule."""
    t: int
    """After which step."""
    reason: str
    """Why, in its own words."""
    evidence: str
    """The numbers of its decision."""
    worth: str
    """What the answer would have been worth there, as far as the record tells."""


def browser(stories: Sequence[Story], policies: Sequence[tuple[str, Policy]]) -> Fragment:
    """Return the sampled episodes with the stops of ``policies``, given by name."""
    shown = [_shown(number, story, policies) for number, story in enumerate(stories, start=1)]
    kinds = [(kind.name.lower(), kind.value) for kind in Kind]
    present = Counter(story["kind"] for story in shown)
    context = {
        "stories": shown,
        "kinds": [(name, why, count) for name, why in kinds if (count := present[name])],
        "marked": policies[0][0],
    }
    return Fragment("episodes.html.j2", context, None, "", script="episodes.js")


def stops(episode: SearchEpisode, policies: Sequence[tuple[str, Policy]]) -> list[Stop]:
    """Return where each rule stops the episode; rules that never fire are left out.

    A rule is heard at decision points only: where another tool call follows.
    """
    source = choose_source(episode.steps)
    found = []
    for name, policy in policies:
        state = policy.initial()
        for step, following in zip(episode.steps, [*episode.steps[1:], None], strict=True):
            if step.action == "answer":
                continue
            verdict = step.verdicts.get(source or "", Verdict.UNJUDGED)
            state, decision = policy.step(state, SearchObservation(verdict))
            if decision.stops:
                if following is not None and following.action != "answer":
                    found.append(_stop(name, step, decision))
                break
    return found


def _stop(name: str, step: SearchStep, decision: Decision) -> Stop:
    evidence = ", ".join(f"{key} {_plain(value)}" for key, value in decision.evidence.items())
    branch = step.answer_now
    worth = "not recorded"
    if branch is not None and branch.success is not None:
        worth = "right" if branch.success else "wrong"
    return Stop(name, step.t, decision.reason, evidence, worth)


def _shown(number: int, story: Story, policies: Sequence[tuple[str, Policy]]) -> dict[str, Any]:
    episode = story.episode
    source = choose_source(episode.steps)
    found = stops(episode, policies)
    steps, run = [], 0
    for step in episode.steps[:STEPS]:
        answer = step.action == "answer"
        verdict = step.verdicts.get(source or "", Verdict.UNJUDGED)
        if not answer:
            run = run_length(run, verdict)
        steps.append(
            {
                "t": step.t,
                "action": _cut(step.action, 40),
                "arguments": _cut(_plain(step.arguments)),
                "thought": _cut(step.thought),
                "result": _cut(step.result),
                "answer": answer,
                "verdict": "answer" if answer else WORDS[verdict],
                "mark": "answer" if answer else verdict.value.replace("_", "-"),
                "run": None if answer else run,
                "beliefs": _beliefs(step),
                "branch": _branch(step),
                "stops": [stop for stop in found if stop.t == step.t],
                "marked": any(s.t == step.t and s.policy == policies[0][0] for s in found),
            }
        )
    outcome = episode.outcome
    ended = {True: "right", False: "wrong", None: "not graded"}[outcome.success]
    if not any(step.action == "answer" for step in episode.steps) and outcome.answer is None:
        ended = "no answer" if outcome.success is not True else "no answer, right"
    return {
        "number": number,
        "kind": story.kind.name.lower(),
        "why": story.kind.value,
        "question": _cut(episode.question, 160) or _cut(episode.question_id, 60),
        "regime": _cut(episode.regime, 60),
        "model": _cut(episode.model, 60),
        "ended": ended,
        "answer": _cut(outcome.answer),
        "steps": steps,
        "more": max(0, len(episode.steps) - STEPS),
        "stops": found,
    }


def _beliefs(step: SearchStep) -> str:
    beliefs = step.beliefs
    if beliefs is None:
        return ""
    parts = []
    if beliefs.answer_now is not None:
        parts.append(f"right if it answers now: {percent(beliefs.answer_now)}")
    if beliefs.search_on is not None:
        parts.append(f"if it searches on: {percent(beliefs.search_on)}")
    if beliefs.usefulness is not None:
        parts.append(f"usefulness {beliefs.usefulness} of 5")
    return ", ".join(parts)


def _branch(step: SearchStep) -> str:
    branch = step.answer_now
    if branch is None or branch.success is None:
        return ""
    said = f": {_cut(branch.answer, 80)}" if branch.answer else ""
    return f"{'right' if branch.success else 'wrong'}{said}"


def _plain(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return f"{value:.3g}"
    return json.dumps(value, ensure_ascii=False, default=str)


def _cut(text: str | None, most: int = CUT) -> str:
    if not text:
        return ""
    flat = " ".join(text[: 4 * most].split())
    return flat if len(flat) <= most and len(text) <= 4 * most else f"{flat[:most].rstrip()} …"
