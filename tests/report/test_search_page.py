"""The report on search loops: the same numbers as audit and replay, and text that stays text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from haltwise.audit import audit, gather
from haltwise.cli.main import run
from haltwise.core.events import Verdict
from haltwise.core.recovery import RecoveryModel
from haltwise.record.episode import AnswerNow, Beliefs, Outcome, SearchEpisode, SearchStep
from haltwise.record.jsonl import write_episodes
from haltwise.record.read import read
from haltwise.report import render
from haltwise.report.search.details import details
from haltwise.report.search.page import search_page
from haltwise.report.search.recovery import recovery_figure
from haltwise.report.search.survival import exits, survival_figure
from haltwise.simulated.search import IGNORES, simulate_search

EVIL = "</script><script>alert(1)</script>"


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Simulated episodes with answer-now branches."""
    path = tmp_path_factory.mktemp("traces") / "traces.jsonl"
    write_episodes(path, simulate_search(IGNORES, 80, seed=3).episodes())
    return path


def page_data(path: Path, **options: Any) -> tuple[str, dict[str, Any]]:
    """Return the page of some traces and the data of its explorer."""
    gathered = gather([str(path)])
    done = audit(gathered.tally, replicates=100)
    episodes = (item for item in read([str(path)]) if isinstance(item, SearchEpisode))
    found = details(episodes, k=5, budget=done.budget, price=0.05, **options)
    sample = gathered.tally.sample(done.budget)
    html = render(search_page(done, sample, found, replicates=100))
    text = re.search(r'<script type="application/json" id="data">(.*?)</script>', html)
    assert text is not None
    return html, json.loads(text[1])["whatif"]


def test_the_sliders_say_what_replay_says(traces: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Success, calls and utility of every third rule are those of replay --json, intervals too."""
    _, data = page_data(traces)
    chosen = data["effects"][::3]
    price = data["prices"].index(0.05)
    line = ["replay", str(traces), "--json", "--replicates", "100"]
    for effect in chosen:
        line += ["--policy", effect["policy"]]
    assert run(line) == 0
    policies = json.loads(capsys.readouterr().out)["policies"]
    for effect, policy in zip(chosen, policies, strict=True):
        assert effect["success"] == shown(policy["success"], 4)
        assert effect["calls"] == shown(policy["steps"], 2)
        assert effect["utility"][price] == shown(policy["utility"], 4)


def shown(estimate: dict[str, float], digits: int) -> str:
    """Return an estimate of a JSON document as the page writes it."""
    value, low, high = (f"{estimate[name]:.{digits}f}" for name in ("value", "low", "high"))
    return f"{value} [{low}, {high}]"


def test_at_risk_is_what_the_audit_counts(traces: Path) -> None:
    """Right answers put at risk are the audit's, for every streak and the deadline."""
    _, data = page_data(traces)
    done = audit(gather([str(traces)]).tally, replicates=10)
    for effect in data["effects"]:
        row = done.rule(effect["policy"])
        if row is not None:
            assert effect["risk"] == f"{row.answers_at_risk:,} of {done.right:,}"


def test_without_branches_success_is_said_to_be_unknown(tmp_path: Path) -> None:
    """Where the record does not tell what an early answer is worth, bounds stand, and no zero."""
    path = tmp_path / "traces.jsonl"
    simulate_search(IGNORES, 60, seed=1).write_judged_useless(path)
    html, data = page_data(path)
    assert not data["known"]
    stopping = next(e for e in data["effects"] if e["policy"] == "streak(2)")
    assert stopping["success"].startswith("unknown, between 0.")
    assert set(stopping["utility"]) == {"–"}
    assert "answer-now" in html


def test_text_of_traces_stays_text(tmp_path: Path) -> None:
    """Markup in a thought, an argument, a result, an answer or a regime is shown as it is."""
    steps = [
        SearchStep(
            t=t,
            action="search",
            arguments={"query": EVIL},
            result=EVIL,
            thought=EVIL,
            verdicts={"recorded": Verdict.USELESS},
            beliefs=Beliefs(0.2, 0.5, 1),
            answer_now=AnswerNow(EVIL, True),
        )
        for t in range(1, 7)
    ]
    episodes = [
        SearchEpisode(
            episode_id=f"e{i}",
            cluster_id=f"q{i}",
            question_id=f"q{i}",
            question=EVIL,
            regime=EVIL,
            model=EVIL,
            outcome=Outcome(success=False, answer=EVIL),
            budget=8,
            steps=steps,
        )
        for i in range(3)
    ]
    path = tmp_path / "traces.jsonl"
    write_episodes(path, episodes)
    html, _ = page_data(path)
    body = re.sub(r"<script\b.*?</script>", "", html, flags=re.DOTALL)
    assert "alert(1)" in body
    assert "<script" not in body.lower()
    assert "right if it answers now: 20 %" in html


def test_where_a_rule_stops_is_shown_with_its_evidence(traces: Path) -> None:
    """An episode of many useless results shows the rule, its reason and its numbers."""
    html, _ = page_data(traces)
    assert "useless results in a row (threshold 3)" in html
    assert "run 3, threshold 3" in html


def test_a_run_ends_by_an_answer_a_useful_result_or_the_budget() -> None:
    """Hand-made outlines: answered at run 2; useful after run 1; watched to the last decision."""
    from haltwise.audit.trajectories import Trajectories
    from haltwise.record.outline import ANSWER, CALL, CODES, Outline

    no, yes = CODES[Verdict.USELESS], CODES[Verdict.USEFUL]
    quiet = CODES[Verdict.UNJUDGED]

    def outline(verdicts: list[int], answers: bool) -> Outline:
        actions = [CALL] * len(verdicts) + [ANSWER] * answers
        codes = verdicts + [quiet] * answers
        return Outline(None, None, None, 6, bytes(actions), bytes(codes), None)

    rows = Trajectories.of(
        [outline([no, no], True), outline([no, yes], True), outline([no] * 6, False)], 6
    )
    answered, watched = np.split(exits(rows, 6), 2, axis=1)
    assert answered.tolist() == [[0, 1, 0, 0, 0], [0] * 5, [0] * 5]
    assert watched.tolist() == [[0] * 5, [1, 0, 0, 0, 0], [0, 0, 0, 1, 0]]


def test_survival_of_the_published_episodes(shared_data: Callable[[str], Path]) -> None:
    """On the dead source 5 of the 300 loops answer during their first run: all others go on."""
    path = shared_data("judged_useless/qwen3-8b_unaided_test300.jsonl")
    gathered = gather([str(path)], where={"regime": "persistent"})
    done = audit(gathered.tally, replicates=10)
    figure = survival_figure(done, gathered.tally.sample(done.budget))
    assert figure.title == "After 6 useless results in a row on a dead source, 98 % still search on"


def test_the_recovery_heat_map_is_the_table() -> None:
    """A cell says answer exactly where the policy forces one."""
    model = RecoveryModel(4, ((0.1, 0.2), (0.3, 0.4)), (0.3, 0.5), (0.6, 0.8), 0.05)
    rows = recovery_figure(model, None, ()).table.rows
    for left, *cells in rows:
        for run_length, cell in enumerate(cells, start=1):
            if cell != "–":
                forced = run_length in model.stop[int(left) - 1]
                assert cell.startswith("answer") == forced


def test_the_published_report_says_what_is_wrong_and_what_to_use(
    shared_data: Callable[[str], Path],
) -> None:
    """The headline has the published figure, and the setting is what the terminal proposes."""
    from haltwise.replay.answer_now import read_answer_now

    path = shared_data("judged_useless/qwen3-8b_unaided_test300.jsonl")
    table = read_answer_now(shared_data("judged_useless/answer_now_qwen3-8b_test300.jsonl"))
    html, _ = page_data(path, answer_now=table)
    assert "291 of 292 episodes end without an answer</h1>" in html
    assert '<p class="rule"><code>streak(4) | deadline(8)</code></p>' in html
    assert len(html) < 3_000_000


def test_traces_without_verdicts_say_so(tmp_path: Path) -> None:
    """Nothing judged: the headline says what to add, no table of dashes, no empty chart."""
    steps = [SearchStep(t=t, action="search", arguments="x", result="y") for t in range(1, 6)]
    episodes = [
        SearchEpisode(episode_id=f"e{i}", cluster_id=f"q{i}", question_id=f"q{i}", steps=steps)
        for i in range(4)
    ]
    path = tmp_path / "traces.jsonl"
    write_episodes(path, episodes)
    html, data = page_data(path)
    assert "Nobody judged these results" in html[html.index("<h1>") : html.index("</h1>")]
    assert not data["known"]
    assert 'data-chart="answers-by-step"' not in html
    assert "Not graded</h3>" in html


def test_rules_that_never_stop_do_not_make_worth_known(tmp_path: Path) -> None:
    """Where no stop is of known worth, the setting comes from the answers put at risk."""
    from haltwise.audit.setting import rule_text, safe_setting

    path = tmp_path / "traces.jsonl"
    simulate_search(IGNORES, 60, seed=1).write_judged_useless(path)
    safe = safe_setting(audit(gather([str(path)]).tally, replicates=10))
    assert safe is not None
    html, _ = page_data(path)
    assert f'<p class="rule"><code>{rule_text(*safe)}</code></p>' in html
    assert "came after it would have stopped" in html
