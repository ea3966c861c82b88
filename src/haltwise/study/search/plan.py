"""What a study is going to do, fixed before it begins; its digest is in every record.

Knows what is asked for, not how it is run. ``--plan plan.toml`` adds what is to be shown:
hypotheses, the primary endpoint and the margin; they are part of the digest, so that they cannot be
changed afterwards without a trace.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from ...core.errors import InputError
from ...core.expression import parse_policy
from ...core.policy import Policy
from ...record.policy_file import load_policy
from . import prompts
from .agent import Record, Setting
from .arms import ARMS, Tuned, arm_named
from .graders import GRADERS
from .probes import Judge
from .protocols import PROTOCOLS
from .question import SPLITS, Question, Task, hashed
from .regimes import fails

SCHEMA = "haltwise.search-study-plan/1"
"""Value of ``schema`` in a study's ``study.json``."""
REASONING = ("on", "off")
MARGIN = 0.05
"""Non-inferiority margin where the plan names none, in points of success from 0 to 1."""


@dataclass(frozen=True)
class Registered:
    """What is to be shown, written down before the run."""

    primary: str = "mean6"
    """The primary endpoint: "mean6", "utility" or the name of a regime."""
    margin: float = MARGIN
    """Non-inferiority margin, in points of success from 0 to 1."""
    hypotheses: tuple[str, ...] = ()
    """Arms that are expected to beat unaided at the primary endpoint; one family for Holm."""
    text: str = ""
    """Anything else that the plan says."""


@dataclass(frozen=True)
class Plan:
    """A study: a grid of arms x regimes x questions on one model."""

    model: str
    """The model in Inspect's words, such as "haltwise/embedded"."""
    task: str
    """What `load_task` takes."""
    arms: tuple[str, ...]
    """Names of arms; "policy: EXPRESSION" for rules of one's own."""
    regimes: tuple[str, ...]
    budget: int = 8
    """Actions an episode, the answer included."""
    split: str | None = "test"
    """dev, test or fresh; None for the whole task."""
    repeats: int = 1
    """Episodes of each arm, regime and question; the seed goes up by one."""
    price: float = 0.05
    """What one call of a tool costs in units of one right answer, for utilities."""
    protocol: str = "react"
    reasoning: str | None = None
    """"on", "off" or None: as the provider does by default."""
    limit: int | None = None
    """Questions at most."""
    seed: int = 0
    record: str = "verdicts"
    """See `haltwise.study.search.agent.Record`."""
    grader: str | None = None
    """Name of a grader; None for the task's own."""
    tuned: Tuned = field(default_factory=Tuned)
    max_tokens: int = 400
    """Longest turn, in tokens."""
    prompts: str = prompts.VERSION
    """Version of the prompts."""
    policies: dict[str, str] = field(default_factory=dict)
    """The rule of each policy arm, written out, so that a file it came from may change or go."""
    registered: Registered = field(default_factory=Registered)

    def __post_init__(self) -> None:
        for name in self.arms:
            arm_named(name)
        for regime in self.regimes:
            fails(regime, 1)
        _one_of("protocol", self.protocol, tuple(PROTOCOLS))
        _one_of("record", self.record, tuple(Record))
        for name, value, known in (
            ("split", self.split, SPLITS),
            ("reasoning", self.reasoning, REASONING),
            ("grader", self.grader, tuple(GRADERS)),
        ):
            if value is not None:
                _one_of(name, value, known)
        for name in ("budget", "repeats", "limit"):
            value = getattr(self, name)
            least = 2 if name == "budget" else 1
            if value is not None and value < least:
                raise InputError(f"{name} is at least {least}; got {value}")
        if not self.arms or not self.regimes:
            raise InputError("a study needs at least one arm and one regime")
        if self.protocol == "search-r1" and "backup_tool" in self.regimes:
            raise InputError(
                "the protocol search-r1 has one tool only; leave out --regime backup_tool"
            )

    @property
    def digest(self) -> str:
        """Twelve hexadecimal digits that change with anything in the plan."""
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def questions(self, task: Task) -> tuple[Question, ...]:
        """Return the questions that are run.

        Raises:
            InputError: the split holds none.
        """
        chosen = task.part(self.split, self.limit)
        if not chosen:
            raise InputError(f"the split {self.split} of {self.task} holds no question")
        return chosen

    def seeds(self) -> range:
        """Return the seed of each repeat."""
        return range(self.seed, self.seed + self.repeats)

    def episodes(self, task: Task) -> int:
        """Return how many episodes the study has."""
        grid = len(self.arms) * len(self.regimes) * self.repeats
        return grid * len(self.questions(task))

    def policy(self, arm: str) -> Policy | None:
        """Return the rule that an arm enforces, or None.

        Raises:
            InputError: the expression does not parse, or a file cannot be read.
        """
        if arm in self.policies:
            return parse_policy(self.policies[arm])
        expression = arm_named(arm).policy
        if expression is None:
            return None
        return search_policy(expression.format(k=self.tuned.k, budget=self.budget))

    def setting(self, arm: str, task: Task, seed: int, judge: Judge = Judge()) -> Setting:  # noqa: B008
        """Return the setting of an episode; ``judge`` is what the judge's check left."""
        return Setting(
            arm=arm_named(arm),
            policy=self.policy(arm),
            protocol=PROTOCOLS[self.protocol],
            kind=task.kind,
            grade=GRADERS[self.grader or task.grader],
            model=self.model,
            budget=self.budget,
            record=Record(self.record),
            tuned=self.tuned,
            seed=seed,
            plan=self.digest,
            max_tokens=self.max_tokens,
            judge=judge,
        )


def search_policy(text: str) -> Policy:
    """Return the policy of an expression or a policy file, which must be one for search loops.

    Raises:
        InputError: it does not parse, cannot be read, or is for repair loops.
    """
    policy = load_policy(text)
    if policy.kind == "repair":
        raise InputError(f"{text} is for repair loops; a search study takes rules like streak(5)")
    return policy


def needs_tuning(plan: Plan) -> tuple[str, ...]:
    """Return the values that the plan uses off the dev split without having tuned them."""
    if plan.split == "dev" or plan.tuned.source is not None:
        return ()
    used = {name for arm in plan.arms if arm in ARMS for name in ARMS[arm].tuned}
    return tuple(sorted(used))


def plan_from_json(document: dict[str, Any]) -> Plan:
    """Rebuild a plan from ``study.json``."""
    values = {item.name: document[item.name] for item in fields(Plan) if item.name in document}
    registered = dict(values.pop("registered", {}))
    registered["hypotheses"] = tuple(registered.get("hypotheses", ()))
    return Plan(
        **{
            **values,
            "arms": tuple(values["arms"]),
            "regimes": tuple(values["regimes"]),
            "tuned": Tuned(**values.get("tuned", {})),
            "registered": Registered(**registered),
        }
    )


def read_registered(path: Path) -> Registered:
    """Read ``--plan``: TOML with primary, margin, hypotheses, text, all of them optional.

    Raises:
        InputError: the file cannot be read, or holds something else.
    """
    document = _toml(path)
    known = {item.name for item in fields(Registered)}
    unknown = sorted(set(document) - known)
    if unknown:
        raise InputError(f"{path}: {unknown[0]!r} is not known; known are {', '.join(known)}")
    document["hypotheses"] = tuple(document.get("hypotheses", ()))
    for name in document["hypotheses"]:
        arm_named(name)
    margin = document.get("margin", MARGIN)
    if not isinstance(margin, (int, float)) or not 0 < margin < 1:
        raise InputError(f"{path}: margin is a number between 0 and 1; got {margin!r}")
    return Registered(**document)


def read_tuned(path: Path) -> Tuned:
    """Read the file that ``haltwise study tune`` writes.

    Raises:
        InputError: the file cannot be read, or a value is missing.
    """
    document = _toml(path)
    try:
        values = {"k": document["k"], "threshold": document["threshold"], "rate": document["rate"]}
    except KeyError as error:
        raise InputError(
            f"{path}: {error.args[0]} is missing; type: haltwise study tune DIR -o {path}"
        ) from error
    return Tuned(**values, source=f"tuned {hashed(json.dumps(document, sort_keys=True)):016x}")


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not TOML ({error})") from error


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise InputError(f"{name} is one of {', '.join(known)}; got {value!r}")
