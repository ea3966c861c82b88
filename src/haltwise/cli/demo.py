"""``haltwise demo``: a real small agent, recorded and live, and what stopping it would have saved.

Two parts analyse the recordings that come with haltwise, in seconds. The third runs the embedded
model, if its weights are here or can be had. Agents of known kinds, simulated, stand beside them.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .options import json_option, seed_option
from .terminal import say

if TYPE_CHECKING:
    from ..audit.result import Audit
    from ..record.episode import RepairEpisode, SearchEpisode
    from ..simulated import SearchAgent
    from ..study.recording import Recording
    from .demo_live import Live

QUESTIONS = 300
"""Questions that every simulated agent is asked, once in each fault regime."""
SECONDS = {True: 50.0, False: 260.0}
"""No live episode is begun after that long, by whether the demo is quick."""
DISK = 2_500_000_000
"""Bytes that must be free before weights are downloaded: the file, and the pieces it comes in."""

KINDS = """\
For comparison, simulated agents of known kinds, {questions} questions each, the same sources:
- ignores-verdicts calls results useless and searches on: a contrast near 0 or below.
- heeds-verdicts answers sooner the more useless results it has seen: both numbers are positive.
- enforced-at-5 is the ignoring kind under a rule that takes the tools away. Its contrast is large
  because of the threshold, not because of the agent; the audit says so (mechanical-contrast)."""

SMALL = """\
What a model this small cannot show: with 1.5 billion parameters it often fails a two-step question
even with a working source, so success moves little; its judge needs a wording and a threshold of
its own; and {episodes} episodes are few. The study on larger models is the same command:
docs/study-search.md."""


@click.command()
@click.option("--quick", is_flag=True, help="Run less live: one question, one problem.")
@click.option("--no-live", is_flag=True, help="Recordings alone: no model is run or fetched.")
@seed_option
@json_option
def command(quick: bool, no_live: bool, seed: int, as_json: bool) -> None:
    """The tour: what a real small agent does with its own verdicts, and what stopping saves."""
    from ..record.episode import RepairEpisode, SearchEpisode
    from ..simulated import ENFORCED, HEEDS, IGNORES
    from ..study.recording import bundled_recording, read_recording

    found = bundled_recording("haltwise.study.search")
    recording = read_recording(found, SearchEpisode) if found else None
    found = bundled_recording("haltwise.study.repair")
    repairs = read_recording(found, RepairEpisode) if found else None
    folder = Path(tempfile.mkdtemp(prefix="haltwise-demo-"))
    agents = {agent.name: _recorded(agent, folder, seed) for agent in (IGNORES, HEEDS, ENFORCED)}
    audits = {name: _audited(file) for name, file in agents.items()}
    if as_json:
        _print(recording, agents, audits)
        return
    if recording is not None:
        from .demo_recording import show_recording
        from .demo_repair import repair_lines, show_repair_recording

        lines = show_recording(recording)
        if repairs is not None:
            lines += repair_lines(show_repair_recording(repairs))
        live = [] if no_live else _live(recording, repairs, quick)
        _end(recording, lines, live)
    _kinds(audits)
    _next(agents)


def _recorded(agent: SearchAgent, folder: Path, seed: int) -> Path:
    from ..simulated import simulate_search

    path = folder / f"{agent.name}.jsonl"
    simulate_search(agent, QUESTIONS, seed=seed).write_judged_useless(path)
    return path


def _audited(path: Path) -> Audit:
    from ..audit.gather import gather
    from ..audit.result import audit

    return audit(gather([str(path)]).tally)


def _print(
    recording: Recording[SearchEpisode] | None, agents: dict[str, Path], audits: dict[str, Audit]
) -> None:
    from ..audit.document import document
    from .demo_recording import analysed
    from .output import print_json

    recorded = None
    if recording is not None:
        found = analysed(recording)
        recorded = {
            "header": recording.header,
            "audit": document(found.audit),
            "replayed": [
                {"policy": row.policy, "success": row.success, "calls": row.calls}
                for row in found.replayed
            ],
            "findings": found.lines,
        }
    print_json(
        {
            "schema": "haltwise.demo/2",
            "recording": recorded,
            "simulated": {
                "files": {name: str(path) for name, path in agents.items()},
                "audits": {name: document(done) for name, done in audits.items()},
            },
            "skipped": [],
        }
    )


def _live(
    recording: Recording[SearchEpisode], repairs: Recording[RepairEpisode] | None, quick: bool
) -> list[Live]:
    """Run part three, or say why it is left out."""
    import importlib.util

    from ..core.errors import HaltwiseError
    from .demo_live import run_live
    from .demo_repair import run_repair_live

    say("\nPart three: the same model, live on this machine")
    missing = [name for name in ("xllamacpp", "inspect_ai") if not importlib.util.find_spec(name)]
    if missing:
        say(
            f"Left out: {' and '.join(missing)} missing; type: "
            "pip install 'haltwise[embedded,study]'"
        )
        return []
    try:
        if not _weights():
            return []
        questions, regimes, problems = (1, 1, 1) if quick else (2, 3, 3)
        seconds = SECONDS[quick]
        live = run_live(recording, questions=questions, regimes=regimes, seconds=seconds)
        if repairs is not None:
            run_repair_live(repairs, problems=problems, seconds=seconds / 4)
        return live
    except HaltwiseError as error:
        say(f"Left out: {error}")
        return []
    except KeyboardInterrupt:
        say("\nLeft out: interrupted. What follows is about the recordings.")
        return []


def _weights() -> bool:
    """Have the weights here; return whether they are. Says what is downloaded before it is."""
    import shutil

    from ..judges.weights import QWEN, cache_folder, find_weights
    from .live_models import fetch_weights_with_notes

    if find_weights(hashed=False) is not None:
        return True
    folder = cache_folder()
    there = next(place for place in (folder, *folder.parents) if place.is_dir())
    free = shutil.disk_usage(there).free
    say(
        f"It needs {QWEN.size / 1e9:.1f} GB of weights ({QWEN.licence}), once, in {folder}; "
        f"{free / 1e9:.0f} GB are free, {DISK / 1e9:.1f} are needed. Ctrl-C leaves it out."
    )
    if free < DISK:
        say("Left out: there is not enough room on the disk.")
        return False
    fetch_weights_with_notes()
    return True


def _end(recording: Recording[SearchEpisode], lines: list[str], live: list[Live]) -> None:
    from rich.text import Text

    from .demo_live import TITLES
    from .terminal import console, print_table

    if live:
        rows = []
        for arm, title in TITLES.items():
            part = [episode for episode in live if episode.arm == arm]
            if part:
                calls = sum(episode.calls for episode in part) / len(part)
                right = sum(episode.right for episode in part)
                answered = sum(episode.answered for episode in part)
                rows.append((title, str(len(part)), f"{calls:.1f}", str(answered), str(right)))
        print_table("Live, just now", ["", "episodes", "calls", "answered", "right"], rows)
    screen = console()
    screen.print(Text("\nWhat the recordings show", style="bold"))
    for number, line in enumerate(lines, start=1):
        screen.print(Text(f"{number:2d}. {line}"))
    screen.print(Text(f"\n{SMALL.format(episodes=len(recording.episodes))}\n"))


def _kinds(audits: dict[str, Audit]) -> None:
    from rich.text import Text

    from ..audit.findings import findings
    from .audit_view import after_run_cell, number
    from .terminal import Table, console

    screen = console()
    screen.print(Text(KINDS.format(questions=QUESTIONS)))
    screen.print()
    overview = Table("", "agent", "contrast", "hazard slope", "answer after 5 useless", "findings")
    for name, done in audits.items():
        cells: list[Any] = [
            name,
            number(done.contrast.estimate.value),
            number(done.hazard_slope.estimate.value),
            after_run_cell(done, "persistent"),
            ", ".join(finding.id for finding in findings(done)),
        ]
        overview.add_row(*cells)
    overview.print(screen)


def _next(files: dict[str, Path]) -> None:
    from rich.text import Text

    from .terminal import console

    screen = console()
    lines = (
        ("Next, on these simulated files:", None),
        ("the ignoring agent, in full", f"haltwise audit {files['ignores-verdicts']}"),
        ("the agent under a rule", f"haltwise audit {files['enforced-at-5']}"),
        (
            "what a rule would have saved",
            f'haltwise replay {files["ignores-verdicts"]} --policy "streak(5) | deadline(8)"',
        ),
        ("Then, on your own:", None),
        ("your traces, in most formats", "haltwise audit path/to/traces/"),
        ("what is installed, what is missing", "haltwise doctor"),
    )
    screen.print()
    for what, line in lines:
        if line is None:
            screen.print(Text(what))
        else:
            screen.print(Text(f"  # {what}", style="dim"))
            screen.print(Text(f"  {line}", style="bold"), soft_wrap=True)
    screen.print(Text("What to read: docs/index.md"))
