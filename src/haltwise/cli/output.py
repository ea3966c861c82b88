"""What the commands share in what they print: one JSON document, notes, numbers for people.

Documents and tables go to stdout, notes to stderr. Knows nothing of what is reported.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from ..core.errors import InputError
from ..record.skip import Skip
from ..stats.estimate import Estimate


def print_json(document: Mapping[str, Any]) -> None:
    """Print the one JSON document of a command, in ASCII: a file name may be no text at all."""
    click.echo(json.dumps(document, allow_nan=False, indent=1))


def refuse_overwriting(output: str | os.PathLike[str], paths: Iterable[str]) -> None:
    """Keep an output from replacing the records that it is made from.

    Raises:
        InputError: ``output`` is one of the files in ``paths``.
    """
    target = Path(output)
    for path in paths:
        if target.exists() and Path(path).exists() and target.samefile(path):
            raise InputError(f"{output} is the input as well; name another file with -o")


def note(text: str) -> None:
    """Print a note to stderr."""
    click.echo(harmless(text), err=True)


_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def harmless(text: str) -> str:
    """Return text from outside without the characters that steer a terminal.

    Escapes, carriage returns and changes of writing direction become U+FFFD; lines stay lines.
    """
    return _CONTROL.sub("\ufffd", text)


def shown(estimate: Estimate, digits: int = 3, *, interval: bool = True) -> str:
    """Return an estimate as people read it: ``0.457 [0.430, 0.484]``, or ``-`` when undefined."""
    if not estimate.defined:
        return "-"
    text = f"{estimate.value:.{digits}f}"
    if not interval or estimate.low != estimate.low:
        return text
    return f"{text} [{estimate.low:.{digits}f}, {estimate.high:.{digits}f}]"


def reasons(skips: Sequence[Skip], most: int = 3) -> str:
    """Return why nothing was usable, as the end of a sentence: the first skips, then how many more.

    Empty where nothing was skipped.
    """
    if not skips:
        return ""
    rest = len(skips) - most
    more = f"; {rest:,} more skipped" if rest > 0 else ""
    return "".join(f"; {skip}" for skip in skips[:most]) + more


def print_skips(skips: Sequence[Skip], most: int = 5) -> None:
    """Name the records that were skipped: the first ones in full, then how many more."""
    for skip in skips[:most]:
        note(f"skipped: {skip}")
    if len(skips) > most:
        note(f"skipped: {len(skips) - most} more (all of them: --json)")
