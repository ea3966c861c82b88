"""How a search source recovers from a fault, and the stopping table that follows from it.

Knows the fitted quantities of METHODS section 1, "Recovery-aware stopping", and the backward
induction over them; knows nothing of how they are estimated (`haltwise.calibrate.recovery`).

Words: ``t`` tool steps taken, ``m = budget - t`` actions left (the answer included), ``r`` the run
of useless results. A loop is *fresh* while nothing but useless results has come: r = t.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from .errors import ParameterError

TIE = 1e-12
"""Answering must be worth this much more than searching on: at a tie the table searches on."""


@dataclass(frozen=True)
class RecoveryModel:
    """What searching on is worth after a run of useless results."""

    budget: int
    """B, actions the loop may take, the final answer included; at least 2."""
    hazard: tuple[tuple[float, ...], tuple[float, ...]]
    """P(the next verdict is not useless | run r, searched on) for r = 1 .. B-2; first row fresh
    loops, second row loops that have had a useful result."""
    answer_now: tuple[float, float]
    """q, P(right | an answer is forced during a run); fresh loops, then the others."""
    useful_value: tuple[float, ...]
    """u(m), expected success - price x later calls once a useful result has come with m actions
    left, for m = 1 .. B-2; never falls with m. At most 1; calls can take it below 0."""
    price: float = 0.0
    """c, what one tool call costs in units of one right answer; at least 0."""

    def __post_init__(self) -> None:
        if not _integer(self.budget) or self.budget < 2:
            raise ParameterError(
                f"recovery: budget is a whole number of at least 2; got {self.budget!r}"
            )
        width = self.budget - 2
        rows = self.hazard
        if not isinstance(rows, (list, tuple)) or len(rows) != 2:
            raise ParameterError(
                f"recovery: hazard is two lists (fresh loops, the others); got {rows!r}"
            )
        hazard = (_numbers("hazard", rows[0], width), _numbers("hazard", rows[1], width))
        answer_now = _numbers("answer_now", self.answer_now, 2)
        useful_value = _numbers("useful_value", self.useful_value, width)
        for name, values in (("hazard", hazard[0] + hazard[1]), ("answer_now", answer_now)):
            wrong = next((value for value in values if not 0 <= value <= 1), None)
            if wrong is not None:
                raise ParameterError(
                    f"recovery: {name} holds probabilities from 0 to 1; got {wrong!r}"
                )
        if any(later < sooner for sooner, later in pairwise(useful_value)):
            raise ParameterError(
                "recovery: useful_value never falls with the actions left; "
                f"got {list(useful_value)!r}"
            )
        if not _number(self.price) or self.price < 0:
            raise ParameterError(f"recovery: price is at least 0; got {self.price!r}")
        object.__setattr__(self, "hazard", hazard)
        object.__setattr__(self, "answer_now", answer_now)
        object.__setattr__(self, "useful_value", useful_value)

    @cached_property
    def stop(self) -> tuple[tuple[int, ...], ...]:
        """The runs r at which an answer is forced, by actions left: ``stop[m - 1]``, m = 1 .. B-1.

        Backward induction: V(r, 1) = q; V(r, m) = max{q, -c + h u(m-1) + (1-h) V(r+1, m-1)},
        forcing an answer where the first term is the larger one. A state (r, m) is fresh iff
        r = B - m, so the table over (r, m, fresh) needs r and m only. The m = 1 row holds every
        run, 0 included; the other rows begin at r = 1, since a loop without a run is not stopped.
        """
        rows = [tuple(range(self.budget))]
        for worth in self.advantage:
            rows.append(tuple(run for run, more in enumerate(worth, start=1) if more < -TIE))
        return tuple(rows)

    @cached_property
    def advantage(self) -> tuple[tuple[float, ...], ...]:
        """What searching on is worth beyond answering now: ``advantage[m - 2][r - 1]``.

        For m = 2 .. B-1 actions left and runs r = 1 .. B-m; below 0 an answer is forced.
        """
        last = self.budget - 1
        ahead = {run: self.answer_now[run != last] for run in range(1, last + 1)}
        rows = []
        for left in range(2, self.budget):
            taken = self.budget - left
            now, more = {}, []
            for run in range(1, taken + 1):
                row = int(run != taken)
                hazard, answer = self.hazard[row][run - 1], self.answer_now[row]
                search_on = (
                    hazard * self.useful_value[left - 2]
                    + (1 - hazard) * ahead[run + 1]
                    - self.price
                )
                more.append(search_on - answer)
                now[run] = max(answer, search_on)
            ahead = now
            rows.append(tuple(more))
        return tuple(rows)

    @cached_property
    def gain(self) -> float:
        """G = u - q for fresh loops: what a recovery is worth over answering now.

        u is averaged over the recoveries that the model itself expects of a source that is dead
        from the first call; over all m where it expects none.
        """
        if not self.useful_value:
            return 0.0
        weights, alive = [], 1.0
        for hazard in self.hazard[0]:
            weights.append(alive * hazard)
            alive *= 1 - hazard
        values = self.useful_value[::-1]  # after run r the recovery comes with m = B - r - 1 left
        total = sum(weights)
        if total <= 0:
            return sum(values) / len(values) - self.answer_now[0]
        mean = sum(weight * value for weight, value in zip(weights, values, strict=True)) / total
        return mean - self.answer_now[0]

    def to_json(self) -> dict[str, Any]:
        """Return the model with its stopping table, as a JSON object or TOML table."""
        return {
            "budget": self.budget,
            "price": self.price,
            "hazard": [list(row) for row in self.hazard],
            "answer_now": list(self.answer_now),
            "useful_value": list(self.useful_value),
            "stop": [list(row) for row in self.stop],
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> RecoveryModel:
        """Build a model from what `to_json` gave; ``stop`` may be left out.

        Raises:
            ParameterError: a name is unknown or missing, a value is out of range, or ``stop`` is
                not the table that follows from the rest.
        """
        unknown = sorted(set(document) - set(cls.__dataclass_fields__) - {"stop"})
        if unknown:
            raise ParameterError(
                f"recovery: unknown parameter {unknown[0]!r}; "
                f"known: {', '.join(cls.__dataclass_fields__)}, stop"
            )
        missing = [
            name
            for name in ("budget", "hazard", "answer_now", "useful_value")
            if name not in document
        ]
        if missing:
            raise ParameterError(f"recovery: {', '.join(missing)} missing")
        model = cls(**{name: value for name, value in document.items() if name != "stop"})
        given = document.get("stop")
        if given is not None and given != [list(row) for row in model.stop]:
            raise ParameterError(
                f"recovery: stop does not follow from the other values, which give "
                f"{[list(row) for row in model.stop]}; leave stop out to have it worked out"
            )
        return model

    def __str__(self) -> str:
        """Return the model as a value inside a policy expression."""
        from .policy import print_value

        named = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return f"recovery({', '.join(f'{k}={print_value(v)}' for k, v in named.items())})"


def _numbers(name: str, values: Any, length: int) -> tuple[Any, ...]:
    good = isinstance(values, (list, tuple)) and len(values) == length
    if not good or not all(map(_number, values)):
        raise ParameterError(
            f"recovery: {name} holds lists of {length} finite numbers; got {values!r}"
        )
    return tuple(values)


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
