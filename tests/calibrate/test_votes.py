"""Vote noise from single plans: Fisher information and direct maximisation are the oracles."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import betabinom, binom

from haltwise.calibrate.votes import VoteCounts, fit_mixture, mixture_log_likelihood
from haltwise.core.errors import InputError


def draw(
    rho0: float,
    rho1: float,
    pi: float,
    *,
    seeds: int,
    plans: int = 300,
    votes: int = 8,
    seed: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Return accepts and truths of independent samples, shape (seeds, plans)."""
    rng = np.random.default_rng(seed)
    valid = rng.random((seeds, plans)) < pi
    return rng.binomial(votes, np.where(valid, 1 - rho1, rho0)), valid.astype(np.int8)


def fisher_errors(rho0: float, rho1: float, pi: float, plans: int, votes: int) -> np.ndarray:
    """Standard errors of (rho0, rho1, pi) from the Fisher information of the mixture.

    One plan's information is the sum over counts of p'(S) p'(S)^T / p(S); derivatives by central
    differences of the pmf, so that nothing of the package enters.
    """
    counts = np.arange(votes + 1)

    def pmf(r0: float, r1: float, p: float) -> np.ndarray:
        return (1 - p) * binom.pmf(counts, votes, r0) + p * binom.pmf(counts, votes, 1 - r1)

    at, h = np.array([rho0, rho1, pi]), 1e-6
    slopes = np.stack([(pmf(*(at + h * e)) - pmf(*(at - h * e))) / (2 * h) for e in np.eye(3)])
    information = plans * (slopes / pmf(*at)) @ slopes.T
    return np.sqrt(np.diag(np.linalg.inv(information)))


@pytest.mark.parametrize(
    ("j", "expected"),
    [(0.1, (0.34, 0.15)), (0.2, (0.095, 0.046)), (0.3, (0.049, 0.025)), (0.5, (0.023, 0.014))],
)
def test_fisher_errors_of_the_methods(j: float, expected: tuple[float, float]) -> None:
    """The oracle itself gives the standard errors that METHODS lists (N = 300, M = 8, pi = .7)."""
    rho = (1 - j) / 2
    errors = fisher_errors(rho, rho, 0.7, 300, 8)
    np.testing.assert_allclose(errors[:2], expected, rtol=0.05)


@pytest.mark.parametrize("rhos", [(0.35, 0.35), (0.3, 0.2), (0.2, 0.3), (0.1, 0.5), (0.1, 0.1)])
def test_label_free_em_is_as_good_as_fisher_allows(rhos: tuple[float, float]) -> None:
    """At J >= .3 all three parameters are within 3 Fisher s.e. in at least 90 of 100 seeds."""
    accepts, _ = draw(*rhos, 0.7, seeds=100)
    fit = fit_mixture(VoteCounts.of_first_plans(accepts, 8), prior=0)
    found = np.stack([fit.rho0, fit.rho1, fit.valid], axis=1)
    errors = fisher_errors(*rhos, 0.7, 300, 8)
    within = (np.abs(found - [*rhos, 0.7]) < 3 * errors).all(axis=1)
    assert fit.converged.all()
    assert within.sum() >= 90


@pytest.mark.parametrize("j", [0.03, 0.1])
@pytest.mark.parametrize("prior", [0.0, 0.5])
def test_sixty_labels_beat_none_where_votes_say_little(j: float, prior: float) -> None:
    """At J = .03 and .1 sixty labels lower the error of rho0 and of rho1, over 200 seeds."""
    rho = (1 - j) / 2
    accepts, valid = draw(rho, rho, 0.7, seeds=200)
    labels = np.full_like(valid, -1)
    labels[:, :60] = valid[:, :60]

    def error(counts: VoteCounts) -> np.ndarray:
        fit = fit_mixture(counts, prior=prior)
        off = np.stack([fit.rho0, fit.rho1]) - rho
        return np.sqrt((off**2).mean(axis=1))

    without = error(VoteCounts.of_first_plans(accepts, 8))
    with_labels = error(VoteCounts.of_first_plans(accepts, 8, labels))
    assert (with_labels < without).all()


def test_em_finds_the_maximum() -> None:
    """A general optimiser started at the truth finds the same maximum (ICC and labels included)."""
    for icc in (0.0, 0.2):
        rng = np.random.default_rng(5)
        valid = rng.random((1, 200)) < 0.6
        size = (1 - icc) / max(icc, 1e-9)
        mean = np.where(valid, 0.75, 0.3)
        share = rng.beta(mean * size, (1 - mean) * size) if icc else mean
        labels = np.where(np.arange(200) < 40, valid, -1).astype(np.int8)
        counts = VoteCounts.of_first_plans(rng.binomial(6, share), 6, labels)

        def loss(theta: np.ndarray, counts: VoteCounts = counts, icc: float = icc) -> float:
            low, high, pi = (np.array([p]) for p in expit(theta))
            return -float(mixture_log_likelihood(counts, low, 1 - high, pi, icc)[0])

        best = minimize(loss, [-0.8, 1.1, 0.4], method="BFGS", options={"gtol": 1e-8})
        fit = fit_mixture(counts, icc=icc, prior=0)
        np.testing.assert_allclose(
            [fit.rho0[0], 1 - fit.rho1[0], fit.valid[0]], expit(best.x), atol=2e-4
        )


def test_likelihood_is_that_of_scipy() -> None:
    """The reported log likelihood is the sum of SciPy's log probabilities of the counts."""
    accepts = np.array([[0, 3, 6, 6]])
    counts = VoteCounts.of_first_plans(accepts, 6, np.array([[-1, 0, 1, -1]], np.int8))
    a, b, c, d = 0.3 * 4, 0.7 * 4, 0.8 * 4, 0.2 * 4  # icc .2: a + b = 4
    zero = betabinom.pmf(accepts[0], 6, a, b)
    one = betabinom.pmf(accepts[0], 6, c, d)
    expected = (
        np.log(0.4 * zero[0] + 0.6 * one[0])
        + np.log(0.4 * zero[1])
        + np.log(0.6 * one[2])
        + np.log(0.4 * zero[3] + 0.6 * one[3])
    )
    ours = mixture_log_likelihood(counts, *(np.array([p]) for p in (0.3, 0.2, 0.6)), 0.2)
    np.testing.assert_allclose(ours, [expected], rtol=1e-9)


def test_labels_alone_are_frequencies() -> None:
    """With every plan labelled the fit is the share of accepts by class, and of valid plans."""
    accepts = np.array([[1, 2, 6, 7, 8]])
    valid = np.array([[0, 0, 1, 1, 1]], np.int8)
    fit = fit_mixture(VoteCounts.of_first_plans(accepts, 8, valid), prior=0)
    assert fit.rho0[0] == pytest.approx(3 / 16)
    assert fit.rho1[0] == pytest.approx(3 / 24)
    assert fit.valid[0] == pytest.approx(3 / 5)


def test_labels_overrule_the_order() -> None:
    """Without labels J is positive; labels can show a verifier worse than none."""
    accepts, valid = draw(0.7, 0.6, 0.5, seeds=1)
    without = fit_mixture(VoteCounts.of_first_plans(accepts, 8))
    with_labels = fit_mixture(VoteCounts.of_first_plans(accepts, 8, valid))
    assert 1 - without.rho0[0] - without.rho1[0] > 0
    assert 1 - with_labels.rho0[0] - with_labels.rho1[0] == pytest.approx(-0.3, abs=0.05)


@pytest.mark.parametrize(("votes", "words"), [(1, "one vote"), (2, "two votes"), (0, "no votes")])
def test_label_free_needs_three_votes(votes: int, words: str) -> None:
    """Fewer than three votes a plan cannot be calibrated without labels; with labels they can."""
    accepts = np.zeros((1, 10), dtype=np.int64)
    with pytest.raises(InputError, match=f"{words}.*needs at least 3; give labels"):
        fit_mixture(VoteCounts.of_first_plans(accepts, votes))
    labels = np.array([[0, 1] * 5], np.int8)
    assert fit_mixture(VoteCounts.of_first_plans(accepts, votes, labels)).converged.all()


def test_replicates_do_not_touch_each_other() -> None:
    """A replicate fitted among others gets the fit that it gets alone."""
    accepts, _ = draw(0.3, 0.2, 0.6, seeds=5)
    together = fit_mixture(VoteCounts.of_first_plans(accepts, 8))
    for i in range(5):
        alone = fit_mixture(VoteCounts.of_first_plans(accepts[i : i + 1], 8))
        assert together.rho0[i] == pytest.approx(alone.rho0[0], abs=1e-5)
        assert together.valid[i] == pytest.approx(alone.valid[0], abs=1e-4)
