"""Everything that a finished study says, as one record. Asks no model; ignorant of terminals.

By arm: the audit of its episodes (success by regime, mean6, contrast with its cells, hazard slope,
answers after a run), utilities, answer positions, judge quality. Between arms: comparisons. Verdict
figures are withheld where the judge does not pass its validity gate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from ...audit.result import Audit, audit
from ...audit.tally import Tally
from ...core.errors import InputError
from ...core.events import Verdict
from ...record.episode import SearchEpisode
from ...record.outline import batch, outline_of
from ...signals.stated import verdict_in
from ...stats.estimate import Estimate, undefined
from .answers import repaired
from .comparisons import Comparison, adjusted, compare, equal_weights, success, utility
from .graders import GRADERS
from .plan import Plan
from .quality import (
    EXPLICIT_NEEDED,
    Calibration,
    Labelled,
    Quality,
    agreement,
    calibration,
    explicit,
    quality,
)
from .question import Task
from .replay_check import ReplayCheck, replay_check
from .study_folder import StudyFolder
from .tasks import load_task

SCHEMA = "haltwise.search-study/1"
JUDGE = "side_channel"
SOURCES = (JUDGE, "lexical", "stated")
"""Verdict sources whose quality is reported."""


@dataclass(frozen=True)
class ArmAnalysis:
    """One arm."""

    audit: Audit
    utility: Estimate
    """Success - price x tool calls, mean over regimes."""
    utility_with_judge: Estimate
    """The same with side-channel calls priced."""
    repaired: Estimate
    """Success after cleaning answers that echo the form: a sensitivity analysis."""
    positions: dict[str, int]
    """Episodes by the position of their answer; "none" without one."""
    usage: dict[str, dict[str, int]]
    """Calls and tokens by role."""
    quality: dict[str, Quality]
    explicit: Estimate
    calibration: Calibration | None

    def to_json(self) -> dict[str, Any]:
        """Return the arm as a JSON object; verdict figures of an invalid judge are null."""
        done, withheld = self.audit, self.quality[JUDGE].withheld
        after = [row.to_json() for row in done.after_run]
        return {
            "episodes": done.episodes,
            "success": {regime: e.to_json() for regime, e in done.success.items()},
            "mean6": done.mean6.to_json(),
            "utility": self.utility.to_json(),
            "utility_with_judge": self.utility_with_judge.to_json(),
            "repaired_success": self.repaired.to_json(),
            "calls": done.calls.to_json(),
            "contrast": undefined(withheld).to_json() if withheld else done.contrast.to_json(),
            "hazard_slope": undefined(withheld).to_json()
            if withheld
            else done.hazard_slope.to_json(),
            "after_run": [] if withheld else after,
            "answer_positions": {str(done.budget): self.positions},
            "judge": {source: found.to_json() for source, found in self.quality.items()},
            "stated_explicit": {
                **self.explicit.to_json(),
                "applicable": self.explicit.defined and self.explicit.value >= EXPLICIT_NEEDED,
            },
            "belief_calibration": self.calibration.to_json() if self.calibration else None,
            "usage": self.usage,
        }


@dataclass(frozen=True)
class StudyAnalysis:
    """A study."""

    plan: Plan
    arms: dict[str, ArmAnalysis]
    comparisons: list[Comparison]
    replayed: list[ReplayCheck]
    judge_check: dict[str, Any] | None
    stated_patterns: tuple[int, int]
    """Agreeing and all hand-labelled thoughts."""
    kept: str
    """Why the plan was not kept; empty where it was."""
    notes: list[str]

    def to_json(self) -> dict[str, Any]:
        """Return the analysis as one JSON document."""
        registered = self.plan.registered
        agreeing, every = self.stated_patterns
        return {
            "schema": SCHEMA,
            "model": self.plan.model,
            "task": self.plan.task,
            "plan": {
                "digest": self.plan.digest,
                "kept": not self.kept,
                "note": self.kept,
                "primary": registered.primary,
                "margin": registered.margin,
                "hypotheses": list(registered.hypotheses),
                "text": registered.text,
                "price": self.plan.price,
                "budget": self.plan.budget,
                "protocol": self.plan.protocol,
                "prompts": self.plan.prompts,
                "tuned": self.plan.tuned.source,
            },
            "arms": {name: arm.to_json() for name, arm in self.arms.items()},
            "comparisons": [comparison.to_json() for comparison in self.comparisons],
            "replay_check": [check.to_json() for check in self.replayed],
            "judge_check": self.judge_check,
            "stated_patterns": {"agree": agreeing, "labelled": every},
            "notes": self.notes,
            "skipped": [],
        }


def analyze(folder: StudyFolder, *, replicates: int = 2000, seed: int = 0) -> StudyAnalysis:
    """Analyse the study in a folder, finished or not.

    Raises:
        InputError: the folder holds no study, or no finished episode.
    """
    plan = folder.plan()
    task = load_task(plan.task)
    episodes = list(folder.episodes())
    if not episodes:
        raise InputError(f"{folder.path} holds no finished episode yet")
    by_arm = {arm: [e for e in episodes if e.arm == arm] for arm in plan.arms}
    by_arm = {arm: found for arm, found in by_arm.items() if found}
    arms = {
        arm: _arm(found, plan, task, replicates=replicates, seed=seed)
        for arm, found in by_arm.items()
    }
    agreeing, every, _ = agreement(stated_labels(), verdict_in)
    return StudyAnalysis(
        plan=plan,
        arms=arms,
        comparisons=_comparisons(by_arm, plan, replicates, seed),
        replayed=_replayed(by_arm, plan),
        judge_check=folder.read("judge_check.json"),
        stated_patterns=(agreeing, every),
        kept=_kept(episodes, plan, task),
        notes=_notes(plan, arms),
    )


def tally_of(episodes: Sequence[SearchEpisode], source: str) -> Tally:
    """Return the audit's tally of episodes with the verdicts of one source."""
    tally = Tally()
    held = [(i, e, outline_of(e, source)) for i, e in enumerate(episodes, start=1)]
    tally.add(batch(held))
    return tally


def stated_labels() -> list[Labelled]:
    """Return the hand-labelled thoughts that come with haltwise."""
    from importlib import resources

    text = resources.files(__package__).joinpath("data/stated_labels.jsonl").read_text("utf-8")
    rows = [msgspec.json.decode(line) for line in text.splitlines()]
    return [Labelled(row["thought"], Verdict(row["label"])) for row in rows]


def _arm(
    episodes: list[SearchEpisode], plan: Plan, task: Task, *, replicates: int, seed: int
) -> ArmAnalysis:
    answers = {question.question_id: question.answer for question in task.questions}
    grade = GRADERS[plan.grader or task.grader]

    def cleaned(episode: SearchEpisode) -> float:
        if episode.outcome.answer is None:
            return 0.0
        return float(grade(repaired(episode.outcome.answer), answers[episode.question_id]))

    def weighted(value: Any) -> Estimate:
        return equal_weights(episodes, value, replicates=replicates, seed=seed)

    return ArmAnalysis(
        audit=audit(
            tally_of(episodes, JUDGE),
            k=min(plan.tuned.k, plan.budget - 1),
            budget=plan.budget,
            replicates=replicates,
            seed=seed,
        ),
        utility=weighted(utility(plan.price, judge=False)),
        utility_with_judge=weighted(utility(plan.price, judge=True)),
        repaired=weighted(cleaned),
        positions=_positions(episodes),
        usage=_usage(episodes),
        quality={source: quality(episodes, source) for source in SOURCES},
        explicit=explicit(episodes),
        calibration=calibration(episodes),
    )


def _positions(episodes: Sequence[SearchEpisode]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for episode in episodes:
        answered = bool(episode.steps) and episode.steps[-1].action == "answer"
        found[str(episode.steps[-1].t) if answered else "none"] += 1
    return dict(sorted(found.items()))


def _usage(episodes: Sequence[SearchEpisode]) -> dict[str, dict[str, int]]:
    sums: dict[str, dict[str, int]] = {}
    for episode in episodes:
        for role, usage in episode.usage_by_role.items():
            row = sums.setdefault(role, {"calls": 0, "input_tokens": 0, "output_tokens": 0})
            for name in row:
                row[name] += getattr(usage, name) or 0
    return sums


def _comparisons(
    by_arm: dict[str, list[SearchEpisode]], plan: Plan, replicates: int, seed: int
) -> list[Comparison]:
    margin = plan.registered.margin
    options: dict[str, Any] = {"margin": margin, "replicates": replicates, "seed": seed}
    others = [arm for arm in by_arm if arm != "unaided"]
    found: list[Comparison] = []
    if "unaided" in by_arm:
        named = plan.registered.hypotheses
        family = [arm for arm in others if not named or arm in named]
        rest = [arm for arm in others if arm not in family]
        against = by_arm["unaided"]
        found += adjusted(compare(by_arm[arm], against, **options) for arm in family)
        found += [compare(by_arm[arm], against, **options) for arm in rest]
        worth = utility(plan.price, judge=False)
        found += [
            compare(by_arm[arm], against, value=worth, endpoint="utility", **options)
            for arm in others
        ]
    if "enforced_random" in by_arm:
        control = by_arm["enforced_random"]
        rules = ("enforced_rule", "enforced_lexical", "enforced_stated")
        found += [compare(by_arm[arm], control, **options) for arm in rules if arm in by_arm]
    return found


def _replayed(by_arm: dict[str, list[SearchEpisode]], plan: Plan) -> list[ReplayCheck]:
    unaided = by_arm.get("unaided", [])
    checks = []
    for arm, episodes in by_arm.items():
        policy = plan.policy(arm)
        if policy is not None and arm in ("enforced_rule", "deadline", *plan.policies):
            check = replay_check(unaided, episodes, policy)
            checks += [check] if check is not None else []
    return checks


def _kept(episodes: Sequence[SearchEpisode], plan: Plan, task: Task) -> str:
    foreign = sum(episode.plan != plan.digest for episode in episodes)
    if foreign:
        return f"{foreign} episodes were run under another plan"
    missing = plan.episodes(task) - len(episodes)
    return f"{missing} of {plan.episodes(task)} episodes are missing" if missing > 0 else ""


def _notes(plan: Plan, arms: dict[str, ArmAnalysis]) -> list[str]:
    notes = [
        f"{arm}: {found.quality[JUDGE].withheld}"
        for arm, found in arms.items()
        if found.quality[JUDGE].withheld
    ]
    if plan.model.startswith("haltwise/scripted:"):
        notes.append("a scripted model acted: these figures say nothing about any real model")
    if plan.split != "dev" and plan.tuned.source is None:
        notes.append("k, threshold and rate were not tuned on dev questions")
    return notes


__all__ = ["ArmAnalysis", "StudyAnalysis", "analyze", "stated_labels", "success", "tally_of"]
