"""The shape of the rules that keep the best-voted plan in hand."""

from __future__ import annotations

from ..decision import Decision, Scalar
from ..observation import RepairObservation
from ..policy import State
from .repair import RepairPolicy, share


class ScoredPolicy(RepairPolicy):
    """Keeps one plan in hand, the incumbent, and delivers it.

    State: plans seen, index of the incumbent, its accepts and its votes, and what a rule adds.
    An incumbent without votes counts as one that nobody accepted.
    """

    def initial(self) -> State:
        """Return no plans and no incumbent."""
        return (0, 0, 0, 0)

    def choice(self, state: State) -> int:
        """Return the incumbent."""
        if isinstance(state, Decision):
            return super().choice(state)
        incumbent: int = state[1]
        return incumbent

    def evidence(self, state: State, observation: RepairObservation) -> dict[str, Scalar]:
        """Return the incumbent and the share of votes that accept it, beside the votes."""
        incumbent, accepts, votes = state[1:4]
        return {
            **super().evidence(state, observation),
            "incumbent": incumbent,
            "incumbent_share": share(accepts, votes),
        }


def better(new: tuple[int, int], old: tuple[int, int], margin: float = 0.0) -> bool:
    """Return whether the share of accepts in ``new`` exceeds that in ``old``, by ``margin`` if > 0.

    Pairs are (accepts, votes); cross-multiplied, so that 5 of 8 against 0 of 8 is exactly .625.
    """
    lead = new[0] * max(old[1], 1) - old[0] * new[1]
    if margin > 0:
        return new[1] > 0 and lead >= margin * new[1] * max(old[1], 1) - 1e-9
    return lead > 0
