"""The audit of the published episodes gives the published numbers (METHODS section 1)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from haltwise.audit.document import document
from haltwise.audit.gather import gather
from haltwise.audit.result import audit
from haltwise.record import MEAN6

UNAIDED = "judged_useless/qwen3-8b_unaided_test300.jsonl"


@pytest.fixture(scope="module")
def published(shared_data: Callable[[str], Path]) -> dict[str, Any]:
    """The document of the unaided Qwen3-8B episodes, through JSON."""
    gathered = gather([str(shared_data(UNAIDED))])
    return json.loads(json.dumps(document(audit(gathered.tally), gathered.skipped)))


def test_contrast_and_strata(published: dict[str, Any]) -> None:
    """The value to 1e-12, every stratum exactly, and the interval within .004."""
    contrast = published["contrast"]
    assert abs(contrast["value"] - -0.06480060445458118) < 1e-12
    assert contrast["strata"] == [
        {"t": 3, "n1": 707, "x1": 4, "n0": 64, "x0": 4},
        {"t": 4, "n1": 432, "x1": 3, "n0": 112, "x0": 10},
        {"t": 5, "n1": 404, "x1": 1, "n0": 139, "x0": 10},
        {"t": 6, "n1": 396, "x1": 3, "n0": 140, "x0": 8},
    ]
    assert abs(contrast["low"] - -0.0952) < 0.004
    assert abs(contrast["high"] - -0.0387) < 0.004


def test_agrees_with_the_study_s_own_table(
    published: dict[str, Any], shared_data: Callable[[str], Path]
) -> None:
    """The study's published cell for this model and arm holds the same value and interval."""
    table = json.loads(shared_data("judged_useless/published_values.json").read_text())
    cell = table["test300/qwen3-8b__unaided"]
    assert published["contrast"]["value"] == pytest.approx(cell["delta"], abs=1e-12)
    assert published["contrast"]["low"] == pytest.approx(cell["ci_low"], abs=0.004)
    assert published["contrast"]["high"] == pytest.approx(cell["ci_high"], abs=0.004)


def test_hazard_slope(published: dict[str, Any]) -> None:
    """Slope, standard error and interval of statsmodels' clustered logit, to 1e-5."""
    slope = published["hazard_slope"]
    assert slope["value"] == pytest.approx(-0.7446073, abs=1e-5)
    assert slope["se"] == pytest.approx(0.1374131, abs=1e-5)
    assert slope["low"] == pytest.approx(-1.0139, abs=1e-4)
    assert slope["high"] == pytest.approx(-0.4753, abs=1e-4)
    assert slope["n"] == 2561


def test_answered_after_a_run(published: dict[str, Any]) -> None:
    """On a dead source one of 292 answers after five useless results in a row."""
    rows = {(row["regime"], row["k"]): row for row in published["after_run"]}
    row = rows["persistent", 5]
    assert (row["answered"], row["at_risk"]) == (1, 292)
    assert {k for _, k in rows} == set(range(1, 8))
    assert {regime for regime, _ in rows} == {*published["regimes"], "all"}


def test_success_calls_and_mean6(published: dict[str, Any]) -> None:
    """Success by regime and calls as published; mean6 is undefined and names the missing regime."""
    success = {name: round(row["value"], 4) for name, row in published["success"].items()}
    assert success == dict(zip(MEAN6[1:], (0.0067, 0.5533, 0.5367, 0.5, 0.4867), strict=True))
    assert published["calls"]["value"] == pytest.approx(5.14, abs=0.005)
    assert published["mean6"]["value"] is None
    assert "clean" in published["mean6"]["note"]
    assert "persistent" not in published["mean6"]["note"]


@pytest.mark.parametrize(
    ("policy", "calls"),
    [("streak(5)", 4.27), ("streak(5) | deadline(8)", 4.20), ("deadline(8)", 4.76)],
)
def test_calls_under_a_rule(published: dict[str, Any], policy: str, calls: float) -> None:
    """Calls per episode less what each rule saves are those of METHODS section 1."""
    rows = {row["policy"]: row for row in published["counterfactual"]}
    left = published["calls"]["value"] - rows[policy]["calls_saved"] / published["episodes"]
    assert left == pytest.approx(calls, abs=0.005)


def test_findings(published: dict[str, Any]) -> None:
    """The agent ignores its verdicts and often never answers; nothing else is found."""
    found = {finding["id"]: finding["evidence"] for finding in published["findings"]}
    assert list(found) == ["ignores-own-verdicts", "never-answers"]
    assert "1 of 292" in found["ignores-own-verdicts"]
    assert "569 of 1,500" in found["never-answers"]
