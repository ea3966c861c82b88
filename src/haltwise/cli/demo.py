"""``haltwise demo``: simulated agents, audited, with what to look at and what to type next."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .options import json_option, seed_option

if TYPE_CHECKING:
    from ..audit.result import Audit
    from ..simulated import SearchAgent

QUESTIONS = 300
"""Questions that every simulated agent is asked, once in each fault regime."""

INTRODUCTION = """\
Three simulated agents answer {questions} questions each while their search fails in known ways.
No model acts here: how they behave is drawn from known rates, so you can see what the audit finds.
Every result gets a verdict, useful or useless. The question is what the agent does with it."""

EXPLANATION = """\
What to see:
- ignores-verdicts calls results useless and searches on: a contrast near 0 or below, and hardly
  anybody answers after five useless results. Its report is below.
- heeds-verdicts answers sooner the more useless results it has seen: both numbers are positive.
- enforced-at-5 is the ignoring kind under a rule that takes the tools away. Its contrast is large
  because of the threshold, not because of the agent; the audit says so (mechanical-contrast)."""


@click.command()
@seed_option
@json_option
def command(seed: int, as_json: bool) -> None:
    """The tour: audit simulated agents and read the report."""
    from ..audit.document import document
    from ..simulated import ENFORCED, HEEDS, IGNORES
    from .output import print_json

    folder = Path(tempfile.mkdtemp(prefix="haltwise-demo-"))
    agents = {agent.name: _recorded(agent, folder, seed) for agent in (IGNORES, HEEDS, ENFORCED)}
    audits = {name: _audited(path) for name, path in agents.items()}
    if as_json:
        print_json(
            {
                "schema": "haltwise.demo/1",
                "simulated": True,
                "files": {name: str(path) for name, path in agents.items()},
                "audits": {name: document(done) for name, done in audits.items()},
                "skipped": [],
            }
        )
        return
    _show(audits, agents)
    from ..study.search.recording import bundled_recording

    recording = bundled_recording()
    if recording is not None:
        from .demo_recording import show_recording

        show_recording(recording)
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


def _show(audits: dict[str, Audit], files: dict[str, Path]) -> None:
    from rich.text import Text

    from ..audit.findings import findings
    from .audit_view import after_run_cell, number, show
    from .terminal import Table, console

    screen = console()
    screen.print(Text(INTRODUCTION.format(questions=QUESTIONS)))
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
    screen.print()
    screen.print(Text(EXPLANATION))
    screen.print()
    first = next(iter(audits))
    screen.rule(characters="-")
    screen.print(Text(f"haltwise audit {files[first].name}", style="bold"))
    show(audits[first], [str(files[first])])
    screen.rule(characters="-")


def _next(files: dict[str, Path]) -> None:
    from rich.text import Text

    from .terminal import console

    screen = console()
    lines = (
        ("Next, on these files:", None),
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
