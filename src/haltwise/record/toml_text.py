"""Plain data as TOML text; the standard library reads TOML but does not write it.

Knows the values a policy file holds: texts, truth values, numbers, lists and tables. Refuses the
rest, None included, because TOML has no way to say "nothing": leave the key out.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..core.errors import InputError

_WIDTH = 100
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def to_toml(document: Mapping[str, Any]) -> str:
    """Return ``document`` as TOML that `tomllib.loads` reads back to an equal document.

    Tables become ``[sections]``; tables inside lists are written inline. Lists wider than a line
    are written one item a line.

    Raises:
        InputError: a value has no form in TOML; the message names its key.
    """
    lines: list[str] = []
    _table((), document, lines)
    return "\n".join(lines).lstrip("\n") + "\n"


def _table(path: tuple[str, ...], table: Mapping[str, Any], lines: list[str]) -> None:
    values = {key: value for key, value in table.items() if not isinstance(value, Mapping)}
    tables = {key: value for key, value in table.items() if isinstance(value, Mapping)}
    if path and (values or not tables):
        lines += ["", f"[{'.'.join(map(_key, path))}]"]
    for key, value in values.items():
        where = ".".join((*path, key))
        start = f"{_key(key)} = "
        text = _value(value, where)
        if len(start) + len(text) > _WIDTH and isinstance(value, (list, tuple)):
            items = "".join(f"  {_value(item, where)},\n" for item in value)
            text = f"[\n{items}]"
        lines.append(start + text)
    for key, value in tables.items():
        _table((*path, key), value, lines)


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _text(key)


def _value(value: Any, where: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        # inf and nan are TOML too; float() strips NumPy's own repr
        return repr(float(value)) if math.isfinite(value) else str(float(value))
    if isinstance(value, Mapping):
        return (
            "{" + ", ".join(f"{_key(k)} = {_value(v, f'{where}.{k}')}" for k, v in value.items())
        ) + "}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(_value(item, where) for item in value) + "]"
    raise InputError(f"{where}: {value!r} cannot be written as TOML; leave the key out")


def _text(text: str) -> str:
    # JSON's escapes are TOML's, but for DEL, which TOML wants escaped, and for lone surrogates
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(f"{text!r} is not valid Unicode and cannot be written as TOML") from None
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
