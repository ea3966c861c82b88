"""The part of ``haltwise demo`` that analyses the recording of the embedded model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .terminal import print_table, say

if TYPE_CHECKING:
    from ..audit.result import Audit
    from ..record.episode import SearchEpisode
    from ..study.recording import Recording
    from ..study.search.replay_rules import Replayed


@dataclass(frozen=True)
class Analysed:
    """What the recording tells."""

    audit: Audit
    replayed: list[Replayed]
    missing: str
    """Why no recovery rule was fitted; empty where one was."""
    lines: list[str]
    """What it shows, in eight sentences."""


def analysed(recording: Recording[SearchEpisode]) -> Analysed:
    """Audit the recording and replay rules on it."""
    from ..audit.result import audit
    from ..study.search.analyze import JUDGE, tally_of
    from ..study.search.replay_rules import replay_rules
    from .demo_findings import demo_findings

    audited = audit(tally_of(recording.episodes, JUDGE), budget=8)
    replayed, missing = replay_rules(recording.episodes)
    lines = demo_findings(recording.episodes, audited, replayed)
    return Analysed(audited, replayed, missing, lines)


def show_recording(recording: Recording[SearchEpisode]) -> list[str]:
    """Show what the recorded agent did and what rules would have done; return the findings."""
    from ..study.search.analyze import JUDGE
    from ..study.search.quality import quality

    header, episodes = recording.header, recording.episodes
    say("Part one: a real agent, recorded")
    say(
        f"{header['model']} ({header['weights']}) answered questions with a search tool that works "
        f"(clean), never works (persistent) or comes back (recover_after_2, _5): {len(episodes)} "
        f"episodes, recorded {header.get('date') or 'at an unknown date'} with `make recording`\n"
    )
    found = analysed(recording)
    rows = []
    for regime in dict.fromkeys(str(e.regime) for e in episodes):
        part = [e for e in episodes if e.regime == regime]
        right = sum(bool(e.outcome.success) for e in part)
        answered = sum(e.outcome.answer is not None for e in part)
        calls = sum(step.action != "answer" for e in part for step in e.steps)
        rows.append(
            (
                regime,
                str(len(part)),
                f"{calls / len(part):.1f}",
                f"{answered / len(part):.0%}",
                f"{right / len(part):.0%}",
            )
        )
    print_table("As recorded", ["regime", "episodes", "calls", "answered", "right"], rows)
    withheld = quality(episodes, JUDGE).withheld
    if withheld:
        say(f"A judge this small is not good enough for a study: {withheld}.")
    print_table(
        "What rules would have done (replayed, no new call)",
        ["rule", "right", "calls"],
        [(row.policy, f"{row.success:.0%}", f"{row.calls:.1f}") for row in found.replayed],
    )
    if found.missing:
        say(f"no recovery rule: {found.missing}")
    return found.lines
