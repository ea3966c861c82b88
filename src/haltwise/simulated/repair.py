"""Simulated verify-repair loops: the two-state chain of METHODS section 2, with its truth known.

A plan is valid or not; every round brings fresh votes on it and a repair that mends or breaks it.
Loops are never stopped: all rounds are there, so every stopping rule can be replayed on them.
Knows nothing of policies or of estimation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..core.errors import ParameterError
from ..core.noise import NoiseModel
from ..record.episode import Outcome, RepairEpisode, RepairStep
from .label import model_name

NOTE = "simulated loop, no model acted: plans, votes and truth are drawn from known parameters"


@dataclass(frozen=True)
class RepairRuns:
    """``n`` simulated loops of ``rounds`` repairs, as arrays."""

    noise: NoiseModel
    """The parameters that the loops were drawn from."""
    votes: int
    """Votes in every round, at least 1."""
    accepts: npt.NDArray[np.int64]
    """Accepting votes, shape (n, rounds + 1): column k belongs to the plan after k repairs."""
    valid: npt.NDArray[np.bool_]
    """Whether the plan is really valid, shape (n, rounds + 1)."""
    seed: int
    """The seed that they were drawn with."""

    @property
    def rounds(self) -> int:
        """Repairs in every loop."""
        return int(self.accepts.shape[1]) - 1

    def __len__(self) -> int:
        return len(self.accepts)

    def episodes(self, *, labelled: bool = True) -> Iterator[RepairEpisode]:
        """Yield the loops as episodes, one task each.

        Args:
            labelled: whether the truth of each round and of the end is written into them.
        """
        name = model_name("repair")
        for i, (accepts, valid) in enumerate(
            zip(self.accepts.tolist(), self.valid.tolist(), strict=True)
        ):
            task = f"task-{i:06d}"
            yield RepairEpisode(
                episode_id=f"{task}-{self.seed}",
                cluster_id=task,
                question_id=task,
                model=name,
                seed=self.seed,
                budget=self.rounds,
                gated=False,
                notes=[NOTE],
                steps=[
                    RepairStep(
                        round=k,
                        accepts=count,
                        votes=self.votes,
                        valid=truth if labelled else None,
                    )
                    for k, (count, truth) in enumerate(zip(accepts, valid, strict=True))
                ],
                outcome=Outcome(
                    success=valid[-1] if labelled else None,
                    censored=True,
                    reason="all rounds were run: no rule stopped the loop",
                ),
            )


def simulate_repair(
    noise: NoiseModel, n: int, *, votes: int = 8, rounds: int = 5, seed: int = 0
) -> RepairRuns:
    """Draw ``n`` loops of ``rounds`` repairs with ``votes`` votes on every plan.

    The votes on one plan are binomial; with ``noise.icc`` above 0 they are beta-binomial, the
    share of accepting votes being drawn afresh for every plan. Equal arguments give equal loops.

    Raises:
        ParameterError: ``n`` or ``votes`` is below 1, or ``rounds`` below 0.
    """
    for name, value, least in (("n", n, 1), ("votes", votes, 1), ("rounds", rounds, 0)):
        if value < least:
            raise ParameterError(f"simulate_repair: {name} is at least {least}; got {value!r}")
    rng = np.random.default_rng(seed)
    valid = np.empty((n, rounds + 1), dtype=bool)
    valid[:, 0] = rng.random(n) < noise.valid
    for k in range(1, rounds + 1):
        before = valid[:, k - 1]
        stays_or_becomes = np.where(before, 1.0 - noise.beta_at(k), noise.alpha_at(k))
        valid[:, k] = rng.random(n) < stays_or_becomes
    accept = np.where(valid, 1.0 - noise.rho1, noise.rho0)
    return RepairRuns(
        noise, votes, rng.binomial(votes, _share(accept, noise.icc, rng)), valid, seed
    )


def _share(
    accept: npt.NDArray[np.float64], icc: float, rng: np.random.Generator
) -> npt.NDArray[np.float64]:
    """Draw each plan's own acceptance probability: Beta with mean ``accept`` and this ICC."""
    if icc == 0:
        return accept
    size = (1.0 - icc) / icc  # a + b of the Beta; its ICC is 1 / (a + b + 1)
    inside = (accept > 0) & (accept < 1)
    mean = np.where(inside, accept, 0.5)
    return np.where(inside, rng.beta(mean * size, (1.0 - mean) * size), accept)
