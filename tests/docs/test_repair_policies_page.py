"""Every repair rule is documented under the same headings."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from haltwise.core.policies import RULES

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "repair-policies.md"
REPAIR = [word for word, rule in RULES.items() if rule.kind == "repair"]
PARTS = ("What it does.", "Parameters.", "When to use.", "Known failure.")


@pytest.mark.parametrize("word", REPAIR)
def test_every_repair_rule_has_its_section(word: str) -> None:
    """One heading a rule, four parts in order, and every parameter named."""
    sections = re.split(r"^## ", PAGE.read_text("utf-8"), flags=re.MULTILINE)
    (section,) = [text for text in sections if re.match(rf"`{word}[`(]", text)]
    assert re.findall(r"^\*\*(.+?)\*\*", section, flags=re.MULTILINE) == list(PARTS)
    for field in dataclasses.fields(RULES[word]):
        assert f"`{field.name}`" in section, field.name
