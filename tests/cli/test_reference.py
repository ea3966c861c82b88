"""The reference is true: written from the commands, complete, and every option explained."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from haltwise.audit.findings import RULES as FINDINGS
from haltwise.cli.main import app
from haltwise.cli.reference import commands, reference
from haltwise.core.policies import RULES

ROOT = Path(__file__).resolve().parent.parent.parent
COMMANDS = dict(commands(app, "haltwise"))


def test_the_page_is_the_commands() -> None:
    """docs/cli.md is what the commands say; after a change type ``make reference``."""
    assert (ROOT / "docs/cli.md").read_text("utf-8") == reference()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_explained(name: str) -> None:
    """No command without a help text, and no option without one."""
    command = COMMANDS[name]
    assert command.help
    silent = [p.name for p in command.params if isinstance(p, click.Option) and not p.help]
    assert silent == []


@pytest.mark.parametrize("option", ["--json", "--level", "--outcomes", "--replicates", "--seed"])
def test_an_option_means_the_same_everywhere(option: str) -> None:
    """What several commands share is written once: one help, one range, one default."""
    found = {
        (item.help, repr(item.type), str(item.default))
        for command in COMMANDS.values()
        for item in command.params
        if option in item.opts and isinstance(item, click.Option)
    }
    assert len(found) == 1


def test_every_rule_is_documented() -> None:
    """Each word of an expression has a heading in the pages on rules."""
    pages = [(ROOT / "docs" / name).read_text("utf-8") for name in RULE_PAGES]
    documented = {word for page in pages for word in re.findall(r"^## `(\w+)", page, re.MULTILINE)}
    assert documented == set(RULES)


RULE_PAGES = ("policies.md", "repair-policies.md")


def test_every_finding_is_documented() -> None:
    """Each finding has a heading in the page on the audit."""
    text = (ROOT / "docs/audit.md").read_text("utf-8")
    assert set(re.findall(r"^### `([\w-]+)`", text, re.MULTILINE)) == {f.id for f in FINDINGS}


def test_the_index_names_every_page() -> None:
    """No page of the docs is left out of the index, and it links to none that is not there."""
    docs = ROOT / "docs"
    linked = set(re.findall(r"\]\(([\w/.-]+\.md)\)", (docs / "index.md").read_text("utf-8")))
    assert linked == {str(p.relative_to(docs)) for p in docs.rglob("*.md")} - {"index.md"}
