"""``haltwise doctor``: what is installed, what is missing, and the line to type.

What is wanted is read from haltwise's own package metadata (or its pyproject.toml in a checkout),
so that a new extra needs a line of description here and nothing else.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import click

from .. import __version__
from .options import json_option

PURPOSES: dict[str, str] = {
    "": "what every command needs",
    "embedded": "a real model inside the process, no server and no key",
    "gateway": "haltwise serve, stopping in front of any model API",
    "study": "experiments on live models, on Inspect AI",
    "hub": "data sets from the hub for studies",
    "remote": "traces behind URLs and in zstd files",
    "semantic": "--signal semantic, judging results by meaning",
    "ray": "shards on a cluster, with --engine ray",
    "report": "haltwise report and --html, charts as PNG and SVG",
    "browser": "tests of the reports in a real browser, with make test-browser",
    "docs": "the docs site, with make docs",
    "dev": "the test suite and the checks",
    "bench": "benchmarks against other libraries",
}
"""What each extra is for; the empty name stands for the required packages.

An extra that is not here bears the name of an agent framework: it is for that adapter.
"""

_NAME = re.compile(r"[A-Za-z0-9._-]+")
_LEAST = re.compile(r">=\s*([\d.]+)")
_EXTRA = re.compile(r"""extra\s*==\s*["']([^"']+)["']""")


@dataclass(frozen=True)
class Package:
    """One package that haltwise can use."""

    name: str
    """Its name on the package index."""
    wanted: str
    """The version that is asked for, such as ">=1.26"; empty for any."""
    installed: str | None
    """The version that is there; None where it is missing."""

    @property
    def ready(self) -> bool:
        """Whether it is there in the version that is asked for."""
        if self.installed is None:
            return False
        least = _LEAST.search(self.wanted)
        return least is None or _numbers(self.installed) >= _numbers(least[1])


@dataclass(frozen=True)
class Group:
    """The required packages, or those of one extra."""

    extra: str
    """Name of the extra; empty for the required packages."""
    packages: tuple[Package, ...]

    @property
    def purpose(self) -> str:
        """What the group is for."""
        return PURPOSES.get(self.extra, f"stopping inside {self.extra} agents")

    @property
    def missing(self) -> list[str]:
        """The packages that are not installed, or too old, with the version asked for."""
        return [p.name + p.wanted for p in self.packages if not p.ready]

    @property
    def install(self) -> str:
        """The line that installs the group; empty where nothing is missing."""
        if not self.missing:
            return ""
        what = "-e '.{}'" if _checkout().is_file() else "'haltwise{}'"
        return "pip install " + what.format(f"[{self.extra}]" if self.extra else "")


@dataclass(frozen=True)
class Live:
    """One thing that a study on a live model needs."""

    name: str
    """What it is called."""
    purpose: str
    """What it is for."""
    found: str | None
    """Where it lies, or its version; None where it is missing or does not work."""
    remedy: str
    """The line to type, or what is wrong; empty where it is there."""


@click.command()
@json_option
def command(as_json: bool) -> int:
    """What is installed, what is missing, and the line to type.

    Exits with 2 where a required package is missing.
    """
    groups = required_groups()
    live = live_needs(groups)
    if as_json:
        from .output import print_json

        print_json(_document(groups, live))
    else:
        _show(groups, live)
    return 2 if groups[0].missing else 0


def required_groups() -> list[Group]:
    """Return what haltwise can use, the required packages first, then extra by extra."""
    found: dict[str, dict[str, Package]] = {"": {}}
    for requirement in _requirements():
        text, _, marker = requirement.partition(";")
        extra = match[1] if (match := _EXTRA.search(marker)) else ""
        name_match = _NAME.match(text)
        if name_match is None:
            continue
        name = name_match[0]
        group = found.setdefault(extra, {})
        if name.lower() == "haltwise":  # an extra that takes in others
            for other in re.findall(r"[\w-]+", text.partition("[")[2].partition("]")[0]):
                group.update(found.get(other, {}))
            continue
        group[name] = Package(name, text[len(name) :].strip().strip("()"), _version(name))
    return [Group(extra, tuple(packages.values())) for extra, packages in found.items()]


def _requirements() -> Iterable[str]:
    try:
        return metadata.requires("haltwise") or []
    except metadata.PackageNotFoundError:
        return _from_checkout()


def _from_checkout() -> Iterable[str]:
    """Yield the requirements in the pyproject.toml of the checkout that this file is in."""
    import tomllib

    if not _checkout().is_file():
        return
    table = tomllib.loads(_checkout().read_text(encoding="utf-8"))["project"]
    yield from table["dependencies"]
    for extra, requirements in table.get("optional-dependencies", {}).items():
        for requirement in requirements:
            yield f"{requirement}; extra == '{extra}'"


def _checkout() -> Path:
    return Path(__file__).resolve().parents[3] / "pyproject.toml"


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def live_needs(groups: Iterable[Group]) -> list[Live]:
    """Return what studies on a live model need: runner, runtime, weights and sandbox."""
    install = {group.extra: group.install for group in groups}
    found = []
    for name, package, extra, purpose in (
        ("Inspect AI", "inspect-ai", "study", "runs haltwise study search and repair"),
        ("xllamacpp", "xllamacpp", "embedded", "runs the embedded model in this process"),
    ):
        version = _version(package)
        remedy = "" if version else install.get(extra) or f"pip install 'haltwise[{extra}]'"
        found.append(Live(name, purpose, version, remedy))
    found.append(Live("weights", "the embedded model itself", *_weights()))
    found.append(Live("bubblewrap", "sandbox for code that a model wrote", *_sandbox()))
    return found


def _sandbox() -> tuple[str | None, str]:
    from ..study.repair.sandbox import SandboxError, runner

    try:
        runner()
    except SandboxError as error:
        return None, str(error)
    return shutil.which("bwrap"), ""


def _weights() -> tuple[str | None, str]:
    """Return where the embedded model's weights lie, and what to type where they do not."""
    from ..core.errors import InputError
    from ..judges.weights import QWEN, VARIABLE, find_weights

    try:
        path = find_weights(hashed=False)  # a file of 1 GB: its size tells enough here
    except InputError as error:
        return None, str(error)
    size = QWEN.size / 1e9
    remedy = f"fetched at first use ({size:.1f} GB), or: export {VARIABLE}=/path/to/{QWEN.name}"
    return (None, remedy) if path is None else (str(path), "")


def _document(groups: list[Group], live: list[Live]) -> dict[str, Any]:
    return {
        "schema": "haltwise.doctor/1",
        "haltwise": __version__,
        "python": sys.version.split()[0],
        "groups": [
            {
                "extra": group.extra,
                "purpose": group.purpose,
                "ready": not group.missing,
                "missing": group.missing,
                "install": group.install,
                "packages": [
                    {"name": p.name, "wanted": p.wanted, "installed": p.installed}
                    for p in group.packages
                ],
            }
            for group in groups
        ],
        "live": [
            {"name": need.name, "purpose": need.purpose, "found": need.found, "note": need.remedy}
            for need in live
        ],
        "skipped": [],
    }


def _show(groups: list[Group], live: list[Live]) -> None:
    from rich.text import Text

    from .terminal import Table, console

    screen = console()
    screen.print(Text(f"haltwise {__version__}, Python {sys.version.split()[0]}", style="bold"))
    table = Table("", "", "what for", "missing", "type", numbers=False)
    for group in groups:
        state = Text("ready", style="green")
        if group.missing:
            state = Text(", ".join(group.missing), style="yellow" if group.extra else "red")
        table.add_row(group.extra or "required", group.purpose, state, group.install)
    table.print(screen)
    screen.print()
    needs = Table(
        "For studies on a live model", "", "what for", "state", "found, or type", numbers=False
    )
    for need in live:
        state = Text("missing", style="yellow") if need.remedy else Text("ready", style="green")
        needs.add_row(need.name, need.purpose, state, need.remedy or need.found or "")
    needs.print(screen)
