"""Never stop: the unaided loop, as a baseline and as a neutral part of a combination."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..decision import Decision
from ..policy import Policy, State


@dataclass(frozen=True)
class Never(Policy):
    """Let the loop run to its own end."""

    name: ClassVar[str] = "never"

    def initial(self) -> State:
        """Return the empty state."""
        return ()

    def advance(self, state: State, observation: Any) -> tuple[State, Decision | None]:
        """Ignore the observation."""
        return state, None
