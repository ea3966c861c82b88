"""``haltwise study tune``: k, the lexical threshold and the random rate, from dev episodes."""

from __future__ import annotations

from pathlib import Path

import click

from .options import json_option
from .output import note, print_json
from .terminal import busy


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "-o", "output", type=click.Path(path_type=Path), help="Write the values to this TOML file."
)
@json_option
def command(folder: Path, output: Path | None, as_json: bool) -> None:
    """Choose values on the unaided dev episodes in FOLDER (recorded with branches)."""
    from ..study.search.study_folder import StudyFolder
    from ..study.search.tune import tune

    with busy("tuning"):
        tuning = tune(StudyFolder(folder))
    if output is not None:
        output.write_text(tuning.to_toml(), "utf-8")
        note(f"written: {output}")
    if as_json:
        print_json(tuning.to_json())
        return
    click.echo(f"k = {tuning.k} (utility {tuning.by_k[tuning.k]:.3f} by replay)")
    accuracy = tuning.by_threshold[tuning.threshold]
    click.echo(f"lexical threshold = {tuning.threshold} (balanced accuracy {accuracy:.3f})")
    click.echo(f"random rate = {tuning.rate}, the judge's own")
    if output is None:
        click.echo(f"next: haltwise study tune {folder} -o tuned.toml")
