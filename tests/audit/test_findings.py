"""Each finding: where it holds, where it does not, what it says, and how it is documented."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from audit.episodes import audited, episode, repeated
from haltwise.audit.findings import RULES, Rule, findings
from haltwise.audit.result import Audit
from haltwise.cli.audit import FINDINGS

HEADINGS = ["What it means:", "Why it matters:", "Example:", "What to do:"]


def ids(audit: Audit) -> list[str]:
    """Return the ids of the findings that hold."""
    return [finding.id for finding in findings(audit)]


def evidence(audit: Audit, name: str) -> str:
    """Return the evidence of a finding that holds."""
    return next(finding.evidence for finding in findings(audit) if finding.id == name)


def test_ignoring_agents() -> None:
    """Forty agents of which one answers after five useless results ignore their verdicts."""
    done = audited(repeated("UUUUUUUU", 39) + repeated("UUUUUUU.", 1, 39))
    assert "ignores-own-verdicts" in ids(done)
    assert "1 of 40 episodes" in evidence(done, "ignores-own-verdicts")


def test_the_dead_source_is_looked_at_first() -> None:
    """Where there is a persistent regime its row is the evidence, not that of all regimes."""
    rows = repeated("UUUUUUUU", 30, regime="persistent")
    rows += repeated("UUUUU.", 100, 30, regime="recover_after_1")
    assert "(persistent regime), 0 of 30" in evidence(audited(rows), "ignores-own-verdicts")


def test_heeding_agents() -> None:
    """Agents that answer after three useless results in a row are not accused."""
    rows = repeated("UUU.", 40) + repeated("UHUU.", 20, 40) + repeated("UHUUUU", 20, 60)
    assert "ignores-own-verdicts" not in ids(audited(rows, k=3))


def test_few_episodes_prove_nothing() -> None:
    """Five episodes are too few to say that agents ignore their verdicts."""
    assert "ignores-own-verdicts" not in ids(audited(repeated("UUUUUUUU", 5)))


def test_late_useful_results() -> None:
    """Right answers after the fifth useless result are put at risk; k = 6 is named as safer."""
    rows = repeated("UUUUUH.", 10, success=True) + repeated("H.", 40, 10, success=True)
    done = audited(rows)
    assert "late-useful-results" in ids(done)
    text = evidence(done, "late-useful-results")
    assert "10 of 50 right answers" in text
    assert "streak(6) puts fewer" in text


def test_early_useful_results() -> None:
    """Where every right answer comes before the rule fires nothing is at risk."""
    assert "late-useful-results" not in ids(audited(repeated("UUH.", 30, success=True)))


def test_no_answers() -> None:
    """Two of ten episodes without an answer are a finding, and none of ten is not."""
    assert "2 of 10" in evidence(audited(repeated("HU", 2) + repeated("H.", 8, 2)), "never-answers")
    assert "never-answers" not in ids(audited(repeated("H.", 10)))


def test_error_texts() -> None:
    """Results that are mostly error texts are a finding that quotes the commonest."""
    rows = repeated("UU.", 6, result="Error code: 401 - invalid key 17")
    rows += repeated("UU.", 4, 6, result="A page about errors.")
    text = evidence(audited(rows), "error-texts")
    assert "12 of 20 texts" in text
    assert "Error code: #" in text
    assert ids(audited(rows))[0] == "error-texts"


def test_few_error_texts() -> None:
    """A tool that fails now and then is no finding."""
    rows = repeated("UU.", 2, result="Error code: 500") + repeated("UU.", 8, 2, result="a page")
    assert "error-texts" not in ids(audited(rows))


def test_undefined_contrast() -> None:
    """With every result useless the contrast is undefined, and the finding says why."""
    text = evidence(audited(repeated("UUUU", 3)), "undefined-contrast")
    assert text.startswith("Undefined: no episode had a useless result after one of another kind")


def test_mechanical_contrast() -> None:
    """All answers come at a run of exactly 4: a threshold explains the contrast."""
    rows = repeated("UUUU.", 20) + repeated("HUUUU.", 10, 20) + repeated("UHUUH.", 20, 30)
    text = evidence(audited(rows), "mechanical-contrast")
    assert "30 of 30 decisions after 4" in text
    assert "threshold of 4" in text


def test_gradual_reaction_is_not_mechanical() -> None:
    """Agents that answer more and more often are no threshold."""
    rows = repeated("U.", 30) + repeated("UU.", 30, 30) + repeated("UUUU.", 30, 60)
    assert "mechanical-contrast" not in ids(audited(rows))


def test_nothing_found() -> None:
    """Agents that answer when they should have no finding at all."""
    rows = [episode(text, f"q{i}") for i, text in enumerate(["UUU.", "UHUH.", "UHUU.", "H."] * 5)]
    assert ids(audited(rows)) == []


def test_the_command_line_knows_every_finding() -> None:
    """The ids that ``--fail-on`` takes are those of the rules, in their order."""
    assert tuple(rule.id for rule in RULES) == FINDINGS


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_documentation_is_uniform(rule: Rule) -> None:
    """Every rule is documented under the same four headings, in its module and in the docs."""
    text = sys.modules[rule.look.__module__].__doc__
    assert text is not None
    assert re.findall(r"^[A-Z][a-z ]+:$", text, re.MULTILINE) == HEADINGS
    page = (Path(__file__).parents[2] / "docs" / "audit.md").read_text(encoding="utf-8")
    section = page.split(f"### `{rule.id}`")[1].split("\n### ")[0]
    for paragraph in re.split(r"\n\n|:\n", text.split("\n", 1)[1]):
        plain = " ".join(paragraph.split()).replace("``", "`")
        assert plain in " ".join(section.split()), f"docs/audit.md lacks: {plain}"
