"""From recorded loops to a noise model with intervals: which data enter, and by which method.

Knows the four methods and when each can be used; ignorant of decisions (`sign`, `choose`).
METHODS section 2, "Calibration".
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import chdtri, expit, ndtri

from ..core.errors import InputError
from ..core.noise import NoiseModel
from ..record.repair_table import UNKNOWN, RepairTable
from ..stats.estimate import Estimate, undefined
from ..stats.likelihood import likelihood_ratio
from .chain import Chain, ChainFit, ChainModel
from .dynamics import BY_ROUND_LEVEL, Rate, count_transitions, estimate_rate, is_gated
from .em import logit
from .emission import Floats
from .overdispersion import Overdispersion, fit_overdispersion
from .plans import plan_rows, tally
from .resample import VoteResampling
from .uncertainty import covariance
from .votes import PRIOR, VoteCounts, fit_mixture, mixture_log_likelihood, require_three

METHODS = {
    "em": "EM on the votes of initial plans, labels unseen",
    "semi": "EM on the votes of initial plans, labelled plans clamped",
    "labels": "votes on labelled plans",
    "chain": "EM on whole loops, labels clamped",
}
"""Ways to fit the vote model. ``em`` is the published calibration: maximum likelihood."""

WEAK = 0.2
"""J below which votes without labels tell next to nothing at the usual sizes."""


@dataclass(frozen=True)
class NoiseDraws:
    """Parameter sets that the data leave possible; arrays of one length."""

    rho0: Floats
    """P(a vote accepts | invalid), shape (draws,)."""
    rho1: Floats
    """P(a vote rejects | valid), shape (draws,)."""
    valid: Floats
    """pi, shape (draws,)."""
    alpha: Floats
    """alpha by repair, shape (draws, repairs)."""
    beta: Floats
    """beta by repair, shape (draws, repairs)."""


@dataclass(frozen=True)
class VoteFit:
    """The vote model and pi, as logits with their covariance."""

    theta: Floats
    """Logits of rho0, 1 - rho1, pi, shape (3,)."""
    spread: Floats
    """Their covariance, robust to loops of one cluster depending on each other, shape (3, 3)."""
    plans: int
    """Voted plans that entered."""
    initial: int
    """Initial plans that entered."""
    notes: tuple[str, ...]
    """What went wrong, or must be known."""
    resampling: VoteResampling | None = None
    """Source of draws where there are no labels; None: normal, with the covariance."""

    def draws(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw ``n`` sets of logits that the data leave possible, shape (n, 3)."""
        if self.resampling is not None:
            return self.resampling.draws(n, rng)
        return rng.multivariate_normal(self.theta, self.spread, n, method="eigh")


@dataclass(frozen=True)
class NoiseFit:
    """A fitted noise model with what is known of its errors."""

    noise: NoiseModel
    """The point to decide with; prior means where something is not identified."""
    rho0: Estimate
    """P(a vote accepts | invalid)."""
    rho1: Estimate
    """P(a vote rejects | valid)."""
    valid: Estimate
    """pi, P(the initial plan is valid)."""
    discrimination: Estimate
    """J = 1 - rho0 - rho1."""
    overdispersion: Overdispersion
    """Correlation of votes on one plan."""
    alpha: Rate
    """P(valid after a repair | invalid before)."""
    beta: Rate
    """P(invalid after a repair | valid before)."""
    n_invalid: int
    """Labelled transitions from invalid plans."""
    n_valid: int
    """Labelled transitions from valid plans."""
    gated: bool
    """Whether the loops end when right."""
    method: str
    """The method used, one of `METHODS`."""
    votes: VoteFit
    """The vote model and pi as logits."""
    notes: tuple[str, ...]
    """What a reader must know."""

    def draws(self, n: int, repairs: int, rng: np.random.Generator) -> NoiseDraws:
        """Draw ``n`` parameter sets: votes and pi as `VoteFit.draws`, alpha and beta as `Rate`.

        Args:
            n: number of draws.
            repairs: repairs for which alpha and beta are wanted.
            rng: source of randomness.
        """
        low, high, pi = expit(self.votes.draws(n, rng)).T
        alpha, beta = self.alpha.draws(n, repairs, rng), self.beta.draws(n, repairs, rng)
        return NoiseDraws(low, 1.0 - high, pi, alpha, beta)


def fit_noise(table: RepairTable, *, method: str | None = None, level: float = 0.95) -> NoiseFit:
    """Fit the noise model to recorded loops.

    Args:
        table: the loops, with the labels that may be used.
        method: one of `METHODS`; None chooses: ``labels`` where every voted plan is labelled,
            ``chain`` where loops have several rounds, ``semi`` with labels, ``em`` without.
        level: coverage of the intervals.

    Raises:
        InputError: there are no loops, or the method cannot work on them (label-free with fewer
            than three votes a plan, ``labels`` without labels); says what would do.
    """
    if len(table) == 0:
        raise InputError("no repair loops to calibrate on")
    chosen = method or default_method(table)
    if chosen not in METHODS:
        raise InputError(f"method is one of {', '.join(METHODS)}; got {chosen!r}")
    labelled = bool((table.valid != UNKNOWN).any())
    if chosen in ("labels", "semi") and not labelled:
        raise InputError(f"method {chosen} needs labels and the loops have none; use method em")
    if chosen == "em" or not labelled:
        require_three(int(table.votes.max(initial=0)))
    gated = is_gated(table)
    from_invalid, from_valid = count_transitions(table)
    alpha = estimate_rate("alpha", from_invalid, level=level)
    beta = estimate_rate("beta", from_valid, gated=gated, level=level)
    counts = tally(table, labels=chosen != "em")
    overdispersion = fit_overdispersion(counts, level=level)
    icc = overdispersion.icc
    if chosen == "chain":
        if from_invalid.n + from_valid.n == 0:
            votes, alpha, beta = _chain_without_transitions(table, counts, icc, level)
        else:
            votes = _chain(table, counts, icc, alpha, beta)
    else:
        votes = _mixture(table, counts, chosen, icc)
    rho0, rho1, valid, j = _estimates(votes, counts, chosen, level)
    if not overdispersion.identified and chosen != "labels" and j.defined:
        j = j.noted("holds only if votes on one plan are independent")
    if not (counts.invalid.any() or counts.valid.any()) and _one_component(counts, votes):
        rho0, rho1, valid, j = (
            replace(e, low=math.nan, high=math.nan).noted("not identified without labels")
            for e in (rho0, rho1, valid, j)
        )
    if len(np.unique(table.cluster)) == 1:  # spread between clusters is all that is known of errors
        rho0, rho1, valid, j = (
            replace(e, low=math.nan, high=math.nan).noted("no interval: all loops are of one task")
            for e in (rho0, rho1, valid, j)
        )
    low, high, pi = (float(p) for p in expit(votes.theta))
    noise = NoiseModel(
        low, 1.0 - high, alpha.mean, beta.mean, pi, icc, alpha.by_round, beta.by_round
    )
    return NoiseFit(
        noise,
        rho0,
        rho1,
        valid,
        j,
        overdispersion,
        alpha,
        beta,
        from_invalid.n,
        from_valid.n,
        gated,
        chosen,
        votes,
        (*votes.notes, *_about_votes(j)),
    )


def default_method(table: RepairTable) -> str:
    """Return the method that uses all that the record holds."""
    labelled = table.valid != UNKNOWN
    if labelled.any() and labelled[table.votes > 0].all():
        return "labels"
    if (table.votes[:, 1:] > 0).any():
        return "chain"
    return "semi" if labelled.any() else "em"


def _mixture(table: RepairTable, counts: VoteCounts, method: str, icc: float) -> VoteFit:
    prior = 0.0 if method == "em" else PRIOR
    if method == "labels":
        counts = counts.labelled
    fit = fit_mixture(counts, icc=icc, prior=prior)
    plans, initial = plan_rows(table, labels=method != "em", unlabelled=method != "labels")
    theta = np.array([*_logits(fit.rho0[0], fit.rho1[0], fit.valid[0]), 0.0, 0.0])
    model = ChainModel(icc=icc, free=(True, True, False))
    spread = covariance(Chain(plans, prior, initial), model, theta)
    votes = _vote_fit(theta, spread, plans, int(initial.sum()), bool(fit.converged[0]))
    if method == "em":
        votes = replace(votes, resampling=VoteResampling.of(table, icc))
    return votes


def _chain(table: RepairTable, counts: VoteCounts, icc: float, alpha: Rate, beta: Rate) -> VoteFit:
    """Fit votes and pi on whole loops, alpha and beta held at what labelled transitions say.

    Estimating them jointly gives the same decisions on real loops, and rests them on the votes.
    """
    chain = Chain(table)
    model = ChainModel(
        1 if alpha.by_round is None else chain.repairs,
        1 if beta.by_round is None else chain.repairs,
        icc,
        (True, True, False),
    )
    rates = [*(alpha.by_round or [alpha.mean]), *(beta.by_round or [beta.mean])]
    start = np.concatenate([_three(counts, icc), np.tile(logit(rates), (3, 1))], axis=1)
    fit = chain.fit(model, start)
    return _chain_votes(chain, fit)


def _chain_without_transitions(
    table: RepairTable, counts: VoteCounts, icc: float, level: float
) -> tuple[VoteFit, Rate, Rate]:
    """Fit everything on whole loops; alpha or beta by round where the likelihood ratio says so."""
    chain = Chain(table)
    rates = np.array([[0.3, 0.1], [0.1, 0.3], [0.2, 0.2]])
    start = np.concatenate([_three(counts, icc), logit(rates)], axis=1)
    fit = chain.fit(ChainModel(icc=icc), start)
    by_alpha, by_beta = (_differs(chain, fit, icc, which) for which in ("alphas", "betas"))
    if by_alpha or by_beta:
        fit = chain.fit(
            _by_round(chain, icc, by_alpha, by_beta), _expanded(chain, fit, by_alpha, by_beta)
        )
    spread = covariance(chain, fit.model, fit.theta)
    alphas = slice(3, 3 + fit.model.alphas)
    betas = slice(3 + fit.model.alphas, None)
    return (
        _chain_votes(chain, fit),
        _rate(fit.theta[alphas], spread[alphas, alphas], len(table), level),
        _rate(fit.theta[betas], spread[betas, betas], len(table), level),
    )


def _differs(chain: Chain, pooled: ChainFit, icc: float, which: str) -> bool:
    if chain.repairs < 2:
        return False
    by = (which == "alphas", which == "betas")
    split = chain.fit(_by_round(chain, icc, *by), _expanded(chain, pooled, *by))
    test = likelihood_ratio(pooled.log_likelihood, split.log_likelihood, chain.repairs - 1)
    return test.p < BY_ROUND_LEVEL


def _by_round(chain: Chain, icc: float, alpha: bool, beta: bool) -> ChainModel:
    return ChainModel(chain.repairs if alpha else 1, chain.repairs if beta else 1, icc)


def _expanded(chain: Chain, pooled: ChainFit, alpha: bool, beta: bool) -> Floats:
    votes, a, b = pooled.theta[:3], pooled.theta[3:4], pooled.theta[4:5]
    repairs = chain.repairs
    return np.concatenate(
        [votes, a.repeat(repairs if alpha else 1), b.repeat(repairs if beta else 1)]
    )[None]


def _rate(theta: Floats, spread: Floats, loops: int, level: float) -> Rate:
    """Return a rate that the chain estimated, with a Beta of the same mean and variance."""
    weight = np.full(len(theta), 1.0 / len(theta))
    centre, deviation = float(weight @ theta), math.sqrt(float(weight @ spread @ weight))
    z = float(ndtri(0.5 + level / 2))
    mean = float(expit(centre))
    variance = (mean * (1 - mean) * deviation) ** 2
    size = max(mean * (1 - mean) / variance - 1.0, 1.0) if variance > 0 else 1e9
    estimate = Estimate(
        mean,
        float(expit(centre - z * deviation)),
        float(expit(centre + z * deviation)),
        level,
        loops,
        METHODS["chain"],
        "no labelled transitions: it rests on the votes",
    )
    by_round = tuple(expit(theta).tolist()) if len(theta) > 1 else None
    return Rate(estimate, mean, by_round, (mean * size, (1 - mean) * size))


def _three(counts: VoteCounts, icc: float) -> Floats:
    """Return three starts for the votes: the mixture of initial plans, and two beside it."""
    fit = fit_mixture(counts, icc=icc)
    low, high, pi = _logits(fit.rho0[0], fit.rho1[0], fit.valid[0])
    return np.array([[low, high, pi], [low - 0.5, high + 0.5, pi], [low, high, -pi]])


def _chain_votes(chain: Chain, fit: ChainFit) -> VoteFit:
    spread = covariance(chain, fit.model, fit.theta)
    return _vote_fit(fit.theta, spread, chain.table, len(chain.table), fit.converged)


def _vote_fit(
    theta: Floats, spread: Floats, plans: RepairTable, initial: int, converged: bool
) -> VoteFit:
    notes = () if converged else ("EM did not come to rest: the likelihood is nearly flat",)
    return VoteFit(theta[:3], spread[:3, :3], int((plans.votes > 0).sum()), initial, notes)


def _logits(rho0: float, rho1: float, valid: float) -> tuple[float, float, float]:
    return float(logit(rho0)), float(logit(1.0 - rho1)), float(logit(valid))


def _estimates(
    votes: VoteFit, counts: VoteCounts, method: str, level: float
) -> tuple[Estimate, Estimate, Estimate, Estimate]:
    """Return rho0, rho1, pi and J, undefined where nothing tells of them."""
    z = float(ndtri(0.5 + level / 2))
    half = z * np.sqrt(np.diag(votes.spread))
    value, low, high = (expit(votes.theta + shift).tolist() for shift in (0.0, -half, half))
    words = METHODS[method]

    def estimate(v: float, lo: float, hi: float, n: int) -> Estimate:
        return Estimate(v, lo, hi, level, n, words)

    rho0 = estimate(value[0], low[0], high[0], votes.plans)
    rho1 = estimate(1 - value[1], 1 - high[1], 1 - low[1], votes.plans)
    valid = estimate(value[2], low[2], high[2], votes.initial)
    slope = np.array([-value[0] * (1 - value[0]), value[1] * (1 - value[1])])
    deviation = z * math.sqrt(float(slope @ votes.spread[:2, :2] @ slope))
    j = value[1] - value[0]
    discrimination = estimate(j, max(-1.0, j - deviation), min(1.0, j + deviation), votes.plans)

    def nothing(note: str) -> Estimate:
        return undefined(note, method=words, level=level)

    if votes.plans == 0:
        none = nothing("not identified: no votes were recorded")
        rho0 = rho1 = discrimination = none
    elif method == "labels":
        missing = [
            kind
            for kind, tallied in (("invalid", counts.invalid), ("valid", counts.valid))
            if not (tallied * (counts.votes > 0)).any()
        ]
        for kind in missing:
            none = nothing(f"not identified: no labelled plan with votes is {kind}")
            rho0, rho1 = (none, rho1) if kind == "invalid" else (rho0, none)
            discrimination = none
    if votes.initial == 0:
        valid = nothing("not identified: no initial plan has votes or a label")
    return rho0, rho1, valid, discrimination


def _about_votes(j: Estimate) -> list[str]:
    """Say where the votes tell nothing, and where they cannot be trusted without labels."""
    if not j.defined:
        return [f"discrimination {j.note}; the rule acts on valid, alpha and beta alone"]
    if math.isnan(j.low):
        return [
            "votes carry no information that shows without labels: one binomial explains them as "
            "well as a mixture of two; label some plans"
        ]
    if j.low <= 0:
        return [
            f"votes carry no information: J = {j.value:.2f} [{j.low:.2f}, {j.high:.2f}]; "
            "the rule acts on valid, alpha and beta alone"
        ]
    if j.method == METHODS["em"] and j.value < WEAK:
        return [f"J = {j.value:.2f}: below {WEAK} votes cannot be calibrated on without labels"]
    return []


def _one_component(counts: VoteCounts, votes: VoteFit) -> bool:
    """Whether a mixture of two is not significantly better than a single binomial."""
    low, high, pi = (np.array([p]) for p in expit(votes.theta))
    plans = counts.unknown[0]
    accepted = float(plans @ counts.accepts) / max(float(plans @ counts.votes), 1.0)
    single = np.clip(np.array([accepted]), 1e-9, 1 - 1e-9)
    two = mixture_log_likelihood(counts, low, 1 - high, pi)
    one = mixture_log_likelihood(counts, single, 1 - single, np.array([0.5]))
    return bool(2 * (two - one)[0] < chdtri(2, 0.05))
