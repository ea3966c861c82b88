"""Packs the unaided episodes of a study into the recording that `haltwise demo` analyses.

Keeps what the analysis needs: actions, verdicts, thoughts, answer-now branches, outcomes, costs.
The first line of the file says what was recorded: model, hash of its weights, date, command, plan.

    python scripts/pack_recording.py STUDY src/haltwise/study/search/data/recording.jsonl.gz
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import msgspec

from haltwise.judges.weights import QWEN
from haltwise.study.search.study_folder import StudyFolder

RESULT = 200
"""Characters that are kept of a result."""


def pack(study: Path, target: Path) -> int:
    """Write the recording and return the number of its episodes."""
    folder = StudyFolder(study)
    document = folder.read("study.json") or {}
    episodes = sorted(folder.episodes(), key=lambda e: (e.question_id, e.regime or ""))
    complete = _complete([e for e in episodes if e.arm == "unaided"], len(folder.plan().regimes))
    header: dict[str, Any] = {
        "schema": "haltwise.recording/1",
        "model": folder.plan().model,
        "weights": QWEN.name,
        "sha256": QWEN.sha256,
        "date": sys.argv[3] if len(sys.argv) > 3 else None,
        "command": document.get("command"),
        "plan": document.get("digest"),
        "judge_check": folder.read("judge_check.json"),
        "episodes": len(complete),
    }
    lines = [json.dumps(header)]
    for episode in complete:
        steps = [
            msgspec.structs.replace(step, result=step.result and step.result[:RESULT])
            for step in episode.steps
        ]
        kept = msgspec.structs.replace(episode, steps=steps)
        lines.append(msgspec.json.encode(kept).decode())
    data = ("\n".join(lines) + "\n").encode()
    target.write_bytes(gzip.compress(data, 9, mtime=0))
    return len(complete)


def _complete(episodes: list[Any], regimes: int) -> list[Any]:
    """Return the episodes of questions that have every regime."""
    have: dict[str, int] = {}
    for episode in episodes:
        have[episode.question_id] = have.get(episode.question_id, 0) + 1
    return [episode for episode in episodes if have[episode.question_id] == regimes]


if __name__ == "__main__":
    print(pack(Path(sys.argv[1]), Path(sys.argv[2])), "episodes")
