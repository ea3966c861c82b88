"""Graders against their references: published answers match, broken ones do not."""

from __future__ import annotations

import ast
import json
import random
import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haltwise.study.repair.graders.calls import grade_calls, read_calls
from haltwise.study.repair.graders.code import grade_code
from haltwise.study.repair.graders.mathematics import grade_mathematics
from haltwise.study.repair.graders.number import grade_number, last_number
from haltwise.study.repair.sandbox import Limits, SandboxError, runner
from haltwise.study.repair.tasks import BUNDLED, bundled, load_task, program_in

Shared = Callable[[str], Path]


@given(
    st.decimals(
        allow_nan=False, allow_infinity=False, places=2, min_value=-(10**9), max_value=10**9
    )
)
def test_a_printed_number_is_read_back(number: Decimal) -> None:
    """Whatever number ends the text is the answer, thousands commas or not."""
    assert last_number(f"First 7, then = {number}") == number
    assert last_number(f"so it is ${number:,}.") == number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("10-4", 4),
        ("5 - 3", 3),
        ("it falls to -5 degrees", -5),
        ("x=-3", -3),
        ("= <<48/2=24>>24 clips", 24),
        ("1,234.50 dollars", Decimal("1234.5")),
        ("in 2 of 3 rooms.", 3),
        ("no digits", None),
        ("", None),
    ],
)
def test_the_last_number_of_a_text(text: str, number: Any) -> None:
    """Signs, annotations, commas and full stops are read as a person reads them."""
    assert last_number(text) == number


def test_a_boxed_number_is_the_answer() -> None:
    """What stands in the last box counts, whatever numbers the sentence goes on with."""
    assert grade_number(r"Therefore, Mira has \boxed{7} 50-cent coins.", "7").valid
    assert not grade_number(r"\boxed{7}, no: \boxed{8}", "7").valid
    assert grade_number("She has 7", "7").valid


def test_gsm8k_solutions_are_graded_as_published(shared_data: Shared) -> None:
    """All 2,000 recorded solutions of four systems get the grade that was published with them."""
    path = shared_data("gsm8k/example_model_solutions_500.jsonl")
    disagreements, graded = [], 0
    for number, line in enumerate(path.read_text().splitlines()):
        row = json.loads(line)
        for system, solution in row.items():
            if isinstance(solution, dict):
                graded += 1
                grade = grade_number(solution["solution"], row["ground_truth"])
                if grade.valid != solution["is_correct"]:
                    disagreements.append((number, system, grade.why))
    assert graded == 2000
    assert disagreements == []


def perturbed(answer: str) -> str:
    """Return an answer that is certainly another one: a changed digit, or another word."""
    digit = re.search(r"\d", answer)
    if digit is None:
        return r"\text{none of these}" if "text" in answer else answer + "+1"
    changed = str((int(digit[0]) + 1) % 9 + 1)
    return answer[: digit.start()] + changed + answer[digit.end() :]


def test_math500_answers_match_themselves(shared_data: Shared) -> None:
    """Every one of the 500 gold answers equals itself inside a boxed sentence."""
    rows = [json.loads(x) for x in shared_data("math500/math500.jsonl").read_text().splitlines()]
    wrong = [
        (row["answer"], grade.why)
        for row in rows
        if not (
            grade := grade_mathematics(f"So it is \\boxed{{{row['answer']}}}.", row["answer"])
        ).valid
    ]
    assert len(rows) == 500
    assert wrong == []


def test_math500_perturbed_answers_do_not_match(shared_data: Shared) -> None:
    """Two hundred gold answers with one digit or word changed are all refused."""
    rows = [json.loads(x) for x in shared_data("math500/math500.jsonl").read_text().splitlines()]
    passed = [
        (row["answer"], perturbed(row["answer"]))
        for row in rows[:200]
        if grade_mathematics(f"It is \\boxed{{{perturbed(row['answer'])}}}.", row["answer"]).valid
    ]
    assert passed == []


def test_mathematics_is_compared_by_value() -> None:
    """One half is a half however it is written, and nothing is no answer."""
    assert grade_mathematics(r"\boxed{\frac{1}{2}}", "0.5").valid
    assert grade_mathematics(r"$x = \frac{2}{4}$", r"\frac12").valid
    assert not grade_mathematics(r"\boxed{\frac{1}{3}}", "0.5").valid
    assert not grade_mathematics("", "0.5").valid


FUNCTIONS = [
    {
        "name": "shop.buy",
        "parameters": {
            "properties": {
                "item": {"type": "string"},
                "count": {"type": "integer"},
                "price": {"type": "float"},
                "gift": {"type": "boolean"},
                "tags": {"type": "array"},
                "to": {"type": "dict"},
            }
        },
    }
]
WANTED = {
    "shop.buy": {
        "item": ["Green Tea", "tea"],
        "count": [2],
        "price": [4.0],
        "gift": ["", False],
        "tags": ["", ["hot", "loose"]],
        "to": ["", {"city": ["Graz"], "zip": ["8010", ""]}],
    }
}


@pytest.mark.parametrize(
    ("plan", "valid"),
    [
        ('shop.buy(item="green tea", count=2, price=4)', True),
        ('[shop.buy(item="Green-Tea", count=2, price=4.0, gift=False)]', True),
        ('Sure:\n```python\n[shop.buy(item="tea", count=2, price=4)]\n```', True),
        ('{"name": "shop.buy", "arguments": {"item": "tea", "count": 2, "price": 4}}', True),
        ('{"name": "shop.buy", "arguments": "{\\"item\\": \\"tea\\", \\"count\\": 2}"}', False),
        (
            'shop.buy(item="tea", count=2, price=4, tags=["Hot", "loose"], to={"city": "graz"})',
            True,
        ),
        ('shop.buy(item="tea", count=2, price=4, to={"zip": "8010"})', False),
        ('shop.buy(item="tea", count=2, price=4, tags=["loose", "hot"])', False),
        ('shop.buy(item="tea", count=2.0, price=4)', False),
        ('shop.buy(item="tea", count=True, price=4)', False),
        ('shop.buy(item="tea", count=3, price=4)', False),
        ('shop.buy(item="tea", count="2", price=4)', False),
        ('shop.buy(item="tea", price=4)', False),
        ('shop.buy(item="tea", count=2, price=4, gift=True)', False),
        ('shop.buy(item="tea", count=2, price=4, colour="red")', False),
        ('shop.sell(item="tea", count=2, price=4)', False),
        ('[shop.buy(item="tea", count=2, price=4), shop.buy(item="tea", count=2, price=4)]', False),
        ('shop.buy("tea", 2, 4)', False),
        ('shop.buy(item=__import__("os").getcwd(), count=2, price=4)', False),
        ("I would buy tea.", False),
        ("", False),
    ],
)
def test_calls_are_compared_with_what_is_acceptable(plan: str, valid: bool) -> None:
    """Types, optional arguments, nested values and the number of calls all count."""
    assert grade_calls(plan, [WANTED], FUNCTIONS).valid is valid


def test_parallel_calls_match_in_any_order_one_to_one() -> None:
    """Two calls may stand in either order, but both may not match the same expected call."""
    schema = [{"name": "f", "parameters": {"properties": {"a": {"type": "integer"}}}}]
    wanted = [{"f": {"a": [1, 2]}}, {"f": {"a": [1]}}]
    assert grade_calls("[f(a=1), f(a=2)]", wanted, schema).valid
    assert grade_calls("[f(a=2), f(a=1)]", wanted, schema).valid
    grade = grade_calls("[f(a=2), f(a=2)]", wanted, schema)
    assert not grade.valid
    assert grade.why == "two calls match the same expected one"


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    """Reading calls never fails in any other way than by saying that there are none."""
    try:
        assert read_calls(text)
    except ValueError as error:
        assert "no function call" in str(error)


def test_bundled_problems_have_valid_references() -> None:
    """Each bundled answer, acceptable call and reference program passes its own grader."""
    for name in ("arithmetic", "puzzles", "calls"):
        task = bundled(name)
        for problem in task.problems:
            plan = (
                f"Thus\n{problem.reference}"
                if name != "calls"
                else python_calls(problem.reference[0])
            )
            assert task.grade(problem, plan).valid, problem.problem_id
            assert not task.grade(problem, "I do not know.").valid


def test_bundled_programs_pass_their_tests() -> None:
    """The reference programs of the bundled functions pass, an empty program does not."""
    try:
        run = runner(limits=Limits(cpu=5))
    except SandboxError as error:
        pytest.skip(str(error))
    task = bundled("functions", run)
    from importlib import resources

    text = resources.files("haltwise.study.repair").joinpath("data/problems.json").read_text()
    solutions = {row["id"]: row["solution"] for row in json.loads(text)["functions"]}
    for problem in task.problems:
        assert task.grade(problem, f"```python\n{solutions[problem.problem_id]}\n```").valid
        assert not task.grade(problem, "```python\npass\n```").valid


def test_the_bundled_set_is_all_kinds() -> None:
    """The whole set grades each problem with the grader of its kind."""
    task = bundled("bundled")
    kinds = [len(bundled(kind).problems) for kind in BUNDLED]
    assert len(task.problems) == sum(kinds)
    assert kinds[0] >= 30
    assert len({problem.problem_id for problem in task.problems}) == sum(kinds)
    tea = next(p for p in task.problems if p.problem_id == "timer_tea")
    assert task.grade(tea, 'timer.start(minutes=4, label="tea")').valid
    paint = next(p for p in task.problems if p.problem_id == "paint")
    assert task.grade(paint, "23").valid


def test_verifiers_are_asked_about_a_number_alone() -> None:
    """Of a calculation the claim is its answer; of a program, a call or no number all of it."""
    task = bundled("bundled")
    paint = next(p for p in task.problems if p.problem_id == "paint")
    assert task.claim(paint, "3 x 7 = 21\n21 + 2 = 1,023.50 tins") == "1023.50"
    assert task.claim(paint, "I do not know.") == "I do not know."
    tea = next(p for p in task.problems if p.problem_id == "timer_tea")
    assert task.claim(tea, "timer.start(minutes=4)") == "timer.start(minutes=4)"


def python_calls(acceptable: list[dict[str, Any]]) -> str:
    """Return the first acceptable values as Python calls."""

    def first(option: Any) -> Any:
        if isinstance(option, dict):
            return {key: first(values[0]) for key, values in option.items() if values[0] != ""}
        if isinstance(option, list):
            return [first(item) for item in option]
        return option

    return str(
        "["
        + ", ".join(
            f"{name}({', '.join(f'{a}={first(v[0])!r}' for a, v in args.items() if v[0] != '')})"
            for call in acceptable
            for name, args in call.items()
        )
        + "]"
    )


@pytest.mark.parametrize(
    ("plan", "program"),
    [
        ("x = 1", "x = 1"),
        ("```python\nx = 1\n```", "x = 1\n"),
        ("Here:\n```\nx = 1\n```\nDone.", "x = 1\n"),
        ("```py\na\n```\nor\n```py\nlonger = 2\n```", "longer = 2\n"),
        ("```python\nx = 1", "```python\nx = 1"),
    ],
)
def test_the_program_in_a_plan(plan: str, program: str) -> None:
    """The longest fenced block is the program; unfenced text is taken whole."""
    assert program_in(plan) == program


def test_tasks_read_their_files(shared_data: Shared) -> None:
    """GSM8K, MATH-500 and MBPP load from the published files with their counts."""
    assert len(load_task(f"gsm8k:{shared_data('gsm8k/test_500.jsonl')}").problems) == 500
    assert len(load_task(f"math500:{shared_data('math500/math500.jsonl')}").problems) == 500
    assert len(load_task(f"mbpp:{shared_data('mbpp/mbpp.jsonl')}").problems) == 974


@pytest.mark.slow
def test_mbpp_all_reference_programs_pass(shared_data: Shared) -> None:
    """All 974 reference programs pass their own tests, the set-up code after the candidate."""
    task = load_task(f"mbpp:{shared_data('mbpp/mbpp.jsonl')}", runner())
    rows = [json.loads(x) for x in shared_data("mbpp/mbpp.jsonl").read_text().splitlines()]
    failed = [
        (row["task_id"], grade.why)
        for row, problem in zip(rows, task.problems, strict=True)
        if not (grade := task.grade(problem, row["code"])).valid
    ]
    assert failed == []


class _Swap(ast.NodeTransformer):
    """Changes one comparison, operator or constant of a program, the n-th that it meets."""

    def __init__(self, place: int) -> None:
        self.left = place

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if isinstance(node, (ast.Compare, ast.BinOp)) or (
            isinstance(node, ast.Constant) and type(node.value) is int
        ):
            if self.left == 0:
                if isinstance(node, ast.Compare):
                    node.ops[0] = ast.Gt() if isinstance(node.ops[0], ast.Lt) else ast.Lt()
                elif isinstance(node, ast.BinOp):
                    node.op = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
                elif isinstance(node, ast.Constant):
                    node.value = node.value + 1  # type: ignore[operator]
            self.left -= 1
        return node


@pytest.mark.slow
def test_mbpp_mutants_fail(shared_data: Shared) -> None:
    """Two hundred mutants that plain Python proves wrong are failed by the grader as well."""
    rng = random.Random(0)
    run = runner(limits=Limits(cpu=5))
    tried = 0
    for line in shared_data("mbpp/mbpp.jsonl").read_text().splitlines():
        row = json.loads(line)
        if "\\" in row["code"]:
            continue  # old escapes such as '\\w' warn when they are compiled
        tree = _Swap(rng.randrange(4)).visit(ast.parse(row["code"]))
        mutant = ast.unparse(ast.fix_missing_locations(tree))
        if tried == 200:
            break
        if "while" in mutant or "input(" in mutant or ast.unparse(ast.parse(row["code"])) == mutant:
            continue
        names: dict[str, Any] = {}
        try:
            exec("\n".join([mutant, row["test_setup_code"], *row["test_list"]]), names)
        except Exception:
            tried += 1
            grade = grade_code(mutant, row["test_list"], run, setup=row["test_setup_code"])
            assert not grade.valid, row["task_id"]
    assert tried == 200


@pytest.mark.slow
@pytest.mark.parametrize(("name", "count"), [("simple", 400), ("multiple", 200), ("parallel", 200)])
def test_bfcl_possible_answers_match_and_perturbed_ones_do_not(name: str, count: int) -> None:
    """The first possible answer of every problem matches; with one value changed it does not."""
    task = load_task(f"bfcl_{name}")
    assert len(task.problems) == count
    for problem in task.problems:
        right = python_calls(problem.reference[0])
        assert task.grade(problem, right).valid, problem.problem_id
        wrong = re.sub(r"=(?=[\d'\[{TF-])", "=12345.5 if True else ", right, count=1)
        assert not task.grade(problem, wrong).valid, problem.problem_id
        other = re.sub(r"=(\d+|'[^']*'|True|False)", "='something else entirely'", right, count=1)
        assert other == right or not task.grade(problem, other).valid, problem.problem_id
