"""Answers that are function calls, compared with sets of acceptable arguments.

The rules are those of the Berkeley Function-Calling Leaderboard (AST match): each argument has a
list of acceptable values; an empty text in that list means that it may be left out; texts are
compared without case, blanks and punctuation; an int is accepted where a float is asked for, not
the other way round; the order of parallel calls does not matter. Nothing is executed: calls are
read with `ast`.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..grade import Grade

Acceptable = Mapping[str, Mapping[str, Sequence[Any]]]
"""``{function: {argument: [acceptable value, ...]}}`` with one function."""


@dataclass(frozen=True, slots=True)
class Call:
    """One function call as the model wrote it."""

    name: str
    arguments: dict[str, Any]


class _Unreadable(ValueError):
    pass


def grade_calls(
    plan: str, reference: Sequence[Acceptable], schemas: Sequence[Mapping[str, Any]]
) -> Grade:
    """Say whether ``plan`` holds exactly the acceptable calls.

    Args:
        plan: calls as Python (``[f(a=1), g(b="x")]``) or as JSON (``{"name":, "arguments":}``
            objects), alone, in a code fence, or on the last lines of a longer text.
        reference: one entry per expected call.
        schemas: the functions offered, with JSON-schema ``parameters``.
    """
    try:
        calls = read_calls(plan)
    except _Unreadable as error:
        return Grade(False, str(error))
    if len(calls) != len(reference):
        return Grade(False, f"{len(calls)} calls, expected {len(reference)}")
    types = {schema["name"]: schema["parameters"]["properties"] for schema in schemas}
    faults = [[_fault(call, wanted, types) for wanted in reference] for call in calls]
    if _assignable([[fault is None for fault in row] for row in faults]):
        return Grade(True, "all calls match")
    hopeless = [row for row in faults if None not in row]
    return Grade(
        False, str(hopeless[0][0]) if hopeless else "two calls match the same expected one"
    )


def read_calls(text: str) -> list[Call]:
    """Return the calls in ``text``.

    Raises:
        ValueError: there are none, or one cannot be read; the message says which.
    """
    candidates = re.findall(r"```(?:\w+\n)?(.*?)```", text, re.DOTALL)[::-1]
    lines = text.strip().splitlines()
    candidates += [text, *("\n".join(lines[i:]) for i in range(1, len(lines)))]
    for candidate in candidates:
        for read in (_from_json, _from_python):
            calls = read(candidate.strip())
            if calls:
                return calls
    raise _Unreadable(f"no function call in {text.strip()[:60]!r}")


def _from_json(text: str) -> list[Call] | None:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    items = document if isinstance(document, list) else [document]
    calls = []
    for item in items:
        if not isinstance(item, dict) or not isinstance(item.get("name"), str):
            return None
        arguments = item.get("arguments", {})
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments)
            except ValueError:
                return None
        if not isinstance(arguments, dict):
            return None
        calls.append(Call(item["name"], arguments))
    return calls


def _from_python(text: str) -> list[Call] | None:
    try:
        body = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    nodes = body.elts if isinstance(body, (ast.List, ast.Tuple)) else [body]
    calls = []
    for node in nodes:
        if not isinstance(node, ast.Call) or node.args:
            return None
        try:
            arguments = {str(item.arg): ast.literal_eval(item.value) for item in node.keywords}
        except (ValueError, TypeError):
            return None
        calls.append(Call(ast.unparse(node.func), arguments))
    return calls


def _fault(call: Call, wanted: Acceptable, types: Mapping[str, Any]) -> str | None:
    """Return what is wrong with ``call``, or None if it is acceptable."""
    ((name, arguments),) = wanted.items()
    if call.name != name:
        return f"calls {call.name}, expected {name}"
    for argument, value in call.arguments.items():
        if argument not in arguments:
            return f"{name} got an unknown argument {argument}"
        schema = types.get(name, {}).get(argument, {})
        if not _typed(value, schema.get("type", "any")):
            return f"{argument} is {value!r}, expected {schema['type']}"
        if not any(_matches(value, option) for option in arguments[argument]):
            return f"{argument} is {value!r}, acceptable: {list(arguments[argument])!r}"
    missing = [
        a for a, options in arguments.items() if a not in call.arguments and "" not in options
    ]
    return f"{name} lacks {', '.join(missing)}" if missing else None


_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "float": (float, int),
    "number": (float, int),
    "boolean": (bool,),
    "array": (list, tuple),
    "tuple": (list, tuple),
    "dict": (dict,),
    "object": (dict,),
}


def _typed(value: Any, kind: str) -> bool:
    allowed = _TYPES.get(kind)
    if allowed is None:
        return True
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, allowed)


def _matches(value: Any, option: Any) -> bool:
    """Compare ``value`` with one acceptable value; inside dicts each field has a list of them."""
    if isinstance(option, dict):
        return (
            isinstance(value, dict)
            and all(
                key in option and any(_matches(item, allowed) for allowed in option[key])
                for key, item in value.items()
            )
            and all(key in value or "" in allowed for key, allowed in option.items())
        )
    if isinstance(option, (list, tuple)):
        return (
            isinstance(value, (list, tuple))
            and len(value) == len(option)
            and all(_matches(item, wanted) for item, wanted in zip(value, option, strict=True))
        )
    if isinstance(option, str) or isinstance(value, str):
        return isinstance(value, str) and isinstance(option, str) and _bare(value) == _bare(option)
    if isinstance(option, bool) or isinstance(value, bool):
        return value is option
    return bool(value == option)


def _bare(text: str) -> str:
    return re.sub(r"[ ,./\-_*^]", "", text).lower().replace("'", '"')


def _assignable(good: Sequence[Sequence[bool]]) -> bool:
    """Return whether rows and columns can be paired one to one over true cells (Kuhn 1955)."""
    owner: dict[int, int] = {}

    def place(row: int, tried: set[int]) -> bool:
        for column, fits in enumerate(good[row]):
            if fits and column not in tried:
                tried.add(column)
                if column not in owner or place(owner[column], tried):
                    owner[column] = row
                    return True
        return False

    return all(place(row, set()) for row in range(len(good)))
