"""Verdicts for traces that carry none: a signal judges the recorded results.

Knows how a recorded step becomes what a signal sees; ignorant of how it judges.
"""

from __future__ import annotations

from dataclasses import dataclass

from msgspec import structs

from ..core.events import Verdict
from ..record.episode import SearchEpisode, SearchStep
from ..signals import Signal, SignalStep


@dataclass(frozen=True)
class JudgedBy:
    """Adds the signal's verdict to every tool step of an episode; a value, so workers can have it.

    A step whose result was not kept stays without a verdict. Where the user spoke again, results
    are judged against what was asked then. The thought that the signal sees is that of the next
    turn: the first words after the result.
    """

    signal: Signal
    """Who judges."""

    def __call__(self, episode: SearchEpisode) -> SearchEpisode:
        """Return the episode with verdicts."""
        thoughts = [*[step.thought for step in episode.steps[1:]], None]
        question, steps = episode.question, []
        for step, thought in zip(episode.steps, thoughts, strict=False):
            question = step.asked or question
            judged = step.action != "answer"
            steps.append(_judged(self.signal, question, step, thought) if judged else step)
        return structs.replace(episode, steps=steps)


def _judged(
    signal: Signal, question: str | None, step: SearchStep, thought: str | None
) -> SearchStep:
    texts = [call.result for call in step.parallel] if step.parallel else [step.result]
    results = tuple(text for text in texts if text is not None)
    if not results and thought is None:
        return step
    seen = SignalStep(question or "", results, (), thought, step.t, step.verdicts)
    verdict = signal.judge(seen)
    if verdict is Verdict.UNJUDGED:
        return step
    return structs.replace(step, verdicts={**step.verdicts, signal.name: verdict})
