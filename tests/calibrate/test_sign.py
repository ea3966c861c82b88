"""P_flip: a straightforward walk over every vote history is the oracle."""

from __future__ import annotations

import tracemalloc
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from haltwise.calibrate import sign
from haltwise.calibrate.fit import NoiseDraws
from haltwise.calibrate.sign import measure_sign
from haltwise.core.noise import NoiseModel

NOISE = NoiseModel(0.35, 0.3, 0.2, 0.15, 0.6)


def draws(n: int, seed: int = 0, spread: float = 0.1, rounds: int = 3) -> NoiseDraws:
    """Draw parameters around those of the model."""
    rng = np.random.default_rng(seed)

    def around(value: float, shape: tuple[int, ...]) -> np.ndarray:
        return np.clip(value + spread * rng.normal(size=shape), 0.02, 0.98)

    return NoiseDraws(
        around(NOISE.rho0, (n,)),
        around(NOISE.rho1, (n,)),
        around(NOISE.valid, (n,)),
        around(NOISE.alpha, (n, rounds)),
        around(NOISE.beta, (n, rounds)),
    )


def walk(noise: NoiseModel, sets: NoiseDraws, votes: int, rounds: int, tau: float) -> float:
    """P_flip from its definition, one history and one draw at a time."""

    def belief_after(history: tuple[int, ...], *p: float) -> tuple[float, float]:
        """Belief in the newest plan and P(history), for rho0, rho1, pi and rates by repair."""
        rho0, rho1, b = p[:3]
        alpha, beta = p[3 : 3 + rounds], p[3 + rounds :]
        reach = 1.0
        for k, count in enumerate(history):
            if k:
                b = (1 - beta[k - 1]) * b + alpha[k - 1] * (1 - b)
            one, zero = binom.pmf(count, votes, 1 - rho1), binom.pmf(count, votes, rho0)
            both = b * one + (1 - b) * zero
            b, reach = b * one / both, reach * both
        return b, reach

    def repairs(history: tuple[int, ...], *p: float) -> bool:
        b, _ = belief_after(history, *p)
        k = len(history) - 1
        return (1 - b) * p[3 + k] - b * p[3 + rounds + k] > tau

    plug = (noise.rho0, noise.rho1, noise.valid, *[noise.alpha] * rounds, *[noise.beta] * rounds)
    total = flipped = 0.0
    for depth in range(1, rounds + 1):
        for history in product(range(votes + 1), repeat=depth):
            if not all(repairs(history[:k], *plug) for k in range(1, depth)):
                continue
            reach = belief_after(history, *plug)[1]
            decision = repairs(history, *plug)
            other = [
                repairs(history, r0, r1, pi, *a, *b) != decision
                for r0, r1, pi, a, b in zip(
                    sets.rho0, sets.rho1, sets.valid, sets.alpha, sets.beta, strict=True
                )
            ]
            total += reach
            flipped += reach * np.mean(other)
    return flipped / total


@pytest.mark.parametrize("tau", [0.0, 0.05])
def test_definition(tau: float) -> None:
    """P_flip is the reach-weighted share of draws that decide otherwise."""
    sets = draws(7)
    found = measure_sign(NOISE, sets, 2, rounds=3, tau=tau)
    assert found.exact
    assert found.p_flip == pytest.approx(walk(NOISE, sets, 2, 3, tau), abs=1e-12)


def test_certain_parameters_never_flip() -> None:
    """Draws that all equal the plug-in fit flip nothing, and the interval rule always acts."""
    certain = measure_sign(NOISE, draws(5, spread=0.0), 8, rounds=3)
    assert certain.p_flip == 0 and certain.identified(0.05)
    assert certain.decided == pytest.approx(1)


def test_wider_draws_flip_more() -> None:
    """P_flip grows, and the interval rule acts less, as the parameters get less certain."""
    found = [measure_sign(NOISE, draws(400, spread=s), 8, rounds=3) for s in (0.02, 0.05, 0.2)]
    flips = [sign.p_flip for sign in found]
    assert flips == sorted(flips) and flips[0] < 0.05 < flips[-1]
    acts = [sign.decided for sign in found]
    assert acts == sorted(acts, reverse=True)


def test_interval_rule_is_safe() -> None:
    """Where the interval rule acts, at most eta of the draws disagree: P_flip <= eta there.

    [VRR] Eq. 8: at a node with G - B > tau, P(G_draw <= tau) <= P(|G_draw - G| > B) <= eta.
    """
    found = measure_sign(NOISE, draws(400, spread=0.03), 8, rounds=1, eta=0.05)
    assert found.p_flip <= 0.05 * found.decided + (1 - found.decided)


def test_thinning_hardly_moves_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Following 1,000 of 6,561 histories a round changes P_flip by less than .002."""
    sets = draws(200, rounds=4)
    thinned = measure_sign(NOISE, sets, 8, rounds=4)
    monkeypatch.setattr(sign, "NODES", 10**9)
    exact = measure_sign(NOISE, sets, 8, rounds=4)
    assert exact.exact and not thinned.exact
    assert thinned.p_flip == pytest.approx(exact.p_flip, abs=0.002)
    assert thinned.decided == pytest.approx(exact.decided, abs=0.02)


def test_no_votes() -> None:
    """Without votes the belief moves by repair alone; the measure is still defined."""
    assert 0 <= measure_sign(NOISE, draws(50), 0, rounds=3).p_flip <= 1


def test_a_thousand_votes_fit_in_memory() -> None:
    """The draws follow the kept histories alone: 400 x 1,000 beliefs, not 400 x 1,000,000."""
    sets = draws(400)
    tracemalloc.start()
    try:
        measure_sign(NOISE, sets, 1_000, rounds=2)
        assert tracemalloc.get_traced_memory()[1] < 200e6
    finally:
        tracemalloc.stop()
