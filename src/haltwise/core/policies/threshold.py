"""The shape of the rules that commit once the belief in the newest plan is high enough."""

from __future__ import annotations

from functools import cached_property

from ..decision import Decision, Scalar
from ..errors import ParameterError
from ..noise import NoiseModel
from ..observation import RepairObservation
from ..policy import State
from ..validity import (
    best_plan,
    log_likelihood_ratio,
    log_odds,
    probability,
    repaired,
    updated,
)
from .checks import between, whole
from .repair import RepairPolicy


class ThresholdPolicy(RepairPolicy):
    """Commits when the posterior of the newest plan reaches the threshold of its round.

    State: plans seen, log odds of the newest, the largest number of votes seen in a round, and
    with `recall` the votes of every plan.
    """

    noise: NoiseModel
    """What the verifier and the repair are believed to do."""
    tau: float
    """Price of a repair in units of validity, at least 0."""
    recall: bool
    """Whether to deliver the plan with the largest smoothed posterior instead of the newest."""

    def __post_init__(self) -> None:
        check_noise(self.name, self.noise)
        between(self.name, "tau", self.tau, 0, 1)
        whole(self.name, "rounds", self.rounds, 0)

    def thresholds(self, votes: int) -> tuple[float, ...]:
        """Return by round, 0 to K, the belief in [0, 1] from which the rule commits; the last is 0.

        ``votes`` is the number of votes expected in later rounds.
        """
        raise NotImplementedError

    def initial(self) -> State:
        """Return no plans, the prior, no votes."""
        return (0, log_odds(self.noise.valid), 0, ())

    def advance(
        self, state: State, observation: RepairObservation
    ) -> tuple[State, Decision | None]:
        """Update the belief; commit when it reaches the threshold, or when no repair is left."""
        seen, odds, most, history = state
        pair = (observation[0], observation[1])
        if seen:
            odds = repaired(odds, self.noise.alpha_at(seen), self.noise.beta_at(seen))
        ratio = self._ratios.get(pair)
        if ratio is None:
            ratio = self._ratios[pair] = log_likelihood_ratio(self.noise, *pair)
        odds = updated(odds, ratio)
        if pair[1] > most:
            most = pair[1]
        limits = self._limits.get(most)
        if limits is None:
            limits = self._limits[most] = tuple([log_odds(b) for b in self.thresholds(most)])
        if self.recall:
            history = (*history, pair)
        state = (seen + 1, odds, most, history)
        if odds < limits[seen]:
            return state, None
        return state, self._commit(state, observation)

    @cached_property
    def _ratios(self) -> dict[tuple[int, int], float]:
        return {}  # one entry per (accepts, votes): a round costs two look-ups instead of logs

    @cached_property
    def _limits(self) -> dict[int, tuple[float, ...]]:
        return {}

    def choice(self, state: State) -> int:
        """Return the newest plan, or with recall the one with the largest smoothed posterior."""
        if isinstance(state, Decision) or not state[3]:
            return super().choice(state)
        return best_plan(self.noise, state[3])[0]

    def evidence(self, state: State, observation: RepairObservation) -> dict[str, Scalar]:
        """Return belief, threshold and gain of another repair, beside the votes."""
        seen, odds, most, _ = state
        belief = probability(odds)
        return {
            **super().evidence(state, observation),
            "belief": belief,
            "threshold": self.thresholds(most)[seen - 1],
            "gain": gain(self.noise, belief, seen),
            "price": self.tau,
        }

    def settled(self, state: State) -> State:
        """Return the number of plans seen: the belief may still move."""
        seen: int = state[0]
        return (seen,)

    def _commit(self, state: State, observation: RepairObservation) -> Decision:
        evidence = self.evidence(state, observation)
        candidate = newest = state[0] - 1
        if newest >= self.rounds:
            reason = self._no_repairs_left()
        else:
            reason = (
                f"belief {evidence['belief']:.3f} in plan {newest} has reached "
                f"{evidence['threshold']:.3f} (gain of another repair {evidence['gain']:+.3f}, "
                f"price {self.tau:g})"
            )
        if self.recall:
            candidate, odds = best_plan(self.noise, state[3])
            if candidate != newest:
                evidence["candidate_belief"] = probability(odds)
                reason += f"; plan {candidate} is the likeliest, {probability(odds):.3f}"
        return self.commit(reason, evidence, candidate)


def gain(noise: NoiseModel, belief: float, repair: int) -> float:
    """Return ``G = (1 - b) alpha - b beta``, what the ``repair``-th repair adds to validity."""
    return (1.0 - belief) * noise.alpha_at(repair) - belief * noise.beta_at(repair)


def myopic_threshold(noise: NoiseModel, tau: float, repair: int) -> float:
    """Return ``b* = (alpha - tau) / (alpha + beta)``, clipped to [0, 1].

    The belief from which the ``repair``-th repair (from 1) is not worth ``tau``. Where repair
    changes nothing (alpha + beta = 0) that is every belief: 0.
    """
    alpha, beta = noise.alpha_at(repair), noise.beta_at(repair)
    if alpha <= tau:
        return 0.0
    return (alpha - tau) / (alpha + beta) if alpha + beta > 0 else 0.0


def myopic_thresholds(noise: NoiseModel, tau: float, rounds: int) -> tuple[float, ...]:
    """Return `myopic_threshold` for rounds 0 to K - 1, and 0 for round K."""
    return (*[myopic_threshold(noise, tau, k) for k in range(1, rounds + 1)], 0.0)


def check_noise(rule: str, noise: object) -> None:
    """Require a `NoiseModel`."""
    if not isinstance(noise, NoiseModel):
        raise ParameterError(
            f"{rule}: noise is a noise model, as noise(rho0=.2, rho1=.1, alpha=.3, beta=.1, "
            f"valid=.6), or a policy file in quotes; got {noise!r}"
        )
