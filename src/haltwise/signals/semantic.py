"""The semantic signal: a result whose meaning is far from the question is useless.

Compares vectors of a small sentence encoder (extra ``semantic``), which knows other words for the
same thing. Ignorant of how a vector comes about.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from ..core.errors import ParameterError
from ..core.events import Verdict
from .lexical import says_nothing_found
from .protocol import SignalStep, combined

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

READ = 1200
"""Characters of a result that are looked at, from its beginning: about what the encoder reads."""


class Encodes(Protocol):
    """Texts to vectors of length 1."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a vector for each text, shape (texts, size)."""
        ...

    def __hash__(self) -> int:
        """Vectors are remembered by who made them."""
        ...


@dataclass(frozen=True)
class Semantic:
    """Judges by the cosine of question and result: useless iff it is below the threshold."""

    threshold: float = 0.45
    """Cosine that a result must reach, in [-1, 1]; see ``benchmarks/bench_semantic.py``."""
    encoder: Encodes | None = field(default=None, repr=False, compare=False)
    """Who makes the vectors; None for all-MiniLM-L6-v2, fetched at the first use."""

    name = "semantic"

    def __post_init__(self) -> None:
        value = self.threshold
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not -1 <= value <= 1:
            raise ParameterError(f"semantic: threshold is a cosine from -1 to 1; got {value!r}")

    def judge(self, step: SignalStep) -> Verdict:
        """Judge every result of the step; unjudged where there is no question."""
        return combined([self.judge_text(step.question, result) for result in step.results])

    def judge_text(self, question: str, result: str) -> Verdict:
        """Judge one result."""
        if says_nothing_found(result):
            return Verdict.USELESS
        if not _WORD.search(question):
            return Verdict.UNJUDGED
        near = self.nearness(question, result) >= self.threshold
        return Verdict.USEFUL if near else Verdict.USELESS

    def nearness(self, question: str, result: str) -> float:
        """Return the cosine of the question and the beginning of the result, in [-1, 1]."""
        encodes = self._encodes()
        return float((_vector(encodes, question) * _vector(encodes, result[:READ])).sum())

    def _encodes(self) -> Encodes:
        if self.encoder is not None:
            return self.encoder
        from ..judges.encoder import encoder

        return encoder()


_WORD = re.compile(r"[^\W_]")


@lru_cache(maxsize=4096)
def _vector(encodes: Any, text: str) -> NDArray[np.float32]:
    found: NDArray[np.float32] = encodes.encode([text])[0]
    return found
