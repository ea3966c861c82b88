"""Draws the pictures of the README from what the commands print: ``docs/assets/readme-*.svg``.

``make pictures`` runs it on the published unaided episodes of Qwen3-8B (*Judged Useless, Queried
Anyway*, CC BY 4.0); another file may be named. The terminal is the very output of ``haltwise
audit``, the chart is one of ``haltwise report``.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ASSETS = ROOT / "docs" / "assets"
DATA = Path(os.environ.get("HALTWISE_SHARED_DATA", ROOT.parent / "shared" / "data"))
EPISODES = DATA / "judged_useless" / "qwen3-8b_unaided_test300.jsonl"
COLUMNS = 96
SHOWN = (0, 1, 4)
"""Paragraphs of the report that the picture shows: what it is of, the findings, the rules."""


def terminal(path: Path) -> str:
    """Return the paragraphs of ``haltwise audit`` as an SVG of a terminal."""
    from rich.console import Console
    from rich.text import Text

    shown = Text.from_ansi("\n\n".join(printed(path)))
    console = Console(width=COLUMNS, record=True, file=io.StringIO(), highlight=False)
    console.print(shown, soft_wrap=True)
    svg = console.export_svg(title=f"haltwise audit {path.name}", unique_id="audit")
    # The fonts that Rich asks a CDN for are cut: a picture loads nothing from elsewhere.
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    return svg.replace("Fira Code", "ui-monospace, Menlo, Consolas, DejaVu Sans Mono")


def printed(path: Path) -> list[str]:
    """Return the paragraphs `SHOWN` of what the command prints on a terminal of `COLUMNS`."""
    environment = {**os.environ, "COLUMNS": str(COLUMNS), "FORCE_COLOR": "1", "TERM": "xterm"}
    environment["PYTHONPATH"] = str(ROOT / "src")
    environment.pop("NO_COLOR", None)
    done = subprocess.run(
        [sys.executable, "-m", "haltwise", "audit", path.name],
        cwd=path.parent,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    paragraphs = re.split(r"\n\s*\n", done.stdout)
    return [paragraphs[position].rstrip() for position in SHOWN]


def chart(path: Path, *, dark: bool) -> bytes:
    """Return the answer rates by step, as the report of these episodes draws them."""
    from haltwise.audit import audit, gather
    from haltwise.report import image
    from haltwise.report.search.behaviour import contrast_figure

    tally = gather([str(path)]).tally
    done = audit(tally)
    figure = contrast_figure(done, tally.sample(done.budget))
    return image(figure, "svg", dark=dark, titled=True)


def main() -> None:
    """Write the three files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("episodes", nargs="?", type=Path, default=EPISODES)
    path = parser.parse_args().episodes
    if not path.exists():
        sys.exit(f"{path} is not there; point HALTWISE_SHARED_DATA at the shared data folder")
    (ASSETS / "readme-audit.svg").write_text(terminal(path), "utf-8")
    for name, dark in (("light", False), ("dark", True)):
        (ASSETS / f"readme-answers-{name}.svg").write_bytes(chart(path, dark=dark))


if __name__ == "__main__":
    main()
