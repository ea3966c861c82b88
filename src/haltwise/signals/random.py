"""The random signal: useless at a fixed rate, whatever the result. A control for studies.

What a rule gains with this signal it gains by stopping, not by knowing.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

from ..core.errors import ParameterError
from ..core.events import Verdict
from .protocol import SignalStep


@dataclass(frozen=True)
class RateMatched:
    """Says useless with probability ``rate``, else useful. Independent of the results.

    Pure: the draw is a hash of (seed, question, t), so that asking twice gives the same
    verdict. Give every episode a seed of its own, or one question sees the same draws in all.
    """

    rate: float
    """Probability of a useless verdict, in [0, 1]; match it to the rate of the real signal."""
    seed: int = 0
    """Any whole number from 0."""

    name = "random"

    def __post_init__(self) -> None:
        rate, seed = self.rate, self.seed
        if isinstance(rate, bool) or not isinstance(rate, (int, float)) or not 0 <= rate <= 1:
            raise ParameterError(f"random signal: rate is a probability from 0 to 1; got {rate!r}")
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise ParameterError(f"random signal: seed is a whole number from 0; got {seed!r}")

    def judge(self, step: SignalStep) -> Verdict:
        """Return the draw for this question and position."""
        text = f"{self.seed}:{step.t}:{step.question}"
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        draw = (int.from_bytes(digest, "big") >> 11) / 2**53
        return Verdict.USELESS if draw < self.rate else Verdict.USEFUL
