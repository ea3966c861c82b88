"""Every exception that haltwise raises on purpose, as one tree.

::

    HaltwiseError
    ├── InputError        something came from outside and cannot be used (also a ValueError)
    │   ├── ParameterError    a policy or model was given a value outside its range
    │   ├── ObservationError  an observation makes no sense; the loop keeps its state
    │   └── ExpressionError   a policy expression does not parse; carries the position
    └── StoppedError      the loop was asked to go on after it had been stopped

Each message is one sentence that says what came, what was expected and what to type instead.
Knows nothing of files or terminals: readers add the path and line, the command line adds colour.
"""

from __future__ import annotations


class HaltwiseError(Exception):
    """Base of all errors raised by haltwise."""


class InputError(HaltwiseError, ValueError):
    """Something that came from outside cannot be used as it is."""


class ParameterError(InputError):
    """A parameter lies outside the range in which it has a meaning."""


class ObservationError(InputError):
    """An observation makes no sense; whoever raised this has left the loop's state untouched."""


class ExpressionError(InputError):
    """A policy expression cannot be parsed.

    Attributes:
        text: the whole expression as it came.
        position: 0-based index of the first character that could not be read.
    """

    def __init__(self, text: str, position: int, message: str) -> None:
        self.text = text
        self.position = position
        pointer = " " * position + "^"
        super().__init__(f"{message}\n  {text}\n  {pointer}")


class StoppedError(HaltwiseError):
    """The loop has been stopped and cannot take another step."""
