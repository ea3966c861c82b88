"""What the harness adds to the agent in each arm of the study. Data only.

METHODS section 1, "Arms".
"""

from __future__ import annotations

from dataclasses import dataclass

from ...core.errors import ParameterError
from ...core.policy import Combination, Policy
from . import prompts


@dataclass(frozen=True, slots=True)
class Tuned:
    """Values that are chosen on the dev split and used on the others."""

    k: int = 5
    """Useless results in a row at which the enforced rule fires, at least 1."""
    threshold: float = 0.25
    """Word overlap below which the lexical signal calls a result useless, in [0, 1]."""
    rate: float = 0.9
    """Rate at which the random signal says useless, in [0, 1]: the judge's own dev rate."""
    source: str | None = None
    """Where they were tuned; None where they are the defaults."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One condition of the harness."""

    name: str
    """What records call it."""
    memory: bool = False
    """Whether the agent is told that it may answer from memory."""
    extra: tuple[str, ...] = ()
    """Sentences at the end of the system text; ``{k}`` and ``{budget}`` are filled in."""
    remaining: bool = False
    """Whether the actions left stand under each result."""
    run: bool = False
    """Whether the run of useless results stands under each result; it needs live verdicts."""
    policy: str | None = None
    """Expression of the rule that is enforced; ``{k}`` and ``{budget}`` are filled in."""
    signal: str = "side_channel"
    """Where the rule's verdicts come from."""

    @property
    def tuned(self) -> tuple[str, ...]:
        """The values of `Tuned` that the arm uses."""
        if self.name == "enforced_lexical":
            return ("k", "threshold")
        if self.name == "enforced_random":
            return ("k", "rate")
        return ("k",) if "{k}" in f"{self.policy}{self.extra}" else ()

    def live(self, policy: Policy | None) -> bool:
        """Return whether the side channel must be asked while the episode runs."""
        enforced = policy is not None and needs_verdicts(policy)
        return self.run or (enforced and self.signal == "side_channel")


BLIND = ("calls", "deadline", "never", "random")
"""Rules that look at no verdict."""


def needs_verdicts(policy: Policy) -> bool:
    """Return whether any part of ``policy`` looks at verdicts."""
    if isinstance(policy, Combination):
        return any(needs_verdicts(part) for part in policy.parts)
    return policy.name not in BLIND


_BUDGET = (prompts.LIMIT,)
_RULE = "streak({k})"

ARMS = {
    arm.name: arm
    for arm in (
        Arm("unaided"),
        Arm("permit", memory=True),
        Arm("budget", memory=True, extra=_BUDGET, remaining=True),
        Arm("stated_rule", extra=(prompts.STATED_RULE,)),
        Arm("call_cost", extra=(prompts.CALL_COST,)),
        Arm("decide", run=True),
        Arm("enforced_rule", policy=_RULE),
        Arm("combo", memory=True, extra=_BUDGET, remaining=True, policy=_RULE),
        Arm("enforced_random", policy=_RULE, signal="random"),
        Arm("enforced_lexical", policy=_RULE, signal="lexical"),
        Arm("enforced_stated", policy=_RULE, signal="stated"),
        Arm("deadline", policy="deadline({budget})"),
    )
}
"""Every arm by its name, in the order in which reports show them."""


def policy_arm(expression: str) -> Arm:
    """Return the arm that enforces a policy given by its expression, or by its file's name."""
    return Arm(f"policy: {expression}", policy=expression.replace("{", "{{").replace("}", "}}"))


def arm_named(name: str) -> Arm:
    """Return an arm by the name that records use.

    Raises:
        ParameterError: there is no such arm.
    """
    if name in ARMS:
        return ARMS[name]
    if name.startswith("policy: "):
        return policy_arm(name.removeprefix("policy: "))
    raise ParameterError(f"there is no arm {name!r}; there are {', '.join(ARMS)}")
