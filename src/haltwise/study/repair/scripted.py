"""Scripted proposer, verifier and repairer with known noise: for tests, dry runs and planning.

They know no language. A plan of theirs is the word "right" or "wrong"; what each of them does is
drawn by a hash of its request, so that equal requests get equal replies in any order. Records say
``haltwise/scripted`` as their model.
"""

from __future__ import annotations

from ...core.events import Usage
from ...core.expression import parse_policy
from ...core.noise import NoiseModel
from ...core.policies.random import uniform
from ...core.policies.vrr_stop import VrrStop
from .grade import Grade
from .loop import seeded
from .problem import Problem, Task
from .roles import Ask, Reply, Request, Role

RIGHT, WRONG = "right", "wrong"
NAME = "haltwise/scripted"
"""What records call these models."""


def scripted_task(problems: int) -> Task:
    """Return a task of numbered problems in which the plan "right" is valid."""
    return Task(
        "scripted",
        tuple(Problem(f"p-{i:05d}", f"Problem number {i}.", RIGHT) for i in range(problems)),
        "",
        lambda problem, plan: Grade(plan == RIGHT, f"the plan is {plan}"),
    )


def scripted(noise: NoiseModel) -> Ask:
    """Return models that follow ``noise``: its prior, its votes and its repairs."""

    async def ask(request: Request) -> Reply:
        if request.role is Role.VERIFIER:
            valid = _shown(request) == RIGHT
            rate = 1 - noise.rho1 if valid else noise.rho0
            texts = tuple(
                "Verdict: yes" if uniform(request.seed, vote) < rate else "Verdict: no"
                for vote in range(request.n)
            )
            return Reply(texts, _cost(request, texts), rate)
        if request.role is Role.PROPOSER:
            rate = noise.valid
        elif _shown(request) == RIGHT:
            rate = 1 - noise.beta_at(request.subject[1])
        else:
            rate = noise.alpha_at(request.subject[1])
        texts = (RIGHT if uniform(seeded(request.seed, request.role), 0) < rate else WRONG,)
        return Reply(texts, _cost(request, texts))

    return ask


def scripted_models(name: str) -> Ask:
    """Return the models that ``haltwise/scripted:noise(rho0=.3, ...)`` names.

    Raises:
        InputError: the noise does not parse.
    """
    rule = parse_policy(f"vrr_stop({name.removeprefix(NAME).removeprefix(':')})")
    assert isinstance(rule, VrrStop)
    return scripted(rule.noise)


def _shown(request: Request) -> str:
    """Return the plan in the last turn."""
    return request.messages[-1][1].rsplit("\n", 1)[-1]


def _cost(request: Request, texts: tuple[str, ...]) -> Usage:
    read = sum(len(text.split()) for _, text in request.messages)
    return Usage(1, read, sum(len(text.split()) for text in texts))
