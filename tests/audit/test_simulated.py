"""The audit finds in simulated agents what they were drawn with."""

from __future__ import annotations

from pathlib import Path

import pytest

from haltwise.audit import Audit, audit, findings, gather
from haltwise.audit.response import Response
from haltwise.simulated import ENFORCED, HEEDS, IGNORES, SearchAgent, simulate_search

QUESTIONS = 3000


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Audit]:
    """The audits of the three simulated agents by name, each through its file."""
    folder = tmp_path_factory.mktemp("simulated")

    def through_a_file(agent: SearchAgent) -> Audit:
        path: Path = folder / f"{agent.name}.jsonl"
        simulate_search(agent, QUESTIONS, seed=3).write_judged_useless(path)
        return audit(gather([str(path)]).tally, replicates=100)

    return {agent.name: through_a_file(agent) for agent in (IGNORES, HEEDS, ENFORCED)}


@pytest.mark.parametrize(("agent", "slope"), [(IGNORES, -0.74), (HEEDS, 0.9)])
def test_the_hazard_slope_is_recovered(
    audited: dict[str, Audit], agent: SearchAgent, slope: float
) -> None:
    """The slope that the agent was drawn with lies within 4 standard errors of the estimate."""
    found = audited[agent.name].hazard_slope
    assert found.se < 0.1
    assert abs(found.estimate.value - slope) < 4 * found.se


def test_hazards_by_run(audited: dict[str, Audit]) -> None:
    """Shares that answer next lie between the smallest and the largest hazard at that run."""
    rows = {row.run: row for row in audited[HEEDS.name].responses}
    for r in (1, 2, 3, 4):
        hazards = [HEEDS.hazard[t - 1][r] for t in range(max(1, r), 7)]
        assert isinstance(rows[r], Response)
        assert rows[r].decisions > 1000
        assert min(hazards) - 0.02 < rows[r].share < max(hazards) + 0.02


def test_the_judge_s_rate_on_a_dead_source(tmp_path: Path) -> None:
    """On a dead source the useless rate is the judge's, with the true rate in its interval."""
    path = tmp_path / "dead.jsonl"
    simulate_search(IGNORES, 2000, regimes=("persistent",), seed=4).write_judged_useless(path)
    rate = audit(gather([str(path)]).tally, level=0.999, replicates=10).useless_rate
    assert rate.low < IGNORES.useless_if_not < rate.high


def test_the_agents_are_told_apart(audited: dict[str, Audit]) -> None:
    """Ignoring, heeding and enforced agents get the findings that they deserve, and no others."""
    ids = {name: {finding.id for finding in findings(done)} for name, done in audited.items()}
    assert ids[IGNORES.name] >= {"ignores-own-verdicts", "never-answers"}
    assert ids[HEEDS.name] == set()
    assert ids[ENFORCED.name] == {"mechanical-contrast"}


def test_mean6_is_defined(audited: dict[str, Audit]) -> None:
    """With all six regimes mean6 is the mean of the six success rates."""
    done = audited[IGNORES.name]
    rates = [estimate.value for estimate in done.success.values()]
    assert len(rates) == 6
    assert done.mean6.value == pytest.approx(sum(rates) / 6)
    assert done.mean6.low < done.mean6.value < done.mean6.high
