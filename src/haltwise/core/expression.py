"""Policies as text: ``streak(5) | deadline(8)`` to a policy and back.

Grammar::

    policy  = all ("|" all)*            any of them stops
    all     = rule ("&" rule)*          all of them must have fired
    rule    = "(" policy ")" | word [ "(" [argument ("," argument)*] ")" ]
    argument = [word "="] value
    value   = number | "text" | true | false | none | "[" values "]" | word "(" arguments ")"

``&`` binds tighter than ``|``. A quoted text as an argument of a rule that needs fitted parameters
is a file name; it is resolved by the loader that the caller passes in, since the core reads no
files. Parameters of that rule that are left out come from the same file where it holds them.
``str(policy)`` prints what this module parses.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from .errors import ExpressionError, InputError, ParameterError
from .policies import RULES, VALUES
from .policy import AllOf, AnyOf, Combination, Policy

Loader = Callable[[str], Mapping[str, Any]]
"""Takes a file name, returns fitted parameters by name (``noise``, ``recovery``, ``p_flip``)."""

_TOKEN = re.compile(
    r"""\s*(?:(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)
          |(?P<word>[A-Za-z_][A-Za-z0-9_]*)
          |(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
          |(?P<symbol>[|&()\[\],=])
          |(?P<end>$))""",
    re.VERBOSE,
)
_CONSTANTS = {"true": True, "false": False, "none": None}
_DEEPEST = 50
_FILE_NAME = re.compile(r"""[^()|&"',=]*(?:[/\\]|\.[A-Za-z])[^()|&"',=]*""")
_EXAMPLES = {
    "recovery": '{0}("policy.toml") with a file that haltwise calibrate search wrote',
    "noise": '{0}("policy.toml") with a file that haltwise calibrate repair wrote, or '
    "{0}(noise(rho0=.3, rho1=.2, alpha=.4, beta=.1, valid=.5))",
}
"""What to type where a fitted parameter is missing."""


def parse_policy(
    text: str, *, load: Loader | None = None, defaults: Mapping[str, Any] | None = None
) -> Policy:
    """Return the policy that ``text`` describes.

    Args:
        text: an expression such as ``streak(5) | deadline(8)``.
        load: resolves file names inside the expression; without it they are an error.
        defaults: values by parameter name (``noise``, ``rounds``, ``tau``, ...) for parameters
            that the expression leaves out; a rule takes those that it has.

    Raises:
        ExpressionError: the text does not parse, names an unknown rule or parameter, or gives a
            value out of range. The message shows the place.
        ParameterError: ``text`` is no text.
    """
    if not isinstance(text, str):
        raise ParameterError(f'a policy is an expression such as "streak(5)"; got {text!r}')
    return _Parser(text, load, defaults or {}).whole()


class _Parser:
    def __init__(self, text: str, load: Loader | None, defaults: Mapping[str, Any]) -> None:
        self.text, self.load, self.defaults = text, load, defaults
        self.position = self.start = self.depth = 0
        self.kind = self.token = ""
        if _FILE_NAME.fullmatch(text):
            self.fail(
                "this is the name of a file, not an expression; a policy file ends in .toml and "
                'is read with load_policy("policy.toml")'
            )
        self.shift()

    def whole(self) -> Policy:
        policy = self.any_of()
        if self.kind != "end":
            self.fail(f"expected | or & or the end, got {self.token!r}")
        return policy

    def shift(self) -> None:
        match = _TOKEN.match(self.text, self.position)
        if match is None:
            rest = self.text[self.position :]
            self.start = self.position + len(rest) - len(rest.lstrip())
            self.fail(f"cannot read {self.text[self.start]!r} here")
        self.kind = match.lastgroup or "end"
        self.token = match[self.kind]
        self.start, self.position = match.start(self.kind), match.end()

    def fail(self, message: str, position: int | None = None) -> NoReturn:
        raise ExpressionError(self.text, self.start if position is None else position, message)

    def take(self, symbol: str) -> bool:
        if self.kind == "symbol" and self.token == symbol:
            self.shift()
            return True
        return False

    def expect(self, symbol: str) -> None:
        if not self.take(symbol):
            self.fail(
                f"expected {symbol!r}, got {self.token!r}" if self.token else f"expected {symbol!r}"
            )

    def any_of(self) -> Policy:
        return self.combined(AnyOf, self.all_of)

    def all_of(self) -> Policy:
        return self.combined(AllOf, self.rule)

    def combined(self, combinator: type[Combination], part: Callable[[], Policy]) -> Policy:
        start, policies = self.start, [part()]
        while self.take(combinator.symbol):
            policies.append(part())
        if len(policies) == 1:
            return policies[0]
        try:
            return combinator(tuple(policies))
        except InputError as error:
            self.fail(str(error), start)

    def rule(self) -> Policy:
        if self.take("("):
            self.deeper()
            policy = self.any_of()
            self.expect(")")
            self.depth -= 1
            return policy
        if self.kind != "word":
            self.fail(
                f"expected a rule such as streak(5), got {self.token!r}"
                if self.token
                else "expected a rule such as streak(5)"
            )
        return self.call(RULES, "rule")  # type: ignore[no-any-return]

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > _DEEPEST:
            self.fail(f"more than {_DEEPEST} levels of nesting")

    def call(self, table: Mapping[str, type], what: str) -> Any:
        word, start = self.token, self.start
        target = table.get(word)
        if target is None:
            self.fail(f"there is no {what} {word!r}; {_hint(word, table)}")
        self.shift()
        names = [item.name for item in dataclasses.fields(target) if item.init]
        given: dict[str, Any] = {}
        fitted: dict[str, Any] = {}
        if self.take("("):
            self.deeper()
            while not self.take(")"):
                self.argument(word, names, given, fitted)
                if not self.take(","):
                    self.expect(")")
                    break
            self.depth -= 1
        for name in names:
            for source in (fitted, self.defaults):
                if name not in given and name in source:
                    given[name] = source[name]
        try:
            return target(**given)
        except (TypeError, InputError) as error:
            missing = [
                item.name
                for item in dataclasses.fields(target)
                if item.init
                and item.name not in given
                and item.default is dataclasses.MISSING
                and item.default_factory is dataclasses.MISSING
            ]
            self.fail(_needs(word, missing) if missing else str(error), start)

    def argument(
        self, word: str, names: list[str], given: dict[str, Any], fitted: dict[str, Any]
    ) -> None:
        start = self.start
        name, value = self.named_value()
        if name is None:
            if len(given) >= len(names):
                self.fail(f"{word} takes at most {len(names)} arguments", start)
            name = names[len(given)]
        if name not in names:
            known = ", ".join(names) or "none"
            self.fail(f"{word} has no parameter {name!r}; its parameters: {known}", start)
        if name in given:
            self.fail(f"{word} got {name} twice", start)
        if name in FITTED and isinstance(value, str):
            fitted.update(self.file(name, value, start))
            value = fitted[name]
        given[name] = value

    def named_value(self) -> tuple[str | None, Any]:
        if self.kind == "word" and self.token not in _CONSTANTS:
            after = _TOKEN.match(self.text, self.position)
            if after is not None and after["symbol"] == "=":
                name = self.token
                self.shift()
                self.shift()
                return name, self.value()
        return None, self.value()

    def value(self) -> Any:
        kind, token = self.kind, self.token
        if kind == "number":
            self.shift()
            return int(token) if re.fullmatch(r"[-+]?\d+", token) else float(token)
        if kind == "text":
            self.shift()
            return re.sub(r"\\(.)", r"\1", token[1:-1])
        if kind == "word" and token in _CONSTANTS:
            self.shift()
            return _CONSTANTS[token]
        if kind == "word":
            return self.call(VALUES, "value")
        if self.take("["):
            self.deeper()
            items = []
            while not self.take("]"):
                items.append(self.value())
                if not self.take(","):
                    self.expect("]")
                    break
            self.depth -= 1
            return tuple(items)
        self.fail(
            f"expected a number, a text or a list, got {token!r}" if token else "expected a value"
        )

    def file(self, name: str, path: str, start: int) -> Mapping[str, Any]:
        if self.load is None:
            self.fail(
                f"file names such as {path!r} cannot be used here; give the parameters", start
            )
        try:
            content = self.load(path)
        except InputError as error:
            self.fail(str(error), start)
        if name not in content:
            self.fail(f"{path} holds no [{name}]; write one with: haltwise calibrate", start)
        return content


def _needs(word: str, missing: list[str]) -> str:
    example = next((_EXAMPLES[name] for name in missing if name in _EXAMPLES), "")
    remedy = f"; type {example.format(word)}" if example else ""
    return f"{word} needs {', '.join(missing)}{remedy}"


def _hint(word: str, table: Mapping[str, type]) -> str:
    import difflib  # only for a message: it would add a tenth of the package's import time

    near = difflib.get_close_matches(word, list(table), n=1)
    return f"did you mean {near[0]}?" if near else f"known: {', '.join(sorted(table))}"


FITTED = ("noise", "recovery")
"""Parameters that are fitted to data, and for which a file name may stand."""
