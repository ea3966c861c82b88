"""Real traces of others: every count against an independent one by plain json or regex."""

from __future__ import annotations

import json
import re
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from haltwise.record import RepairEpisode, SearchEpisode, Skip, read
from haltwise.record.readers.base import detect

Locate = Callable[[str], Path]


def episodes_of(path: Path) -> list[SearchEpisode]:
    """Return all episodes; nothing may be skipped."""
    items = list(read(path))
    assert not [item for item in items if isinstance(item, Skip)]
    return items  # type: ignore[return-value]


def calls_in(episodes: list[SearchEpisode]) -> list[tuple[str, str | None]]:
    """Return (tool, result) of every call, calls side by side one by one, answers left out."""
    found: list[tuple[str, str | None]] = []
    for episode in episodes:
        for step in episode.steps:
            if step.parallel:
                found += [(call.action, call.result) for call in step.parallel]
            elif step.action != "answer":
                found.append((step.action, step.result))
    return found


def test_tau_bench(shared_data: Locate) -> None:
    """100 runs; every call is there with the result that follows it; the outcome is the reward."""
    path = shared_data("trajectories/tau_airline_even.json")
    runs = json.loads(path.read_text())
    episodes = episodes_of(path)
    assert len(episodes) == len(runs) == 100
    expected = []
    for run in runs:
        for message, reply in zip(run["traj"], run["traj"][1:], strict=False):
            for call in message.get("tool_calls") or []:
                assert (reply["role"], reply["tool_call_id"]) == ("tool", call["id"])
                expected.append((call["function"]["name"], reply["content"]))
    assert calls_in(episodes) == expected
    assert [e.outcome.success for e in episodes] == [run["reward"] == 1 for run in runs]
    assert [(e.question_id, e.seed) for e in episodes] == [
        (str(run["task_id"]), run["trial"]) for run in runs
    ]


def test_reflexion(shared_data: Locate) -> None:
    """An episode for each question of each trial, with the outcome that the log gives."""
    path = shared_data("trajectories/reflexion_react_hotpotqa.txt")
    text = path.read_text()
    episodes = episodes_of(path)
    assert len(episodes) == len(re.findall(r"^Question:", text, re.MULTILINE))
    trials = re.split(r"^BEGIN TRIAL (\d+)$", text, flags=re.MULTILINE)
    counted = {
        trial: len(re.findall(r"^Question:", part, re.MULTILINE))
        for trial, part in zip(trials[1::2], trials[2::2], strict=True)
    }
    assert Counter(e.labels["trial"] for e in episodes) == counted
    right = len(re.findall(r"^Observation \d+: Answer is CORRECT", text, re.MULTILINE))
    assert sum(e.outcome.success is True for e in episodes) == right == 170
    assert not [e for e in episodes if e.outcome.success is None]
    finished = len(re.findall(r"^Action \d+: Finish\[", text, re.MULTILINE))
    assert sum(e.steps[-1].action == "answer" for e in episodes) == finished
    actions = len(re.findall(r"^Action \d+:", text, re.MULTILINE))
    calls = calls_in(episodes)
    assert len(calls) == actions - finished
    assert all(result is not None for _, result in calls)
    positions = Counter(e.question_id for e in episodes)
    assert {(e.question_id, e.seed) for e in episodes} == {
        (name, k) for name, count in positions.items() for k in range(1, count + 1)
    }


def test_react_fever(shared_data: Locate) -> None:
    """250 episodes; em is the outcome; a refused Finish is no answer."""
    path = shared_data("trajectories/react_fever_250.jsonl")
    plain = [json.loads(line) for line in path.read_text().splitlines()]
    episodes = episodes_of(path)
    assert len(episodes) == len(plain) == 250
    assert [e.outcome.success for e in episodes] == [row["em"] == 1 for row in plain]
    assert [e.question for e in episodes] == [row["claim"] for row in plain]
    assert sum(len(e.steps) for e in episodes) == sum(len(row["steps"]) for row in plain)
    answered = sum(row["steps"][-1]["action"].startswith("Finish[") for row in plain)
    assert sum(e.steps[-1].action == "answer" for e in episodes) == answered
    assert [s.result for e in episodes for s in e.steps] == [
        step["observation"] for row in plain for step in row["steps"]
    ]


def test_swe_agent(shared_data: Locate) -> None:
    """As many steps as the trajectory (or the history) has actions; submit is the answer."""
    folder = shared_data("trajectories/swe_agent")
    for path in sorted(folder.iterdir()):
        (episode,) = episodes_of(path)
        document = json.loads(path.read_text())
        steps = document.get("trajectory") or [h for h in document["history"] if "action" in h]
        assert len(episode.steps) == sum(bool(step["action"].strip()) for step in steps)
        assert episode.steps[-1].action == "answer"
        assert episode.outcome.success is None
        assert episode.steps[0].time is None


def test_inspect(shared_data: Locate) -> None:
    """A sample without tools is an episode of 0 steps; results without calls are kept and noted."""
    archive = shared_data("trajectories/inspect/log_formats.eval")
    (episode,) = episodes_of(archive)
    names = [n for n in zipfile.ZipFile(archive).namelist() if n.startswith("samples/")]
    assert len(names) == 1
    assert (episode.steps, episode.outcome.success) == ([], False)
    assert any("no tool call" in note for note in episode.notes)
    log = shared_data("trajectories/inspect/log_tool_call_error.json")
    (episode,) = episodes_of(log)
    messages = json.loads(log.read_text())["samples"][0]["messages"]
    assert len(episode.steps) == len(messages) == 11
    errors = [message["error"]["type"] for message in messages]
    for step, kind in zip(episode.steps, errors, strict=True):
        assert step.result is not None and step.result.startswith(f"{kind} error:")
    assert any("11 result(s) without their call" in note for note in episode.notes)


def test_langsmith(shared_data: Locate) -> None:
    """Both payloads are a trace without tools, with its model, tokens and answer."""
    for path in sorted(shared_data("trajectories/langsmith").iterdir()):
        (episode,) = episodes_of(path)
        assert (episode.question, episode.steps) == ("howdy", [])
        assert episode.model == "gpt-4o-mini"
        assert any("no tool call" in note for note in episode.notes)


def sessions_of(folder: Path) -> list[dict[str, Any]]:
    """Return the lines of all files of the folder, by plain json."""
    texts = [path.read_text() for path in sorted(folder.iterdir())]
    return [json.loads(line) for text in texts for line in text.split("\n") if line.strip()]


def test_claude_code_lines_one_by_one(shared_data: Locate) -> None:
    """Every file is known as Claude Code; each gives its sessions or is named."""
    folder = shared_data("trajectories/claude_code")
    for path in sorted(folder.iterdir()):
        assert detect(path.read_bytes()[: 1 << 16], path.name).name == "claude-code"
        items = list(read(path))
        kinds = {json.loads(line)["type"] for line in path.read_text().split("\n") if line.strip()}
        if kinds & {"user", "assistant", "system"}:
            assert [type(item) for item in items] == [SearchEpisode]
        else:
            assert [type(item) for item in items] == [Skip]


def test_claude_code_sessions_composed(shared_data: Locate, tmp_path: Path) -> None:
    """All lines in one file: an episode a session or side chain, results with their calls."""
    lines = sessions_of(shared_data("trajectories/claude_code"))
    lines.sort(key=lambda line: line.get("timestamp", ""))
    path = tmp_path / "all.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines))
    episodes = episodes_of(path)
    spoken = [line for line in lines if line["type"] in ("user", "assistant", "system")]
    chains = {
        (line["sessionId"], line.get("agentId", "sidechain") if line["isSidechain"] else None)
        for line in spoken
    }
    assert len(episodes) == len(chains)
    used: set[str] = set()
    answered: set[str] = set()
    for line in spoken:
        content = line.get("message", {}).get("content")
        for block in content if isinstance(content, list) else []:
            if block["type"] == "tool_use":
                used.add(block["id"])
            if block["type"] == "tool_result":
                answered.add(block["tool_use_id"])
    calls = calls_in(episodes)
    assert len(calls) == len(used | answered)
    assert sum(result is not None for _, result in calls) == len(answered)


def test_verifier_votes(shared_data: Locate) -> None:
    """Valid is gold SUPPORTS, accept a verdict SUPPORTS; FEVER's undecided rows are left out."""
    for name, left_out in (("fever", True), ("vitaminc", False)):
        path = shared_data(f"votes/{name}_verifiers.jsonl")
        plain = [json.loads(line) for line in path.read_text().splitlines()]
        items = list(read(path))
        episodes = {item.question_id: item for item in items if isinstance(item, RepairEpisode)}
        kept = [r for r in plain if not left_out or r["expected"] != "NOT_ENOUGH_INFO"]
        assert len(items) == len(plain) == 500
        assert len(episodes) == len(kept)
        for row in kept:
            (step,) = episodes[str(row["id"])].steps
            assert step.votes == 2
            assert step.accepts == list(row["verdicts"].values()).count("SUPPORTS")
            assert step.valid is (row["expected"] == "SUPPORTS")


@pytest.mark.parametrize(
    "folder", ["trajectories", "votes", "repair_loops", "judged_useless", "gsm8k", "hotpotqa"]
)
def test_nothing_in_the_shared_folders_breaks_the_reading(shared_data: Locate, folder: str) -> None:
    """Every file of every folder is read or named; none raises."""
    items = list(read(shared_data(folder)))
    assert items
