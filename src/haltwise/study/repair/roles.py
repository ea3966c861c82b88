"""The three roles of a repair loop and the requests they send. Knows a model as a function only."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum

from ...core.events import Usage
from . import prompts
from .problem import Problem


class Role(StrEnum):
    """Who is asked."""

    PROPOSER = "proposer"
    VERIFIER = "verifier"
    REPAIRER = "repairer"


@dataclass(frozen=True, slots=True)
class Request:
    """One call to a model."""

    role: Role
    messages: tuple[tuple[str, str], ...]
    """(role, text) in order: system, examples as user and assistant turns, user."""
    n: int = 1
    """Answers wanted."""
    temperature: float = 0.0
    seed: int = 0
    max_tokens: int = 512
    words: tuple[str, ...] = ()
    """Where given, the exact probability that the answer begins with the first of them is wanted
    as well, if the model can tell."""
    subject: tuple[str, int] = ("", 0)
    """(problem, round), for scripted models; never shown to a real one."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back."""

    texts: tuple[str, ...]
    """The answers; fewer than asked for where some failed."""
    usage: Usage
    """What it cost; None inside for what the model did not tell."""
    probability: float | None = None
    """Exact probability of the first of `Request.words`; None where the model cannot tell."""


Ask = Callable[[Request], Awaitable[Reply]]
"""Sends a request to a model. Raises to end the episode; a failed vote is a missing text."""

YES, NO = "yes", "no"
_VERDICT = re.compile(r"verdict\s*[:=]?\s*\**\s*(yes|no)\b", re.IGNORECASE)
_WORD = re.compile(r"\W*(yes|no)\b", re.IGNORECASE)


def read_vote(text: str) -> bool | None:
    """Return whether a verifier's answer accepts, or None where it says neither.

    The last ``Verdict:`` counts; without any, the first word does.
    """
    found = _VERDICT.findall(text)
    if found:
        return str(found[-1]).lower() == YES
    match = _WORD.match(text)
    return None if match is None else match[1].lower() == YES


def propose(problem: Problem, form: str, *, temperature: float, seed: int) -> Request:
    """Return the request for the first plan."""
    system = prompts.PROPOSE.format(form=_form(problem, form))
    return Request(
        Role.PROPOSER,
        (("system", system), *_solved(problem, problem.text)),
        temperature=temperature,
        seed=seed,
        subject=(problem.problem_id, 0),
    )


def verify(
    problem: Problem, plan: str, kind: str, *, n: int, temperature: float, seed: int, round_: int
) -> Request:
    """Return the request for ``n`` votes on a plan by a verifier of a kind."""
    turns = [("system", prompts.VERIFY[kind])]
    for text, answer, check in prompts.SHOTS.get(kind, ()):
        turns += [
            ("user", prompts.CANDIDATE.format(problem=text, plan=answer)),
            ("assistant", check),
        ]
    turns.append(("user", prompts.CANDIDATE.format(problem=problem.text, plan=plan)))
    plain = kind == prompts.EXACT
    return Request(
        Role.VERIFIER,
        tuple(turns),
        n=n,
        temperature=temperature,
        seed=seed,
        max_tokens=4 if plain else 240,
        words=(YES, NO) if plain else (),
        subject=(problem.problem_id, round_),
    )


def repair(
    problem: Problem,
    shown: str,
    plan: str,
    kind: str,
    form: str,
    *,
    temperature: float,
    seed: int,
    round_: int,
) -> Request:
    """Return the request for the next plan.

    Args:
        problem: the problem.
        shown: the statement that the repairer sees: the problem's own, or a perturbed copy.
        plan: the plan to be repaired; ``restart`` does not show it.
        kind: "revise", "told_wrong" or "restart".
        form: how the task wants its answer written.
        temperature: of the sampling.
        seed: of the sampling.
        round_: the round of the new plan, from 1.
    """
    system = prompts.REPAIR[kind].format(form=_form(problem, form))
    turns = _solved(problem, shown) if kind == "restart" else _mended(problem, shown, plan, kind)
    return Request(
        Role.REPAIRER,
        (("system", system), *turns),
        temperature=temperature,
        seed=seed,
        subject=(problem.problem_id, round_),
    )


def _solved(problem: Problem, shown: str) -> list[tuple[str, str]]:
    """Return a problem as the last turn, after the examples of solved ones."""
    turns = []
    for text, _, answer in problem.examples:
        turns += [("user", prompts.PROBLEM.format(problem=text)), ("assistant", answer)]
    return [*turns, ("user", prompts.PROBLEM.format(problem=shown))]


def _mended(problem: Problem, shown: str, plan: str, kind: str) -> list[tuple[str, str]]:
    """Return a plan as the last turn, after the examples of mended ones.

    Who is told that the answer is wrong sees no example of a right one that stays.
    """
    turns = []
    for text, proposed, answer in problem.examples:
        if proposed != answer or kind != "told_wrong":
            first = prompts.CANDIDATE.format(problem=text, plan=proposed)
            turns += [("user", first), ("assistant", answer)]
    return [*turns, ("user", prompts.CANDIDATE.format(problem=shown, plan=plan))]


def _form(problem: Problem, form: str) -> str:
    return "\n".join(part for part in (problem.hint, form) if part)


def mismatched(text: str, seed: int) -> str:
    """Return a statement with one of its numbers changed: what a repairer under stress sees.

    The number is chosen and changed by ``seed`` alone. A statement without numbers loses its last
    sentence.
    """
    numbers = list(re.finditer(r"\d+", text))
    if not numbers:
        sentences = re.split(r"(?<=[.?!])\s+", text.strip())
        return " ".join(sentences[:-1]) or text[: len(text) // 2]
    match = numbers[seed % len(numbers)]
    changed = int(match[0]) + 1 + seed // len(numbers) % 5
    return f"{text[: match.start()]}{changed}{text[match.end() :]}"
