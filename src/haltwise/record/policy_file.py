"""Policy files: a rule together with the fitted parameters and the evidence that chose it.

::

    schema = "haltwise.policy/1"
    kind = "repair"                     # or "search"
    policy = "auto"                     # an expression; its parameters come from this file

    [noise]                             # repair: haltwise.core.noise.NoiseModel
    [recovery]                          # search: the fitted table
    [evidence]                          # n, intervals, p_flip, why: for people; rules that choose
                                        # by evidence read p_flip, discrimination and fallback

Knows the file and how an expression refers to it; ignorant of how parameters are fitted.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..core.errors import InputError
from ..core.expression import Loader, parse_policy
from ..core.policies import VALUES
from ..core.policy import Policy
from .toml_text import to_toml

SCHEMA = "haltwise.policy/1"
"""Value of ``schema`` in the files that this package writes and reads."""

_KINDS = ("search", "repair")
_DECISIVE = ("p_flip", "discrimination", "fallback")
"""Evidence that `vrr` and `auto` choose by."""
_KEYS = ("schema", "kind", "policy", *VALUES, "evidence")

_FIRST_LINES = {
    "schema": f'schema = "{SCHEMA}"',
    "kind": 'kind = "search" (or "repair")',
    "policy": 'policy = "streak(5)" (any expression)',
}
"""What every file begins with, as it is to be typed."""


@dataclass(frozen=True)
class PolicyFile:
    """What a policy file holds."""

    kind: str
    """The loop it is for: "search" or "repair"."""
    policy: str
    """The expression to use; parameters that it leaves out come from ``parameters``."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Fitted models by name: the words of `haltwise.core.policies.VALUES`, such as ``noise``."""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    """Plain data for people: counts, intervals, ``p_flip``, ``why``; see also `fitted`."""

    @property
    def fitted(self) -> dict[str, Any]:
        """What rules may take from the file, by parameter name: the models and their evidence."""
        plain = (int, float, str)
        known = {name: self.evidence.get(name) for name in _DECISIVE}
        return {**{k: v for k, v in known.items() if isinstance(v, plain)}, **self.parameters}


def read_policy_file(path: str | os.PathLike[str]) -> PolicyFile:
    """Read a policy file.

    Raises:
        InputError: the file cannot be read, is no TOML, or does not follow the schema; the message
            names the file and the remedy.
    """
    try:
        document = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(
            f"{path}: there is no such policy file; "
            f"write one with: haltwise calibrate repair|search PATH -o {path}"
        ) from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: a policy file is UTF-8 text; this is not") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not a TOML file: {error}") from None
    except RecursionError:
        raise InputError(f"{path}: not a policy file: its TOML is nested too deeply") from None
    return _checked(path, document)


def write_policy_file(path: str | os.PathLike[str], content: PolicyFile) -> None:
    """Write a policy file, replacing what is there.

    Raises:
        InputError: the folder cannot be written to, or a value has no form in TOML.
    """
    document: dict[str, Any] = {"schema": SCHEMA, "kind": content.kind, "policy": content.policy}
    for name, model in content.parameters.items():
        document[name] = model.to_json()
    if content.evidence:
        document["evidence"] = content.evidence
    text = to_toml(document)
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None


def load_policy(
    expression_or_path: str | os.PathLike[str], *, defaults: Mapping[str, Any] | None = None
) -> Policy:
    """Return the policy of an expression or of a ``.toml`` policy file.

    File names inside an expression stand for the fitted parameters of that file. A name is
    relative to the working folder, or, inside a policy file, to that file's folder.

    Args:
        expression_or_path: ``streak(5) | deadline(8)``, ``auto("p.toml")`` or ``p.toml``.
        defaults: values by parameter name (``noise``, ``rounds``, ``tau``, ...) for parameters that
            neither the expression nor the file gives.

    Raises:
        ExpressionError: the expression does not parse.
        InputError: a file cannot be used.
    """
    text = os.fspath(expression_or_path).strip()
    if not text.endswith(".toml"):
        return parse_policy(text, load=loader(Path()), defaults=defaults)
    content = read_policy_file(text)
    try:
        policy = parse_policy(
            content.policy,
            load=loader(Path(text).parent),
            defaults={**(defaults or {}), **content.fitted},
        )
    except InputError as error:
        raise InputError(f"{text}: policy: {error}") from None
    if policy.kind not in (content.kind, "any"):
        raise InputError(
            f'{text}: kind is "{content.kind}", but {content.policy} is for {policy.kind} loops'
        )
    return policy


def loader(folder: Path) -> Loader:
    """Return what `parse_policy` takes as ``load``: file names are relative to ``folder``."""

    def load(name: str) -> Mapping[str, Any]:
        return read_policy_file(folder / name).fitted

    return load


def _checked(path: str | os.PathLike[str], document: dict[str, Any]) -> PolicyFile:
    for key, example in _FIRST_LINES.items():
        if key not in document:
            raise InputError(f"{path}: a line is missing; add at the top: {example}")
    if document.get("schema") != SCHEMA:
        raise InputError(f'{path}: schema is "{SCHEMA}"; got {document.get("schema")!r}')
    unknown = sorted(set(document) - set(_KEYS))
    if unknown:
        raise InputError(f"{path}: unknown key {unknown[0]!r}; known: {', '.join(_KEYS)}")
    kind, policy = document.get("kind"), document.get("policy")
    if kind not in _KINDS:
        raise InputError(f'{path}: kind is "search" or "repair"; got {kind!r}')
    if not isinstance(policy, str):
        raise InputError(f'{path}: policy is an expression such as "auto"; got {policy!r}')
    for name in (*VALUES, "evidence"):
        if not isinstance(document.get(name, {}), dict):
            raise InputError(f"{path}: [{name}] is a table; got {document[name]!r}")
    parameters = {}
    for name, model in VALUES.items():
        if name in document:
            try:
                parameters[name] = model.from_json(document[name])
            except InputError as error:
                raise InputError(f"{path}: {error}") from None
    return PolicyFile(kind, policy, parameters, document.get("evidence", {}))
