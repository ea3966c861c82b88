"""The entry point: finds the command, runs it, and turns errors into one sentence and exit code 2.

Commands are imported when they are called, so that ``haltwise --help`` loads nothing heavy.
"""

from __future__ import annotations

import errno
import sys
from typing import Any

import click

from .. import __version__
from ..core.errors import HaltwiseError
from .lazy import LazyGroup

COMMANDS: dict[str, str] = {
    "audit": "What do the agents in these traces do with their own verdicts?",
    "calibrate": "Fit the noise of recorded loops and write the rule it supports.",
    "convert": "Any traces into one file of episodes, Parquet or JSON lines.",
    "demo": "The tour: audit simulated agents and read the report.",
    "replay": "What would a stopping rule have done on these recorded loops?",
    "doctor": "What is installed, what is missing, and the line to type.",
    "report": "Recorded loops as one page that people look at, or as charts.",
    "serve": "Stop search loops of any agent, in front of any model API.",
    "simulate": "What would each rule for repair loops deliver at this noise? Exact, no data.",
    "study": "Run the search study on live models, tune and analyse it.",
    "view": "Reports over a folder of runs, in the browser, kept up to date.",
}
"""Every command with its one-line help; ``cli/NAME.py`` holds its ``command``."""


@click.command(
    cls=LazyGroup, helps=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, prog_name="haltwise")
def app() -> None:
    """Know when an agent loop should stop, and make it stop."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 a finding to fail on, 2 bad usage or input."""
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    try:
        result: Any = app.main(arguments, standalone_mode=False, prog_name="haltwise")
    except click.ClickException as error:
        error.show()
        return 2
    except (click.Abort, KeyboardInterrupt):
        print("haltwise: interrupted", file=sys.stderr)
        return 130
    except HaltwiseError as error:
        from .output import note

        note(f"haltwise: {error}")
        return 2
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except SystemExit as end:
        if end.code != 1:
            raise
        return 0  # of click or rich: whoever reads the output has gone; 1 would be a finding
    except OSError as error:
        if error.filename is not None or error.errno not in (errno.ENOSPC, errno.EIO, errno.EBADF):
            raise
        print(f"haltwise: the output cannot be written: {error.strerror}", file=sys.stderr)
        return 2
    return result if isinstance(result, int) else 0
