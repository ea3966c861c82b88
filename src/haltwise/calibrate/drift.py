"""Has the calibration expired? A CUSUM over loops on the likelihood of their votes; no labels.

Verifiers and models are changed behind one's back. The monitor compares the votes of each finished
loop with what the calibrated noise makes likely, and with what it would make likely after one of
ten changes (a more lenient verifier, a blunter one, easier tasks, ...). Standard library only, and
pure like a policy: state in, state out. METHODS section 2, "Drift".

Which rule to use after an alarm is the caller's; `haltwise.core.policies.VrrGuard` needs no
calibration::

    state, alarm = monitor.step(state, [(7, 8), (5, 8)])
    policy = calibrated if alarm is None else VrrGuard()
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import exp, log

from ..core.errors import ParameterError
from ..core.noise import NoiseModel
from ..core.observation import as_votes
from ..core.validity import Votes, log_odds, probability, vote_probability

State = tuple[int, int, tuple[float, ...]]
"""Loops seen; the loop of the alarm (0: none yet); log likelihood ratio of each change."""

CHANGES: dict[str, dict[str, int]] = {
    "the verifier accepts more": {"rho0": 1, "rho1": -1},
    "the verifier accepts less": {"rho0": -1, "rho1": 1},
    "the verifier tells less": {"rho0": 1, "rho1": 1},
    "the verifier tells more": {"rho0": -1, "rho1": -1},
    "more initial plans are valid": {"valid": 1},
    "fewer initial plans are valid": {"valid": -1},
    "repair mends more": {"alpha": 1},
    "repair mends less": {"alpha": -1},
    "repair breaks more": {"beta": 1},
    "repair breaks less": {"beta": -1},
}
"""What may have happened, and in which direction it moves which parameters."""

_EDGE = 1e-3


@dataclass(frozen=True)
class Alarm:
    """The calibration no longer describes the loops that come in."""

    loop: int
    """Number of the loop at which the alarm was raised, from 1."""
    looks_like: str
    """The change that explains the loops best, in words."""
    likelihood_ratio: float
    """How many times likelier that change makes the loops since it may have set in."""

    @property
    def reason(self) -> str:
        """One sentence for people."""
        return (
            f"at loop {self.loop} the votes no longer fit the calibration: {self.looks_like} "
            f"(likelihood ratio {self.likelihood_ratio:.3g}); calibrate again"
        )


@dataclass(frozen=True)
class DriftMonitor:
    """Watches the votes of successive loops for a change of verifier, repair or tasks.

    For each change a CUSUM ``W = max(W, 0) + log P(votes | change) - log P(votes | calibrated)``
    runs over loops; the alarm is raised when the mean of the ``exp(W)`` reaches ``loops``. As that
    mean is an e-detector (Shin, Ramdas & Rinaldo 2022), the guarantee holds exactly where the
    calibrated model is true, whatever the policy does: ``loops`` loops or more pass on average
    before a false alarm, and P(false alarm within n loops) <= n / ``loops``.
    """

    noise: NoiseModel
    """The calibrated noise."""
    loops: float = 1000.0
    """Loops that pass on average before a false alarm, at least; above 1."""
    shift: float = 1.0
    """Size of the changes watched for, in log odds; above 0. Larger ones are found sooner."""

    def __post_init__(self) -> None:
        if not self.loops > 1:
            raise ParameterError(f"drift: loops is above 1; got {self.loops!r}")
        if not self.shift > 0:
            raise ParameterError(f"drift: shift is above 0; got {self.shift!r}")

    def initial(self) -> State:
        """Return the state before any loop."""
        return (0, 0, (0.0,) * len(CHANGES))

    def step(self, state: State, history: Sequence[Votes]) -> tuple[State, Alarm | None]:
        """Take the votes of one finished loop; return the next state, and the alarm if any.

        Sticky: after an alarm every further call returns an alarm, until a new calibration brings a
        new monitor. Plain data: `haltwise.core.policy.state_to_json` stores the state.

        Args:
            state: what `initial` or the last step gave.
            history: (accepts, votes) of every plan of the loop by round, as far as it was run; a
                round without votes is (0, 0).

        Raises:
            ObservationError: a pair makes no sense; nothing is changed.
        """
        for accepts, votes in history:
            as_votes(accepts, votes)
        seen, alarmed, ratios = state
        seen += 1
        if not alarmed:
            calibrated = self._log_likelihood(0, history)
            ratios = tuple(
                max(ratio, 0.0) + self._log_likelihood(i, history) - calibrated
                for i, ratio in enumerate(ratios, start=1)
            )
            most = max(ratios)
            mean = most + log(sum(exp(ratio - most) for ratio in ratios) / len(ratios))
            if mean >= log(self.loops):
                alarmed = seen
        state = (seen, alarmed, ratios)
        return state, self.alarm(state)

    def alarm(self, state: State) -> Alarm | None:
        """Return the alarm that a state holds, None while there is none."""
        _, alarmed, ratios = state
        if not alarmed:
            return None
        most = max(ratios)
        return Alarm(alarmed, list(CHANGES)[ratios.index(most)], exp(min(most, 700.0)))

    def _log_likelihood(self, model: int, history: Sequence[Votes]) -> float:
        """Return log P(votes of a loop) under the calibrated model (0) or a change (1, ...)."""
        noise = self._models[model]
        belief, total = noise.valid, 0.0
        for k, pair in enumerate(history):
            if k:
                belief = (1.0 - noise.beta_at(k)) * belief + noise.alpha_at(k) * (1.0 - belief)
            likely = self._likelihoods.get((model, pair))
            if likely is None:
                likely = self._likelihoods[model, pair] = (
                    vote_probability(1.0 - noise.rho1, noise.icc, *pair),
                    vote_probability(noise.rho0, noise.icc, *pair),
                )
            valid = belief * likely[0]
            both = valid + (1.0 - belief) * likely[1]
            total += log(both)
            belief = valid / both
        return total

    @cached_property
    def _models(self) -> tuple[NoiseModel, ...]:
        """The calibrated model, then each change; inside (0, 1): no vote is impossible."""
        inside = _shifted(self.noise, dict.fromkeys(("rho0", "rho1", "valid", "alpha", "beta"), 0))
        return (inside, *(_shifted(inside, change, self.shift) for change in CHANGES.values()))

    @cached_property
    def _likelihoods(self) -> dict[tuple[int, Votes], tuple[float, float]]:
        return {}


def _shifted(noise: NoiseModel, change: dict[str, int], size: float = 0.0) -> NoiseModel:
    """Return the model with parameters moved in log odds, by round as well."""
    moved: dict[str, float | tuple[float, ...]] = {}
    for name, direction in change.items():
        moved[name] = _moved(getattr(noise, name), direction * size)
        by_round = getattr(noise, f"{name}_by_round", None)
        if by_round is not None:
            moved[f"{name}_by_round"] = tuple(_moved(p, direction * size) for p in by_round)
    return replace(noise, **moved)  # type: ignore[arg-type]


def _moved(p: float, shift: float) -> float:
    return probability(log_odds(min(max(p, _EDGE), 1.0 - _EDGE)) + shift)
