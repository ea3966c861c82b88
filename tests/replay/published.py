"""The published unaided episodes as our episodes, read here without the package's own reader."""

from __future__ import annotations

import json
from pathlib import Path

from haltwise.record.episode import Outcome, SearchEpisode, SearchStep


def published_episodes(path: Path) -> list[SearchEpisode]:
    """Return the episodes of the judged-useless format."""
    episodes = []
    for number, line in enumerate(path.read_text().splitlines()):
        row = json.loads(line)
        steps = []
        for t, action in enumerate(row["actions"], start=1):
            if action == "finish":
                steps.append(SearchStep(t=t, action="answer"))
            else:
                verdict = row["judgments"][t - 1].lower()
                steps.append(SearchStep(t=t, action=action, verdicts={"recorded": verdict}))
        episodes.append(
            SearchEpisode(
                episode_id=str(number),
                cluster_id=row["question_id"],
                question_id=row["question_id"],
                regime=row["regime"],
                steps=steps,
                outcome=Outcome(success=row["success"]),
            )
        )
    return episodes
