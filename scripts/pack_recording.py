"""Packs the ungated episodes of studies into the recordings that `haltwise demo` analyses.

Keeps what the analysis needs: actions, verdicts, thoughts, answer-now branches, votes, truth,
outcomes, costs. The first line of the file says what was recorded: model, hash of its weights,
date, commands, plans.

    python scripts/pack_recording.py TARGET DATE STUDY...
"""

from __future__ import annotations

import gzip
import json
import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from haltwise.judges.weights import QWEN
from haltwise.record.episode import RepairEpisode, SearchEpisode
from haltwise.study.repair.study_folder import StudyFolder as RepairFolder
from haltwise.study.search.study_folder import StudyFolder as SearchFolder

TEXT = 200
"""Characters that are kept of a result or a plan."""


def pack(target: Path, date: str, studies: Sequence[Path]) -> int:
    """Write the recording of studies of one kind and return the number of its episodes."""
    documents = [json.loads((study / "study.json").read_text("utf-8")) for study in studies]
    repair = "repair" in documents[0]["schema"]
    episodes: list[Any] = []
    header: dict[str, Any] = {
        "schema": "haltwise.recording/2",
        "weights": QWEN.name,
        "sha256": QWEN.sha256,
        "date": date,
        "commands": [_without_folder(document["command"]) for document in documents],
        "plans": [document.get("digest") for document in documents],
    }
    for study in studies:
        if repair:
            episodes += _ungated(RepairFolder(study))
        else:
            folder = SearchFolder(study)
            header["judge_check"] = folder.read("judge_check.json")
            episodes += _of_whole_questions(folder)
    header |= {"model": episodes[0].model, "episodes": len(episodes)}
    lines = [json.dumps(header), *(msgspec.json.encode(e).decode() for e in episodes)]
    target.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), 9, mtime=0))
    return len(episodes)


def _of_whole_questions(folder: SearchFolder) -> list[SearchEpisode]:
    """Return the unaided episodes of the questions that have every regime."""
    episodes = [e for e in folder.episodes() if e.arm == "unaided"]
    have = Counter(e.question_id for e in episodes)
    return [
        msgspec.structs.replace(e, steps=[_cut(step, "result") for step in e.steps])
        for e in sorted(episodes, key=lambda e: (e.question_id, e.regime or ""))
        if have[e.question_id] == len(folder.plan().regimes)
    ]


def _ungated(folder: RepairFolder) -> list[RepairEpisode]:
    return [
        msgspec.structs.replace(e, steps=[_cut(step, "candidate") for step in e.steps])
        for e in sorted(folder.episodes(), key=lambda e: str(e.episode_id))
        if e.outcome.censored
    ]


def _without_folder(command: str) -> str:
    """Return a command line without the folder that it wrote to: it is nobody else's."""
    words = shlex.split(command)
    if "--out" in words:
        place = words.index("--out")
        del words[place : place + 2]
    return shlex.join(words)


def _cut(step: Any, field: str) -> Any:
    text = getattr(step, field)
    return msgspec.structs.replace(step, **{field: text and text[:TEXT]})


if __name__ == "__main__":
    _, to, day, *folders = sys.argv
    print(pack(Path(to), day, [Path(folder) for folder in folders]), "episodes")
