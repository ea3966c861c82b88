"""Planning of calibration: information against METHODS, directions, and a simulation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from haltwise import NoiseModel
from haltwise.core.validity import log_likelihood_ratio, log_odds, probability, updated
from haltwise.replay.exact_planning import (
    FITTED,
    decisions,
    labelled_covariance,
    plan_labels,
    sign_map,
    vote_information,
)

NOISE = NoiseModel(0.3, 0.2, 0.25, 0.1, 0.6)


@pytest.mark.parametrize(
    ("j", "rho0", "rho1"),
    [(0.1, 0.34, 0.15), (0.2, 0.095, 0.046), (0.3, 0.049, 0.025), (0.5, 0.023, 0.014)],
)
def test_information_in_unlabelled_votes(j: float, rho0: float, rho1: float) -> None:
    """METHODS section 2, "Calibration": Fisher standard errors at N = 300, M = 8, pi = .7."""
    rate = (1 - j) / 2
    information = vote_information(NoiseModel(rate, rate, 0.2, 0.1, 0.7), 8, 300)
    errors = np.sqrt(np.diag(np.linalg.inv(information)))
    assert errors[:2] == pytest.approx([rho0, rho1], rel=0.04)


def test_labels_are_worth_the_same_at_any_discrimination() -> None:
    """300 labelled plans at pi = .7: (.02, .012) whatever J is (METHODS)."""
    for j in (0.03, 0.1, 0.5):
        rate = (1 - j) / 2
        noise = NoiseModel(rate, rate, 0.3, 0.3 * 0.3 / 0.7, 0.7)  # share of valid plans stays .7
        covariance = labelled_covariance(noise, 8, 5, 300)
        assert np.sqrt(np.diag(covariance))[:2] == pytest.approx([0.018, 0.012], abs=0.003)


def test_decisions_of_the_first_round_by_hand() -> None:
    """One vote, one repair: two decisions, their gains and their derivatives."""
    found = decisions(NOISE, 1, 1, 0.0)
    reach = {0: 0.4 * 0.7 + 0.6 * 0.2, 1: 0.4 * 0.3 + 0.6 * 0.8}
    assert found.reach == pytest.approx([reach[0], reach[1]])

    def gain(noise: NoiseModel, accepts: int) -> float:
        odds = updated(log_odds(noise.valid), log_likelihood_ratio(noise, accepts, 1))
        b = probability(odds)
        return (1 - b) * noise.alpha - b * noise.beta

    for accepts in (0, 1):
        assert found.margin[accepts] == pytest.approx(abs(gain(NOISE, accepts)))
        for i, name in enumerate(FITTED):
            moved = replace(NOISE, **{name: getattr(NOISE, name) + 1e-6})
            slope = (gain(moved, accepts) - gain(NOISE, accepts)) / 1e-6
            assert found.slope[accepts, i] == pytest.approx(slope, abs=1e-4)


def test_more_labels_make_the_sign_surer() -> None:
    """P(wrong sign) falls with the number of labels, and a stricter eta asks for more of them."""
    loose = plan_labels(NOISE, votes=8, rounds=5, tau=0.0, eta=0.05)
    strict = plan_labels(NOISE, votes=8, rounds=5, tau=0.0, eta=0.01)
    chances = list(loose.p_flip.values())
    assert chances == sorted(chances, reverse=True)
    assert loose.labelled is not None and strict.labelled is not None
    assert 1 < loose.labelled < strict.labelled


def test_the_plan_against_a_simulation_of_calibrations() -> None:
    """300 labelled calibrations drawn at the planned size: wrong signs near the planned share."""
    noise, votes, eta = NoiseModel(0.35, 0.35, 0.2, 0.3, 0.6), 4, 0.05
    plan = plan_labels(noise, votes=votes, rounds=1, tau=0.0, eta=eta)
    assert plan.labelled is not None
    rng = np.random.default_rng(3)
    reached = decisions(noise, votes, 1, 0.0)
    counts = np.arange(votes + 1)
    wrong = []
    for _ in range(300):
        n1 = rng.binomial(plan.labelled, noise.valid)
        n0 = plan.labelled - n1

        def beta(n: int, rate: float) -> float:
            return (rng.binomial(n, rate) + 0.5) / (n + 1)

        rho0, rho1 = beta(n0 * votes, noise.rho0), beta(n1 * votes, noise.rho1)
        alpha, beta_ = beta(n0, noise.alpha), beta(n1, noise.beta)
        odds = np.log(n1 / n0) + counts * np.log((1 - rho1) / rho0)
        odds += (votes - counts) * np.log(rho1 / (1 - rho0))
        b = 1 / (1 + np.exp(-odds))
        true_gain = decisions_gain(noise, votes)
        wrong.append(((1 - b) * alpha - b * beta_ > 0) != (true_gain > 0))
    share = float((np.mean(wrong, axis=0) * reached.reach).sum())
    assert share == pytest.approx(eta, abs=0.02)


def decisions_gain(noise: NoiseModel, votes: int) -> np.ndarray:
    """Return the true gain after each vote count on the initial plan."""
    gains = []
    for accepts in range(votes + 1):
        ratio = log_likelihood_ratio(noise, accepts, votes)
        b = probability(updated(log_odds(noise.valid), ratio))
        gains.append((1 - b) * noise.alpha - b * noise.beta)
    return np.array(gains)


def test_a_gain_that_equals_the_price_has_no_sign() -> None:
    """Where votes say nothing and G = tau no number of labels decides: None with a note."""
    noise = NoiseModel(0.5, 0.5, 0.2, 0.2, 0.5)
    plan = plan_labels(noise, votes=8, rounds=1, tau=0.0, eta=0.05)
    assert plan.labelled is None
    assert "too close to the price" in plan.note


def test_the_map_shows_where_signs_are_lost() -> None:
    """Without labels a weak verifier loses signs at small margins; a strong one or a wide margin
    hardly any ([VRR] reports .183 against .014).
    """
    found = sign_map(NOISE, votes=8, rounds=5, tau=0.0, plans=300)
    assert found.weak is not None and found.strong is not None
    assert found.weak > 0.15
    assert found.strong < 0.03
    assert any(p is None for row in found.wrong for p in row)
    assert all(p is None or 0 <= p <= 0.5 for row in found.wrong for p in row)
    finer = sign_map(NOISE, votes=8, rounds=5, tau=0.0, plans=3000)
    assert finer.weak is not None and finer.weak < found.weak


def test_no_repairs_no_decisions() -> None:
    """A loop without repairs decides nothing, so no sign can be wrong."""
    assert len(decisions(NOISE, 8, 0, 0.0).reach) == 0
    assert plan_labels(NOISE, votes=8, rounds=0, tau=0.0, eta=0.05).labelled == 1
