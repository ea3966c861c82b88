"""Loads problems: the bundled sets, GSM8K, MATH-500, MBPP and BFCL. ``--task`` takes

- ``arithmetic`` (one or two calculations), ``puzzles`` (several), ``functions``, ``calls``, or
  ``bundled`` for all of them: problems that come with haltwise, nothing is downloaded;
- ``gsm8k:FILE``, ``math500:FILE``, ``mbpp:FILE``: a JSON or JSONL file, or without ``:FILE`` the
  data hub (extra ``hub``);
- ``bfcl_simple``, ``bfcl_multiple``, ``bfcl_parallel``: read out of the leaderboard's wheel, which
  is downloaded, checked by its hash and never installed (``:WHEEL`` names a local one).

Knows the file formats and which grader belongs to which data; ignorant of models and loops.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

from ...core.errors import InputError
from ..rows import Row, file_rows, hub_rows
from .grade import Grade
from .graders.calls import grade_calls
from .graders.code import grade_code
from .graders.mathematics import grade_mathematics
from .graders.number import answered_number, grade_number
from .problem import Problem, Task
from .prompts import NUMBERS
from .sandbox import Runner

NUMBER_FORM = (
    "Write one calculation a line and no other words, then the answer as a number alone on the "
    "last line."
)
MATHEMATICS_FORM = "Write your reasoning, then the answer inside \\boxed{}."
CODE_FORM = "Write the complete Python code in one fenced code block, without examples or tests."
CALLS_FORM = (
    "Write only the function calls needed, as a Python list with keyword arguments, "
    'such as [name(first=1, second="text")].'
)

BUNDLED = ("arithmetic", "puzzles", "functions", "calls")
"""Kinds of our own problems."""

HUB: dict[str, tuple[str, str | None, str]] = {
    "gsm8k": ("openai/gsm8k", "main", "test"),
    "math500": ("HuggingFaceH4/MATH-500", None, "test"),
    "mbpp": ("google-research-datasets/mbpp", "full", "test"),
}
"""Data set, configuration and split on the data hub, by task."""


def load_task(name: str, run: Runner | None = None) -> Task:
    """Return the task that ``--task`` names.

    Args:
        name: see the top of this file.
        run: the sandbox for tasks whose plans are programs.

    Raises:
        InputError: there is no such task or file, a problem in it cannot be read, or the data
            cannot be had.
    """
    kind, _, path = name.partition(":")
    if kind in (*BUNDLED, "bundled") and not path:
        return bundled(kind, run)
    if kind.startswith("bfcl_"):
        from .bfcl import bfcl_rows

        rows: Any = bfcl_rows(kind.removeprefix("bfcl_"), Path(path) if path else None)
        return _task("bfcl", kind, kind, rows, run)
    if kind not in HUB:
        known = ", ".join((*BUNDLED, "bundled", *HUB))
        bfcl = "bfcl_simple, bfcl_multiple, bfcl_parallel"
        raise InputError(f"there is no task {name!r}; known: {known}, {bfcl}")
    if path:
        return _task(kind, kind, path, file_rows(Path(path)), run)
    remedy = f"name a file: --task {kind}:FILE"
    return _task(kind, kind, HUB[kind][0], hub_rows(*HUB[kind], remedy=remedy), run)


def bundled(kind: str, run: Runner | None = None) -> Task:
    """Return the project's own problems: one kind of them, or all ("bundled")."""
    text = resources.files(__package__).joinpath("data/problems.json").read_text("utf-8")
    document = json.loads(text)
    kinds = BUNDLED if kind == "bundled" else (kind,)
    problems = [
        _READ[part](row, number)
        for part in kinds
        for number, row in enumerate(document[part], start=1)
    ]
    if kind != "bundled":
        return _task_of(kind, kind, problems, run)
    owner = {problem.problem_id: part for part in kinds for problem in bundled(part).problems}
    graders = {part: _grader(part, run) for part in kinds}
    return Task(
        "bundled",
        tuple(replace(p, hint=f"{p.hint}\n{_FORM[owner[p.problem_id]]}") for p in problems),
        "",
        lambda problem, plan: graders[owner[problem.problem_id]](problem, plan),
        needs_sandbox=True,
        claim=lambda problem, plan: _claim(owner[problem.problem_id], plan),
    )


def _task(kind: str, name: str, place: str, rows: Any, run: Runner | None) -> Task:
    problems: dict[str, Problem] = {}
    for number, row in enumerate(rows, start=1):
        try:
            problem = _READ[kind](row, number)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise InputError(
                f"{place}, problem {number}: not a {kind} problem ({type(error).__name__}: {error})"
            ) from error
        if problem.problem_id in problems:
            raise InputError(f"{place}, problem {number}: id {problem.problem_id!r} occurs twice")
        problems[problem.problem_id] = problem
    if not problems:
        raise InputError(f"{place}: it holds no problem")
    return _task_of(kind, name, problems.values(), run)


def _task_of(kind: str, name: str, problems: Iterable[Problem], run: Runner | None) -> Task:
    return Task(
        name,
        tuple(problems),
        _FORM[kind],
        _grader(kind, run),
        needs_sandbox=kind in ("mbpp", "functions"),
        claim=lambda problem, plan: _claim(kind, plan),
    )


def _claim(kind: str, plan: str) -> str:
    """Return the answer alone where it is a number: wrong calculations persuade verifiers."""
    number = answered_number(plan) if _FORM[kind] is NUMBER_FORM else None
    return plan if number is None else f"{number:f}"


def _grader(kind: str, run: Runner | None) -> Callable[[Problem, str], Grade]:
    if kind in ("mbpp", "functions"):
        return lambda problem, plan: _grade_program(problem, plan, run)
    if kind == "math500":
        return lambda problem, plan: grade_mathematics(plan, problem.reference)
    if kind in ("calls", "bfcl"):
        return lambda problem, plan: grade_calls(plan, *problem.reference)
    return lambda problem, plan: grade_number(plan, problem.reference)


def _grade_program(problem: Problem, plan: str, run: Runner | None) -> Grade:
    if run is None:
        raise InputError("grading programs runs them; pass a runner, see study.repair.sandbox")
    tests, setup = problem.reference
    return grade_code(program_in(plan), tests, run, setup=setup)


def program_in(plan: str) -> str:
    """Return the code in a plan: its longest fenced block, or all of it where none is fenced."""
    pieces = plan.split("```")
    if len(pieces) < 3:
        return plan
    block = max(pieces[1::2], key=len)
    first, _, rest = block.partition("\n")
    return rest if first.strip().isalnum() or not first.strip() else block


def _arithmetic(row: Row, number: int) -> Problem:
    name = str(row.get("id", number))
    return Problem(name, row["text"], row["answer"], examples=NUMBERS)


def _functions(row: Row, number: int) -> Problem:
    return Problem(str(row["id"]), row["text"], (row["tests"], ""))


def _calls(row: Row, number: int) -> Problem:
    functions = row["functions"]
    hint = "Functions on offer:\n" + "\n".join(json.dumps(item) for item in functions)
    return Problem(str(row["id"]), row["text"], (row["acceptable"], functions), hint)


def _gsm8k(row: Row, number: int) -> Problem:
    answer = row["answer"]
    if "####" not in answer:
        raise ValueError("the answer has no '####' line")
    reference = answer.rpartition("####")[2].strip()
    return Problem(f"gsm8k-{number}", row["question"], reference, examples=NUMBERS)


def _math500(row: Row, number: int) -> Problem:
    name = str(row.get("unique_id", f"math500-{number}"))
    return Problem(name, row["problem"], row["answer"])


def _mbpp(row: Row, number: int) -> Problem:
    tests = list(row["test_list"])
    # The examples are part of the statement, since they alone fix the function's name.
    text = f"{row['text']}\nIt must satisfy:\n{tests[0]}"
    return Problem(f"mbpp-{row['task_id']}", text, (tests, row.get("test_setup_code", "")))


_READ: dict[str, Callable[[Row, int], Problem]] = {
    "arithmetic": _arithmetic,
    "puzzles": _arithmetic,
    "functions": _functions,
    "calls": _calls,
    "bfcl": _calls,
    "gsm8k": _gsm8k,
    "math500": _math500,
    "mbpp": _mbpp,
}
_FORM = {
    "arithmetic": NUMBER_FORM,
    "puzzles": NUMBER_FORM,
    "functions": CODE_FORM,
    "calls": CALLS_FORM,
    "bfcl": CALLS_FORM,
    "gsm8k": NUMBER_FORM,
    "math500": MATHEMATICS_FORM,
    "mbpp": CODE_FORM,
}
