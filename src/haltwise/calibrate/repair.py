"""Calibration of verify-repair loops from end to end: loops in, a noise model and a rule out.

Knows the order of the steps and the shape of the result; each step has a file of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from ..core.errors import ParameterError
from ..record.policy_file import PolicyFile
from ..record.repair_table import UNKNOWN, RepairTable
from ..stats.estimate import Estimate
from .choose import AUTO, Choice, choose
from .fit import METHODS, NoiseFit, fit_noise
from .labels import LABELLED_MAX, first_plans_only, within_budget
from .sign import Sign, measure_sign

SCHEMA = "haltwise.calibration/1"
DRAWS = 400
"""Parameter sets drawn for P_flip: its own error is then below .01 near .05."""
ROUNDS = 5
"""Repairs for which the sign is measured."""


@dataclass(frozen=True)
class RepairCalibration:
    """A noise model with its intervals, how sure its decisions are, and the rule it supports."""

    fit: NoiseFit
    """The noise model and its estimates."""
    sign: Sign
    """Whether the sign of the gain is known."""
    choice: Choice
    """The rule, and why."""
    eta: float
    """Largest P_flip accepted."""
    loops: int
    """Loops calibrated on."""
    notes: tuple[str, ...]
    """What a reader must know."""

    @property
    def identified(self) -> bool:
        """Whether the sign of the gain is known at ``eta``."""
        return self.sign.identified(self.eta)

    @property
    def words(self) -> str:
        """The method in words."""
        return METHODS[self.fit.method]

    @property
    def estimates(self) -> dict[str, Estimate]:
        """The parameters by name, each with its interval."""
        fit = self.fit
        return {
            "rho0": fit.rho0,
            "rho1": fit.rho1,
            "alpha": fit.alpha.estimate,
            "beta": fit.beta.estimate,
            "valid": fit.valid,
            "icc": fit.overdispersion.estimate,
            "discrimination": fit.discrimination,
        }

    def to_json(self) -> dict[str, Any]:
        """Return the calibration as a JSON object (schema "haltwise.calibration/1")."""
        return {
            "schema": SCHEMA,
            **{name: estimate.to_json() for name, estimate in self.estimates.items()},
            "n_invalid": self.fit.n_invalid,
            "n_valid": self.fit.n_valid,
            "p_flip": self.sign.p_flip,
            "identified": self.identified,
            "decided": self.sign.decided,
            "policy": self.choice.policy,
            "why": self.choice.why,
            "notes": list(self.notes),
            "noise": self.fit.noise.to_json(),
            "method": self.fit.method,
            "gated": self.fit.gated,
            "loops": self.loops,
            "eta": self.eta,
        }

    def policy_file(self) -> PolicyFile:
        """Return what `write_policy_file` writes: the rule, the noise, the evidence."""
        evidence: dict[str, Any] = {
            "why": self.choice.why,
            "method": self.fit.method,
            "loops": self.loops,
            "n_invalid": self.fit.n_invalid,
            "n_valid": self.fit.n_valid,
            "p_flip": self.sign.p_flip,
            "identified": self.identified,
            "eta": self.eta,
            "notes": list(self.notes),
            "intervals": {
                name: [estimate.low, estimate.high]
                for name, estimate in self.estimates.items()
                if estimate.low == estimate.low
            },
        }
        if self.choice.discrimination is not None:
            evidence["discrimination"] = self.choice.discrimination
        if self.choice.fallback is not None:
            evidence["fallback"] = self.choice.fallback
        return PolicyFile("repair", self.choice.policy, {"noise": self.fit.noise}, evidence)


def calibrate_repair(
    table: RepairTable,
    *,
    labelled_max: int = LABELLED_MAX,
    eta: float = 0.05,
    policy: str = AUTO,
    method: str | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> RepairCalibration:
    """Fit the noise of recorded verify-repair loops and choose the rule it supports.

    Args:
        table: the loops.
        labelled_max: labelled transitions that may be used; the rest is hidden.
        eta: largest P_flip at which the sign of the gain counts as identified, in (0, 1).
        policy: the rule to write; ``auto`` has two exceptions, see `choose`.
        method: one of `haltwise.calibrate.fit.METHODS`; None takes the one that uses all there is.
        level: coverage of the intervals.
        seed: of the choice of labels and of the draws; equal seeds give equal results.

    Raises:
        InputError: the loops cannot be calibrated on; the message says what would do.
        ExpressionError: ``policy`` does not parse.
    """
    if not 0 < eta < 1:
        raise ParameterError(f"eta is a probability between 0 and 1; got {eta!r}")
    if labelled_max < 0:
        raise ParameterError(f"labelled_max is at least 0; got {labelled_max!r}")
    rng = np.random.default_rng(seed)
    # a gated loop without labels: where it ends is a label in disguise, and a wrong one to ignore
    disguised = table.gated & (table.length > 1) & (table.valid == UNKNOWN).all(axis=1)
    seen, hidden = within_budget(first_plans_only(table, disguised), labelled_max, rng)
    fit = fit_noise(seen, method=method, level=level)
    sign = _sign(fit, seen, eta, rng)
    choice = choose(policy, fit, sign, seen, eta=eta)
    return RepairCalibration(
        fit, sign, choice, eta, len(table), _notes(fit, hidden, labelled_max, int(disguised.sum()))
    )


def _sign(fit: NoiseFit, table: RepairTable, eta: float, rng: np.random.Generator) -> Sign:
    """Measure the sign; a rate of which nothing was observed is taken at its worst, 0 or 1.

    Its prior is no evidence: under Beta(1/2, 1/2) the sign can look known where it is not.
    """
    voted = table.votes[table.votes > 0]
    votes = int(np.median(voted)) if len(voted) else 0
    draws = fit.draws(DRAWS, ROUNDS, rng)
    alphas, betas = (
        [drawn] if rate.estimate.defined else [np.zeros_like(drawn), np.ones_like(drawn)]
        for rate, drawn in ((fit.alpha, draws.alpha), (fit.beta, draws.beta))
    )
    cases = [
        measure_sign(
            fit.noise, replace(draws, alpha=alpha, beta=beta), votes, rounds=ROUNDS, eta=eta
        )
        for alpha, beta in product(alphas, betas)
    ]
    return max(cases, key=lambda sign: sign.p_flip)


def _notes(fit: NoiseFit, hidden: int, labelled_max: int, disguised: int) -> tuple[str, ...]:
    notes = [rate.estimate.note for rate in (fit.alpha, fit.beta) if not rate.estimate.defined]
    if fit.gated:
        notes.append("record some loops past their first valid plan to learn beta")
    if not fit.overdispersion.identified:
        notes.append(f"icc {fit.overdispersion.estimate.note}")
    notes += fit.notes
    if disguised:
        notes.append(
            f"{disguised} loops are gated and carry no labels: only their initial plans are used"
        )
    if hidden:
        notes.append(
            f"{hidden} labelled transitions beyond {labelled_max} were not looked at; "
            "--labelled-max sets how many may be"
        )
    return tuple(notes)
