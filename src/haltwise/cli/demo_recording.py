"""The part of ``haltwise demo`` that analyses the recording of the embedded model."""

from __future__ import annotations

from pathlib import Path

import click

from .terminal import print_table, say


def show_recording(path: Path) -> None:
    """Show what the recorded agent did, and what rules would have done to it."""
    from ..study.search.analyze import JUDGE
    from ..study.search.quality import quality
    from ..study.search.recording import read_recording, replay_rules

    recording = read_recording(path)
    header, episodes = recording.header, recording.episodes
    say(
        f"\nA real model, recorded {header.get('date') or 'at an unknown date'}: "
        f"{header['model']} ({header['weights']}), {len(episodes)} episodes.\n"
    )
    regimes = list(dict.fromkeys(e.regime or "-" for e in episodes))
    rows = []
    for regime in regimes:
        part = [e for e in episodes if e.regime == regime]
        right = sum(bool(e.outcome.success) for e in part)
        calls = sum(step.action != "answer" for e in part for step in e.steps)
        rows.append(
            (regime, str(len(part)), f"{right / len(part):.2f}", f"{calls / len(part):.1f}")
        )
    print_table("As recorded", ["regime", "episodes", "right", "calls"], rows)
    withheld = quality(episodes, JUDGE).withheld
    if withheld:
        say(f"A model this small cannot show everything: {withheld}.")
    replayed, missing = replay_rules(episodes)
    print_table(
        "What rules would have done (replayed, no new call)",
        ["rule", "right", "calls"],
        [(row.policy, f"{row.success:.3f}", f"{row.calls:.2f}") for row in replayed],
    )
    if missing:
        say(f"no recovery rule: {missing}")
    click.echo("Live, on your machine: haltwise study search --arm unaided --arm enforced_rule \\")
    click.echo("  --regime clean --regime persistent --limit 2 --untuned --out live")
