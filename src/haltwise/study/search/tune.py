"""Chooses k, the lexical threshold and the random rate on dev episodes. Asks no model.

METHODS section 1: the threshold by balanced accuracy against what the results really were, the rate
as the judge's own rate of useless verdicts, k by replay on the unaided episodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.errors import InputError
from ...core.events import Verdict
from ...core.policies import UselessStreak
from ...record.episode import SearchEpisode
from ...replay.outcome import search_outcomes
from ...replay.search import search_firing, search_table
from ...signals.lexical import overlap, says_nothing_found
from .agent import TRUTH
from .analyze import JUDGE
from .study_folder import StudyFolder
from .tasks import load_task

THRESHOLDS = tuple(round(0.05 * step, 2) for step in range(1, 20))
"""Lexical thresholds that are tried."""


@dataclass(frozen=True)
class Tuning:
    """What was chosen, and how every choice did."""

    k: int
    threshold: float
    rate: float
    by_k: dict[int, float]
    """Utility of the rule by replay, for each k."""
    by_threshold: dict[float, float]
    """Balanced accuracy of the lexical signal, for each threshold."""
    episodes: int
    """Unaided dev episodes."""
    digest: str
    """Digest of the study's plan."""

    def to_toml(self) -> str:
        """Return the file that ``--tuned`` takes."""
        rows = [
            "# Written by haltwise study tune.",
            f"k = {self.k}",
            f"threshold = {self.threshold}",
            f"rate = {self.rate}",
            f"episodes = {self.episodes}",
            f'plan = "{self.digest}"',
        ]
        return "\n".join(rows) + "\n"

    def to_json(self) -> dict[str, Any]:
        """Return the tuning as one JSON document."""
        return {
            "schema": "haltwise.search-tuning/1",
            "k": self.k,
            "threshold": self.threshold,
            "rate": self.rate,
            "by_k": {str(k): value for k, value in self.by_k.items()},
            "by_threshold": {str(t): value for t, value in self.by_threshold.items()},
            "episodes": self.episodes,
            "plan": self.digest,
            "skipped": [],
        }


def tune(folder: StudyFolder) -> Tuning:
    """Choose the values on the unaided episodes of a dev study.

    Raises:
        InputError: the study is not one of dev questions, or lacks what is needed.
    """
    plan = folder.plan()
    if plan.split != "dev":
        raise InputError(
            f"{folder.path} is a study of {plan.split or 'all'} questions; values are tuned on dev "
            "questions alone: run it with --split dev"
        )
    episodes = [episode for episode in folder.episodes() if episode.arm == "unaided"]
    if not any(step.answer_now for episode in episodes for step in episode.steps):
        raise InputError(
            f"{folder.path} has no unaided episodes with answer-now branches; run it with "
            "--arm unaided --record branches"
        )
    task = load_task(plan.task)
    questions = {question.question_id: question.text for question in task.questions}
    by_k = _by_k(episodes, plan.budget, plan.price)
    by_threshold = _by_threshold(episodes, questions)
    verdicts = [
        step.verdicts[JUDGE]
        for episode in episodes
        for step in episode.steps
        if JUDGE in step.verdicts
    ]
    rate = sum(verdict is Verdict.USELESS for verdict in verdicts) / len(verdicts)
    return Tuning(
        k=max(by_k, key=lambda k: (by_k[k], -k)),
        threshold=max(by_threshold, key=lambda t: (by_threshold[t], -abs(t - 0.25))),
        rate=round(rate, 4),
        by_k=by_k,
        by_threshold=by_threshold,
        episodes=len(episodes),
        digest=plan.digest,
    )


def _by_k(episodes: Sequence[SearchEpisode], budget: int, price: float) -> dict[int, float]:
    table = search_table(episodes)
    found = {}
    for k in range(1, budget):
        outcomes = search_outcomes(table, search_firing(UselessStreak(k), table), price)
        found[k] = float(np.nanmean(outcomes.utility))
    return found


def _by_threshold(
    episodes: Sequence[SearchEpisode], questions: dict[str, str]
) -> dict[float, float]:
    """Return balanced accuracy: the mean of the rates right on supporting and on failed results."""
    shares: dict[Verdict, list[float]] = {Verdict.USEFUL: [], Verdict.USELESS: []}
    for episode in episodes:
        for step in episode.steps:
            truth = step.verdicts.get(TRUTH)
            if truth in shares and step.result is not None:
                nothing = says_nothing_found(step.result)
                share = 0.0 if nothing else overlap(questions[episode.question_id], step.result)
                shares[truth].append(share)
    useful, useless = (np.array(shares[kind]) for kind in (Verdict.USEFUL, Verdict.USELESS))
    if not len(useful) or not len(useless):
        raise InputError(
            "the lexical threshold needs failed and supporting results; run the dev study with "
            "--regime mean6"
        )
    return {t: float(((useful >= t).mean() + (useless < t).mean()) / 2) for t in THRESHOLDS}
