"""``haltwise convert``: traces of any format into one file of episodes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .options import json_option
from .outcomes import note_unused, outcomes_option, read_outcomes
from .output import print_json, print_skips, refuse_overwriting
from .sharding import engine_option, workers_option
from .terminal import counter

if TYPE_CHECKING:
    from ..record.engine import Engine


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write: .parquet, .jsonl, .jsonl.gz or .jsonl.zst.",
)
@click.option("--format", "format_", metavar="NAME", help="Read as this format; else detected.")
@workers_option
@engine_option
@outcomes_option
@json_option
def command(
    paths: tuple[str, ...],
    output: Path,
    format_: str | None,
    workers: int,
    engine: Engine,
    outcomes_path: str | None,
    as_json: bool,
) -> None:
    """Convert traces of any format into one file of episodes.

    PATH is a file, a folder, a glob or a URL. Interrupted, even by kill -9, the same command goes
    on with the parts that were finished; the output appears once it is whole.
    """
    from ..record.convert import convert
    from ..record.source import Shard

    refuse_overwriting(output, paths)

    outcomes = read_outcomes(outcomes_path)
    parts = 0
    with counter("parts read") as count:

        def told(shard: Shard) -> None:
            nonlocal parts
            parts += 1
            count(parts)

        done = convert(
            paths, output, format_, workers=workers, engine=engine, outcomes=outcomes, progress=told
        )
    note_unused(outcomes_path, outcomes)
    if as_json:
        print_json(
            {
                "schema": "haltwise.convert/1",
                "output": str(output),
                "episodes": done.episodes,
                "parts": done.parts,
                "reused": done.reused,
                "skipped": [skip.to_json() for skip in done.skipped],
            }
        )
        return
    print_skips(done.skipped)
    again = f", {done.reused} of {done.parts} parts from the run before" if done.reused else ""
    click.echo(f"{output}: {done.episodes} episodes, {len(done.skipped)} skipped{again}")
