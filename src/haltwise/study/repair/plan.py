"""What a verify-repair study is going to do, fixed before it begins; its digest is in every record.

Knows what is asked for, not how it is run.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from typing import Any

from ...core.errors import InputError
from ...core.expression import parse_policy
from . import prompts
from .loop import RepairFrom, Setting, seeded
from .problem import Problem, Task
from .roles import Role

SCHEMA = "haltwise.repair-study-plan/1"
"""Value of ``schema`` in a study's ``study.json``."""

FULL = "full"
"""The arm that runs every round ungated, so that every rule can be replayed on it."""


@dataclass(frozen=True)
class Plan:
    """A study: problems x arms on one choice of models."""

    task: str
    """What `load_task` takes."""
    proposer: str
    """The model that makes the first plan, in Inspect's words."""
    verifier: str
    """The model that votes."""
    repairer: str
    """The model that repairs."""
    policies: tuple[str, ...] = ()
    """Rules to run gated, written out, each an arm of its own beside or instead of the record."""
    record: bool = True
    """Whether every round is recorded ungated as well."""
    votes: int = 8
    """M, votes on each plan."""
    rounds: int = 5
    """K, repairs at most."""
    verifiers: tuple[str, ...] = ("plain",)
    """Kinds of `prompts.VERIFY`."""
    repair: str = "revise"
    """Kind of `prompts.REPAIR`."""
    repair_from: str = "latest"
    """See `RepairFrom`; the ungated record always repairs the latest plan."""
    adaptive: bool = False
    """Buy votes one at a time; gated arms only."""
    mismatch: bool = False
    """Stress: the repairer sees a perturbed copy of the problem."""
    temperature: float = 0.7
    """Of proposals and repairs, from 0."""
    vote_temperature: float = 1.0
    """Of votes, from 0."""
    limit: int | None = None
    """Problems at most."""
    seed: int = 0
    sandbox: str = "bubblewrap"
    """How model-written code is run, see `haltwise.study.repair.sandbox`."""
    prompts: str = prompts.VERSION
    """Version of the prompts."""

    def __post_init__(self) -> None:
        if not self.policies and not self.record:
            raise InputError("nothing to run: give --policy, or --record full")
        if self.limit is not None and self.limit < 1:
            raise InputError(f"limit is at least 1; got {self.limit}")
        if self.temperature < 0 or self.vote_temperature < 0:
            raise InputError("temperatures are at least 0")

    @property
    def digest(self) -> str:
        """Twelve hexadecimal digits that change with anything in the plan."""
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms: `FULL` and the rules."""
        return (*((FULL,) if self.record else ()), *self.policies)

    @property
    def model(self) -> str:
        """What records call the models: one name where all three are the same."""
        names = {Role.PROPOSER: self.proposer, Role.VERIFIER: self.verifier}
        names[Role.REPAIRER] = self.repairer
        if len(set(names.values())) == 1:
            return self.proposer
        return ", ".join(f"{role.value} {name}" for role, name in names.items())

    def problems(self, task: Task) -> tuple[Problem, ...]:
        """Return the problems that are run, in the order of a hash of their ids.

        A limit takes a fair sample of any source, and a larger limit contains a smaller one.
        """
        ordered = sorted(task.problems, key=lambda item: seeded("order", item.problem_id))
        return tuple(ordered[: self.limit])

    def setting(self, arm: str, task: Task) -> Setting:
        """Return the setting of the episodes of an arm.

        Raises:
            InputError: the rule does not parse, or the numbers make no sense.
        """
        gated = arm != FULL
        return Setting(
            task=task,
            model=self.model,
            policy=parse_policy(arm, defaults={"rounds": self.rounds}) if gated else None,
            votes=self.votes,
            rounds=self.rounds,
            verifiers=self.verifiers,
            repairer=self.repair,
            repair_from=RepairFrom(self.repair_from) if gated else RepairFrom.LATEST,
            adaptive=self.adaptive and gated,
            mismatch=self.mismatch,
            temperature=self.temperature,
            vote_temperature=self.vote_temperature,
            seed=self.seed,
            plan=self.digest,
        )


def plan_from_json(document: dict[str, Any]) -> Plan:
    """Rebuild a plan from ``study.json``."""
    values = {item.name: document[item.name] for item in fields(Plan) if item.name in document}
    for name in ("policies", "verifiers"):
        if name in values:
            values[name] = tuple(values[name])
    return Plan(**values)
